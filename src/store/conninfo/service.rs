//! Service files: groups of keys, which `service=NAME` or `PGSERVICE` names.

use super::{AddressError, Surroundings};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Directories of the system's service file without `PGSYSCONFDIR`: Debian, Fedora, a build from source.
const SYSTEM_DIRECTORIES: [&str; 3] = ["/etc/postgresql-common", "/etc/sysconfig/pgsql", "/usr/local/pgsql/etc"];
/// libpq's limit for a line, in bytes.
const LONGEST_LINE: usize = 1021;

pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) line: usize,
}

/// The keys of a service and the file they come from. As libpq, searches `PGSERVICEFILE`, else `~/.pg_service.conf`;
/// then `pg_service.conf` in `PGSYSCONFDIR`.
pub(super) fn find(name: &str, surroundings: &Surroundings) -> Result<(PathBuf, Vec<Entry>), AddressError> {
    let mut looked = Vec::new();
    let named = surroundings.get("PGSERVICEFILE").map(PathBuf::from);
    let own = named.clone().or_else(|| surroundings.home.as_ref().map(|home| home.join(".pg_service.conf")));
    let directories = match surroundings.get("PGSYSCONFDIR") {
        Some(directory) => vec![directory],
        None => SYSTEM_DIRECTORIES.to_vec(),
    };
    let system = directories.into_iter().map(|directory| Path::new(directory).join("pg_service.conf"));
    for file in own.into_iter().chain(system) {
        if !file.exists() && named.as_ref() != Some(&file) {
            continue;
        }
        let bytes = read_plain(&file).map_err(|error| {
            AddressError::in_a_file(format!("service file {} cannot be read: {error}", file.display()))
        })?;
        match group(name, &String::from_utf8_lossy(&bytes)) {
            Ok(Some(entries)) => return Ok((file, entries)),
            Ok(None) => looked.push(file.display().to_string()),
            Err((line, why)) => {
                return Err(AddressError::in_a_file(format!("service file {}, line {line}: {why}", file.display())));
            }
        }
    }
    let looked = match looked.as_slice() {
        [] => "there is no service file: neither PGSERVICEFILE, ~/.pg_service.conf nor PGSYSCONFDIR leads to one"
            .to_owned(),
        files => format!("looked in {}", files.join(", ")),
    };
    Err(AddressError::in_a_file(format!("there is no service `{name}`: {looked}")))
}

/// The bytes of a file. A pipe could keep the reader for ever, and a device has no end.
pub(in crate::store) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    match fs::metadata(path)?.is_file() {
        true => fs::read(path),
        false => Err(io::Error::other("it is not a plain file")),
    }
}

/// The entries of the first group of this name; `None` if the text has none.
fn group(name: &str, text: &str) -> Result<Option<Vec<Entry>>, (usize, String)> {
    let mut entries = None;
    for (line, text) in text.lines().enumerate().map(|(n, text)| (n + 1, text)) {
        if text.len() > LONGEST_LINE {
            return Err((line, format!("it is longer than {LONGEST_LINE} bytes")));
        }
        let text = text.trim_matches(super::parse::is_blank);
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if let Some(header) = text.strip_prefix('[') {
            if entries.is_some() {
                break;
            }
            if header.strip_prefix(name).is_some_and(|rest| rest.starts_with(']')) {
                entries = Some(Vec::new());
            }
        } else if let Some(entries) = &mut entries {
            entries.push(entry(line, text).map_err(|why| (line, why))?);
        }
    }
    Ok(entries)
}

fn entry(line: usize, text: &str) -> Result<Entry, String> {
    if text.starts_with("ldap") {
        return Err("jobdoctor does not look up services in LDAP: write the keys into the file".to_owned());
    }
    // libpq takes blanks around the equals sign as part of key and value, so they are not trimmed.
    let (key, value) = text.split_once('=').ok_or_else(|| "it is not a key=value pair".to_owned())?;
    match key {
        "service" => Err("a service cannot lead to another service".to_owned()),
        key => match super::keys::find(key) {
            Some(_) => Ok(Entry { key: key.to_owned(), value: value.to_owned(), line }),
            None => Err("libpq has no such key; leave no blanks around the =".to_owned()),
        },
    }
}

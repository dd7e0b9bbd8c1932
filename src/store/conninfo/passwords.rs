//! Which server gets which password: from the file named for it, the settings, or a password file
//! (`host:port:database:user:password`, one a line).

use super::postgres_address::{Server, ServerPlace, default_socket_directory};
use super::settings::{Origin, Settings};
use super::{Password, Surroundings};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Sets each server's password. The first of these counts: a file named for it, the settings, the password file's line
/// for that server.
pub(super) fn hand_out(
    servers: &mut [Server],
    settings: &Settings,
    surroundings: &Surroundings,
    user: &str,
    database: &str,
) -> Search {
    let one = match (&surroundings.password, settings.text("password")) {
        (Some((password, file)), _) => Some((password.clone(), Origin::PasswordFile(file.clone()))),
        (None, Some(text)) => Some((Password(text.as_bytes().to_vec()), settings.origin("password"))),
        (None, None) => None,
    };
    if let Some((password, origin)) = one {
        servers.iter_mut().for_each(|server| server.password = Some(password.clone()));
        return Search { origin: Some(origin), ..Search::default() };
    }
    let in_vain = |why: String| Search { in_vain: Some(why), ..Search::default() };
    let default = || surroundings.home.as_ref().map(|home| home.join(".pgpass"));
    let Some(path) = settings.text("passfile").map(PathBuf::from).or_else(default) else {
        return in_vain("there is no home directory with a .pgpass".to_owned());
    };
    let text = match read_file(&path) {
        Ok(None) => return in_vain(format!("there is no password file {}", path.display())),
        Ok(Some(text)) => text,
        Err(why) => return Search { warnings: vec![why.clone()], ..in_vain(why) },
    };
    let (mut origin, mut wanted) = (None, Vec::new());
    for server in servers {
        let fields = [&name_in_file(server), &server.port.to_string(), database, user];
        wanted.push(fields.join(":"));
        // An empty password ends the search and counts as none.
        let found = look_up(&text, fields).filter(|(password, _)| !password.0.is_empty());
        server.password = found.map(|(password, line)| {
            origin.get_or_insert(Origin::Line(path.clone(), line));
            password
        });
    }
    match origin {
        Some(_) => Search { origin, ..Search::default() },
        None => in_vain(format!("{} has no line for {}", path.display(), wanted.join(" or "))),
    }
}

#[derive(Default)]
pub(super) struct Search {
    pub(super) origin: Option<Origin>,
    pub(super) in_vain: Option<String>,
    /// Why a password file was not used.
    pub(super) warnings: Vec<String>,
}

/// libpq looks up the default socket as `localhost` and any other by its directory.
fn name_in_file(server: &Server) -> String {
    let is_usual = |directory: &Path| default_socket_directory().is_some_and(|usual| directory == Path::new(usual));
    match &server.place {
        ServerPlace::Socket(directory) if is_usual(directory) => "localhost".to_owned(),
        ServerPlace::Socket(directory) => directory.display().to_string(),
        ServerPlace::Host(name, _) => name.clone(),
    }
}

/// Reads a password file; `None` if it does not exist.
///
/// # Errors
/// When libpq would not use the file: other users may read it, or it is not a plain file.
fn read_file(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(None) };
    if !metadata.is_file() {
        return Err(format!("password file {} is not a plain file and was not used", path.display()));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!(
            "password file {0} was not used, because its mode {mode:04o} lets others read it: chmod 600 {0}",
            path.display()
        ));
    }
    fs::read(path).map(Some).map_err(|error| format!("password file {} was not used: {error}", path.display()))
}

/// The password of the first line for this host, port, database and user, and the line's number.
fn look_up(text: &[u8], wanted: [&str; 4]) -> Option<(Password, usize)> {
    let lines = text.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.starts_with(b"#"));
    lines.into_iter().find_map(|(line, n)| Some((password_of_line(line, wanted)?, n)))
}

fn password_of_line(line: &[u8], wanted: [&str; 4]) -> Option<Password> {
    let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |at| at + 1);
    let line = line.get(..end).unwrap_or_default();
    let rest = wanted.into_iter().try_fold(line, |rest, wanted| after_field(rest, wanted.as_bytes()))?;
    let mut password = Vec::with_capacity(rest.len());
    let mut rest = rest.iter().copied().peekable();
    // An unescaped colon ends the password, as in libpq.
    while let Some(byte) = rest.next_if(|byte| *byte != b':') {
        // A backslash at the very end is literal.
        password.push(if byte == b'\\' { rest.next().unwrap_or(byte) } else { byte });
    }
    Some(Password(password))
}

/// The rest of the line if its first field matches: `*`, or the value with each `:` and `\` escaped by a backslash.
fn after_field<'l>(line: &'l [u8], wanted: &[u8]) -> Option<&'l [u8]> {
    if let Some(rest) = line.strip_prefix(b"*:") {
        return Some(rest);
    }
    let (mut line, mut wanted) = (line, wanted.iter());
    loop {
        let (first, rest) = line.split_first()?;
        match first {
            b':' if wanted.as_slice().is_empty() => return Some(rest),
            b'\\' => {
                let (escaped, rest) = rest.split_first()?;
                line = rest;
                wanted.next().filter(|byte| *byte == escaped)?;
            }
            byte => {
                line = rest;
                wanted.next().filter(|wanted| *wanted == byte)?;
            }
        }
    }
}

//! Password files: `host:port:database:user:password`, one a line.

use super::{Password, Surroundings};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What a connection is looked up by.
pub(super) struct Wanted<'w> {
    /// The host as the address names it; `localhost` for the default socket directory.
    pub(super) host: &'w str,
    pub(super) port: &'w str,
    pub(super) database: &'w str,
    pub(super) user: &'w str,
}

/// A password file that may be read.
pub(super) struct PassFile {
    pub(super) path: PathBuf,
    text: Vec<u8>,
}

/// Where the password file is, where the address does not say: `PGPASSFILE` is part of the address by then.
pub(super) fn usual_place(surroundings: &Surroundings) -> Option<PathBuf> {
    surroundings.home.as_ref().map(|home| home.join(".pgpass"))
}

/// Reads a password file. `None` where there is none.
///
/// # Errors
/// When there is one that libpq would not use: others may read it, or it is no plain file. libpq says so on stderr and goes
/// on without; many a lost hour began there.
pub(super) fn read(path: &Path) -> Result<Option<PassFile>, String> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(None) };
    if !metadata.is_file() {
        return Err(format!("password file {} is no plain file and was not used", path.display()));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!(
            "password file {0} was not used, because its mode {mode:04o} lets others read it: chmod 600 {0}",
            path.display()
        ));
    }
    match fs::read(path) {
        Ok(text) => Ok(Some(PassFile { path: path.to_owned(), text })),
        Err(error) => Err(format!("password file {} was not used: {error}", path.display())),
    }
}

impl PassFile {
    /// The password of the first line that fits, and that line's number.
    pub(super) fn password(&self, wanted: &Wanted<'_>) -> Option<(Password, usize)> {
        let lines = self.text.split(|byte| *byte == b'\n').enumerate();
        lines.filter(|(_, line)| !line.starts_with(b"#")).find_map(|(n, line)| Some((password(line, wanted)?, n + 1)))
    }
}

fn password(line: &[u8], wanted: &Wanted<'_>) -> Option<Password> {
    let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |at| at + 1);
    let line = line.get(..end).unwrap_or_default();
    let fields = [wanted.host, wanted.port, wanted.database, wanted.user];
    let rest = fields.into_iter().try_fold(line, |rest, wanted| after_field(rest, wanted.as_bytes()))?;
    let mut password = Vec::with_capacity(rest.len());
    let mut rest = rest.iter().copied().peekable();
    // A colon that nothing stands before ends it, as it does for libpq.
    while let Some(byte) = rest.next_if(|byte| *byte != b':') {
        // A backslash at the very end stands for itself.
        password.push(if byte == b'\\' { rest.next().unwrap_or(byte) } else { byte });
    }
    Some(Password(password))
}

/// What comes behind a field that matches: `*`, or the value itself with a backslash before each `:` and `\` in it.
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

#[cfg(test)]
mod tests {
    use super::{PassFile, Wanted};
    use std::path::PathBuf;

    fn look_up(text: &str, wanted: [&str; 4]) -> Option<(String, usize)> {
        let [host, port, database, user] = wanted;
        let file = PassFile { path: PathBuf::new(), text: text.as_bytes().to_vec() };
        let found = file.password(&Wanted { host, port, database, user })?;
        Some((String::from_utf8(found.0.0).unwrap(), found.1))
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let file = "# db:5432:app:ops:comment\n\ndb:5432:app:other:1\ndb:*:app:ops:2\r\n*:*:*:*:3";
        assert_eq!(look_up(file, ["db", "5432", "app", "ops"]), Some(("2".to_owned(), 4)));
        assert_eq!(look_up(file, ["db", "5433", "app", "ops"]), Some(("2".to_owned(), 4)));
        assert_eq!(look_up(file, ["db2", "5432", "app", "ops"]), Some(("3".to_owned(), 5)));
        assert_eq!(look_up("db:5432:app:ops:1", ["db", "5432", "ap", "ops"]), None);
        assert_eq!(look_up("db:5432:app:ops", ["db", "5432", "app", "ops"]), None);
    }

    #[test]
    fn escapes_and_wildcards() {
        assert_eq!(look_up(r"\:\:1:5432:a\\b:*:p\:a\\ss\", ["::1", "5432", r"a\b", "x"]).unwrap().0, r"p:a\ss\");
        // A star is a wildcard only when it is the whole field, and a password ends at a colon.
        assert_eq!(look_up("d*:*:*:*:x", ["db", "1", "a", "u"]), None);
        assert_eq!(look_up("*:*:*:*:a:b:c", ["db", "1", "a", "u"]).unwrap().0, "a");
        assert_eq!(look_up(r"\*:*:*:*:x", ["*", "1", "a", "u"]).unwrap().0, "x");
        assert_eq!(look_up("*:*:*:*:", ["db", "1", "a", "u"]).unwrap().0, "");
    }
}

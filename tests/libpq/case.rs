//! One environment: an address, variables and files. Words in braces stand for what is known only when it is run.

use crate::support::impostor::Impostor;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// See the module. `{p1}` and `{p2}` are the impostor's ports, `{d1}` and `{d2}` its directories, as `{e1}` and `{e2}`
/// with each slash as %2F; `{starting}` is the port of the server that starts up, `{home}` the home directory.
#[derive(Debug, Clone, Default)]
pub struct Case {
    pub name: String,
    /// What stands behind `-d` or `--db`, if anything.
    pub address: Option<String>,
    pub variables: BTreeMap<String, String>,
    /// Files by their path in the home directory, with their modes.
    pub files: Vec<(String, String, u32)>,
}

impl Case {
    pub fn named(name: impl Into<String>) -> Case {
        Case { name: name.into(), ..Case::default() }
    }

    #[must_use]
    pub fn db(mut self, address: impl Into<String>) -> Case {
        self.address = Some(address.into());
        self
    }

    #[must_use]
    pub fn var(mut self, name: &str, value: impl Into<String>) -> Case {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// Sets several variables, `NAME=value` each, none of whose values holds a blank.
    #[must_use]
    pub fn env(self, variables: &str) -> Case {
        let pairs = variables.split(' ').map(|pair| pair.split_once('=').unwrap());
        pairs.fold(self, |case, (name, value)| case.var(name, value))
    }

    #[must_use]
    pub fn file(self, path: &str, text: impl Into<String>) -> Case {
        self.file_of_mode(path, text, 0o600)
    }

    #[must_use]
    pub fn file_of_mode(mut self, path: &str, text: impl Into<String>, mode: u32) -> Case {
        self.files.push((path.to_owned(), text.into(), mode));
        self
    }

    #[must_use]
    pub fn passes(self, text: impl Into<String>) -> Case {
        self.file(".pgpass", text)
    }

    #[must_use]
    pub fn services(self, text: impl Into<String>) -> Case {
        self.file(".pg_service.conf", text)
    }

    pub fn made_in(&self, impostor: &Impostor) -> Made {
        let home = TempDir::new().unwrap();
        let words = words(home.path(), impostor);
        let filled = |text: &str| words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value));
        for (path, text, mode) in &self.files {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, filled(text)).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        let mut variables: BTreeMap<String, String> =
            self.variables.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
        variables.insert("HOME".to_owned(), home.path().display().to_string());
        Made { address: self.address.as_deref().map(filled), variables, home }
    }
}

fn words(home: &Path, impostor: &Impostor) -> [(&'static str, String); 8] {
    let [p1, p2] = impostor.ports().map(|port| port.to_string());
    let [d1, d2] = impostor.directories().map(|directory| directory.display().to_string());
    let encoded = |directory: &str| directory.replace('/', "%2F");
    [
        ("{e1}", encoded(&d1)),
        ("{e2}", encoded(&d2)),
        ("{p1}", p1),
        ("{p2}", p2),
        ("{d1}", d1),
        ("{d2}", d2),
        ("{starting}", impostor.starting().to_string()),
        ("{home}", home.display().to_string()),
    ]
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: --db {:?}", self.name, self.address)?;
        self.variables.iter().try_for_each(|(name, value)| write!(f, "\n  {name}={value:?}"))?;
        self.files.iter().try_for_each(|(path, text, mode)| write!(f, "\n  ~/{path} ({mode:o}): {text:?}"))
    }
}

pub struct Made {
    pub address: Option<String>,
    pub variables: BTreeMap<String, String>,
    home: TempDir,
}

impl Made {
    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

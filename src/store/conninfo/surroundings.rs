use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What an address may lean on: the environment, the home directory, the user of this process.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The environment variables that are set and not empty.
    pub variables: Variables,
    /// Where `~` is.
    pub home: Option<PathBuf>,
    /// The name of the user that this process runs as.
    pub user: Option<String>,
    /// What the address is called in messages: `--db`, or whatever it came from.
    pub source: String,
    /// A password that was read from a file that the operator named, and that file. It counts before any other.
    pub password: Option<(Password, PathBuf)>,
}

impl Default for Surroundings {
    /// None at all.
    fn default() -> Surroundings {
        let source = "the address".to_owned();
        Surroundings { variables: Variables::default(), home: None, user: None, source, password: None }
    }
}

/// Environment variables by name. Their values may be passwords, so they are never printed.
#[derive(Clone, Default)]
pub struct Variables(pub BTreeMap<String, String>);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Surroundings {
    /// The value of a variable; none if it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.variables.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// A password that cannot be printed. It is bytes: nothing says that it is UTF-8.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub Vec<u8>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

//! Every environment variable that is read, and the only place that reads any.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// The variables, and what each is for.
pub const VARIABLES: [(&str, &str); 18] = [
    ("CLICOLOR", "0 turns colour off"),
    ("CLICOLOR_FORCE", "anything but 0 turns colour on, even where nothing is a terminal"),
    ("COLUMNS", "the width to lay tables out for"),
    ("DATABASE_URL", "the database, where neither --db, JOBDOCTOR_DB nor the config file names one"),
    ("HOME", "where .config is, unless XDG_CONFIG_HOME says otherwise"),
    ("JOBDOCTOR_CONFIG", "the config file, unless --config names one"),
    ("JOBDOCTOR_DB", "the database, unless --db names one"),
    ("JOBDOCTOR_TARGET", "the target of the config file, unless --target names one"),
    ("NO_COLOR", "anything turns colour off"),
    ("PGDATABASE", "the database, where an address leaves it open"),
    ("PGHOST", "the host or socket directory, where an address leaves it open"),
    ("PGPASSWORD", "the password, where an address has none"),
    ("PGPORT", "the port, where an address leaves it open"),
    ("PGSSLMODE", "disable, prefer or require, where an address leaves it open"),
    ("PGUSER", "the user, where an address leaves it open"),
    ("TERM", "dumb turns colour off"),
    ("USER", "the user, where an address and PGUSER leave it open"),
    ("XDG_CONFIG_HOME", "where jobdoctor/config.toml is"),
];

/// The environment, read once.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<&'static str, String>);

impl Environment {
    /// Reads the variables that are known. Empty ones count as unset, as most tools have it.
    pub fn read() -> Environment {
        let value = |name: &str| -> Option<OsString> {
            #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
            std::env::var_os(name)
        };
        let known = VARIABLES.iter().filter_map(|(name, _)| {
            let value = value(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some((*name, value))
        });
        Environment(known.collect())
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(VARIABLES.iter().any(|(known, _)| *known == name), "{name} is not listed");
        self.0.get(name).map(String::as_str)
    }
}

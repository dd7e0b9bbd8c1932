//! The settings in force: each key with its value and where it came from, and what frameworks add to `DATABASE_URL`.

use super::keys::{KEYS, Treatment, find};
use super::parse::{URL_SCHEMES, key_value_pairs, url_pairs};
use super::{AddressError, Surroundings, is_password_key, may_hold_password, service};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use strum::VariantArray;

/// Schemes that frameworks use for Postgres. SQLAlchemy appends `+driver`.
const FRAMEWORK_SCHEMES: [&str; 6] = ["postgresql", "postgres", "postgis", "ecto", "pgsql", "psql"];

/// Query parameters of frameworks, which configure the framework and mean nothing to a server, each with its framework.
/// From `DATABASE_URL` they are dropped, and `env` says so; from any other address they are refused. A word about trust
/// or encryption is never dropped.
pub const FRAMEWORK_WORDS: [(&str, &str); 37] = [
    ("adapter", "Rails"),
    ("checkout_timeout", "Rails"),
    ("encoding", "Rails"),
    ("idle_timeout", "Rails"),
    ("pool", "Rails"),
    ("prepared_statements", "Rails"),
    ("reaping_frequency", "Rails"),
    ("reconnect", "Rails"),
    ("schema_search_path", "Rails"),
    ("connection_limit", "Prisma"),
    ("pgbouncer", "Prisma"),
    ("pool_timeout", "Prisma"),
    ("schema", "Prisma"),
    ("socket_timeout", "Prisma"),
    ("statement_cache_size", "Prisma and asyncpg"),
    ("conn_max_age", "Django"),
    ("conn_health_checks", "Django"),
    ("disable_server_side_cursors", "Django"),
    ("pool_size", "Ecto and SQLAlchemy"),
    ("max_overflow", "SQLAlchemy"),
    ("pool_recycle", "SQLAlchemy"),
    ("pool_pre_ping", "SQLAlchemy"),
    ("prepared_statement_cache_size", "asyncpg"),
    ("command_timeout", "asyncpg"),
    ("max_cached_statement_lifetime", "asyncpg"),
    ("statement-cache-capacity", "sqlx"),
    ("statement_cache_capacity", "pgx"),
    ("description_cache_capacity", "pgx"),
    ("default_query_exec_mode", "pgx"),
    ("pool_max_conns", "pgx"),
    ("pool_min_conns", "pgx"),
    ("pool_max_conn_lifetime", "pgx"),
    ("pool_max_conn_idle_time", "pgx"),
    ("pool_health_check_period", "pgx"),
    ("currentSchema", "JDBC"),
    ("prepareThreshold", "JDBC"),
    ("uselibpqcompat", "node-postgres"),
];

fn framework_of(word: &str) -> Option<&'static str> {
    FRAMEWORK_WORDS.iter().find(|(known, _)| *known == word).map(|(_, whose)| *whose)
}

/// The rest of a URL with such a scheme, and the part of the scheme that is dropped, in words.
pub(super) fn framework_scheme(text: &str) -> Option<(&str, Option<String>)> {
    let (scheme, rest) = text.strip_prefix("jdbc:").unwrap_or(text).split_once("://")?;
    let (scheme, driver) = scheme.split_once('+').map_or((scheme, None), |(scheme, driver)| (scheme, Some(driver)));
    FRAMEWORK_SCHEMES.contains(&scheme).then_some(())?;
    let plain = scheme.starts_with("postgres");
    let dropped = match driver {
        Some(driver) => Some(format!("+{driver} of the scheme")),
        None if !plain => Some(format!("the scheme {scheme}, taken for postgres")),
        None => None,
    };
    // A driver's name is a word. Anything else might be part of a password, and is not shown.
    let is_word = driver.is_none_or(|driver| driver.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    is_word.then_some((rest, dropped))
}

/// Where a setting came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The address itself, under the name it has in messages.
    Address(String),
    /// A line of a service file or a password file.
    Line(PathBuf, usize),
    Variable(&'static str),
    /// A file that holds one password.
    PasswordFile(PathBuf),
    /// Unset: libpq's default, or jobdoctor's.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Address(source) => f.write_str(source),
            Origin::Line(file, line) => write!(f, "{}, line {line}", file.display()),
            Origin::Variable(name) => f.write_str(name),
            Origin::PasswordFile(file) => write!(f, "{}", file.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// An operator, for libpq or for jobdoctor.
    Operator,
    /// The author of `DATABASE_URL`, for a framework.
    Framework,
}

/// Keys that libpq refuses with an empty value. Any other key with an empty value counts as unset.
const NEVER_EMPTY: [&str; 6] =
    ["sslmode", "target_session_attrs", "channel_binding", "gssencmode", "connect_timeout", "service"];

/// The keys that are set. The address takes precedence over the service, the service over the environment.
pub(super) struct Settings {
    set: BTreeMap<&'static str, (String, Origin)>,
    /// Parameters of a framework that were dropped.
    pub(super) dropped: Vec<String>,
}

impl Settings {
    /// Collects the settings from the address, the service and the environment.
    pub(super) fn collect(text: &str, author: Author, surroundings: &Surroundings) -> Result<Settings, AddressError> {
        let (given, dropped) = read(text, author)?;
        let mut settings = Settings { set: BTreeMap::new(), dropped };
        for (name, value) in given {
            // The old key, which libpq still accepts.
            let (name, value) = match (name.as_str(), value.starts_with('1')) {
                ("requiressl", true) => ("sslmode".to_owned(), "require".to_owned()),
                ("requiressl", false) => ("sslmode".to_owned(), "prefer".to_owned()),
                _ => (name, value),
            };
            let Some(key) = find(&name) else { return Err(unknown(&surroundings.source, &name)) };
            if value.is_empty() && NEVER_EMPTY.contains(&key.name) {
                return Err(AddressError::new(format!(
                    "`{}` (from {}) is empty: leave it out",
                    key.name, surroundings.source
                )));
            }
            // In an address the last one counts.
            settings.set.insert(key.name, (value, Origin::Address(surroundings.source.clone())));
        }
        if let Some(name) = surroundings.get("PGSERVICE") {
            settings.default("service", name.to_owned(), Origin::Variable("PGSERVICE"));
        }
        settings.refuse_passwords()?;
        if let Some(name) = settings.text("service").map(str::to_owned) {
            let (file, entries) = service::find(&name, surroundings)?;
            for entry in entries {
                // In a service the first one counts.
                let origin = Origin::Line(file.clone(), entry.line);
                settings.default(&entry.key, entry.value, origin);
            }
        }
        for key in &KEYS {
            if let Some((variable, value)) = key.variable.and_then(|name| Some((name, surroundings.get(name)?))) {
                settings.default(key.name, value.to_owned(), Origin::Variable(variable));
            }
        }
        if surroundings.get("PGREQUIRESSL").is_some_and(|value| value.starts_with('1')) {
            settings.default("sslmode", "require".to_owned(), Origin::Variable("PGREQUIRESSL"));
        }
        settings.refuse_passwords()?;
        settings.refuse_what_cannot_be_honoured()?;
        Ok(settings)
    }

    fn default(&mut self, name: &str, value: String, origin: Origin) {
        if let Some(key) = find(name) {
            self.set.entry(key.name).or_insert((value, origin));
        }
    }

    /// The value of a key; `None` if it is empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(|(value, _)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn origin(&self, name: &str) -> Origin {
        self.set.get(name).filter(|(value, _)| !value.is_empty()).map_or(Origin::Default, |(_, origin)| origin.clone())
    }

    /// The keys that are set, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &str, &Origin)> {
        let set = self.set.iter().filter(|(_, (value, _))| !value.is_empty());
        set.map(|(name, (value, origin))| (*name, value.as_str(), origin))
    }

    /// The meaning of a key's value, which must be one of these words.
    pub(super) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)], default: T) -> Result<T, AddressError> {
        let Some(value) = self.text(name) else { return Ok(default) };
        let found = words.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning);
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        found.ok_or_else(|| self.error(name, &format!("is one of {}", known.join(", "))))
    }

    /// The variant that a key's value names.
    pub(super) fn variant<T>(&self, name: &str, default: T) -> Result<T, AddressError>
    where
        T: Copy + VariantArray + Into<&'static str>,
    {
        let words: Vec<(&str, T)> = T::VARIANTS.iter().map(|variant| ((*variant).into(), *variant)).collect();
        self.word(name, &words, default)
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<i32>, AddressError> {
        let number = |value: &str| value.trim().parse().map_err(|_| self.error(name, "is a whole number"));
        self.text(name).map(number).transpose()
    }

    /// An error about a key, which does not repeat its value.
    pub(super) fn error(&self, name: &str, must: &str) -> AddressError {
        let origin = self.origin(name);
        let message = format!("`{name}` (from {origin}) {must}");
        match origin {
            Origin::Line(..) => AddressError::in_a_file(message),
            _ => AddressError::new(message),
        }
    }

    /// Refuses a password that would show as the name of something.
    fn refuse_passwords(&self) -> Result<(), AddressError> {
        let hides = |name: &str, value: &str| !is_password_key(name) && may_hold_password(value);
        match self.iter().find(|(name, value, _)| hides(name, value)) {
            Some((name, ..)) => Err(self.error(
                name,
                "looks like an address with a password (it is not shown): give each part a key or a variable of its own",
            )),
            None => Ok(()),
        }
    }

    fn refuse_what_cannot_be_honoured(&self) -> Result<(), AddressError> {
        for key in &KEYS {
            let Some(value) = self.text(key.name) else { continue };
            let why = match key.treatment {
                Treatment::Honoured => continue,
                Treatment::Only(values, _) if values.iter().any(|known| known.eq_ignore_ascii_case(value)) => continue,
                Treatment::Only(_, why) | Treatment::Refused(why) => why,
            };
            return Err(self.error(key.name, &format!("cannot be honoured: {why}")));
        }
        Ok(())
    }
}

/// The keys of an address, and the framework's parameters that were dropped.
type Given = (Vec<(String, String)>, Vec<String>);

fn read(text: &str, author: Author) -> Result<Given, AddressError> {
    if author == Author::Framework
        && let Some((rest, scheme)) = framework_scheme(text)
    {
        let (words, keys): (Vec<_>, Vec<_>) =
            url_pairs(rest)?.into_iter().partition(|(key, _)| framework_of(key).is_some());
        let words = words.into_iter().map(|(word, _)| format!("{word} ({})", framework_of(&word).unwrap_or_default()));
        return Ok((keys, scheme.into_iter().chain(words).collect()));
    }
    match URL_SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)) {
        Some(rest) => Ok((url_pairs(rest)?, Vec::new())),
        None if text.starts_with("postgres:") || text.starts_with("postgresql:") => Err(AddressError::new(
            "a Postgres URL begins with postgres:// (nothing of this one is shown: it may hold a password)",
        )),
        None => Ok((key_value_pairs(text)?, Vec::new())),
    }
}

/// A key that libpq does not have. The message names it only if a framework has it: it may be part of a password.
fn unknown(source: &str, name: &str) -> AddressError {
    let close = KEYS.iter().map(|key| key.name).find(|known| strsim::damerau_levenshtein(known, name) <= 2);
    AddressError::new(match (framework_of(name), close) {
        (Some(whose), _) => format!(
            "`{name}` is a word of {whose} that means nothing to a server: leave it out. jobdoctor drops it only \
             from DATABASE_URL, where frameworks look"
        ),
        (None, Some(known)) => format!("{source} has a key that libpq does not know; did you mean `{known}`?"),
        (None, None) => {
            format!("{source} has a key that libpq does not know (it is not shown: it may be part of a password)")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes() {
        assert_eq!(framework_scheme("postgres://h/d"), Some(("h/d", None)));
        assert_eq!(framework_scheme("postgresql+asyncpg://h"), Some(("h", Some("+asyncpg of the scheme".to_owned()))));
        assert_eq!(framework_scheme("ecto://h"), Some(("h", Some("the scheme ecto, taken for postgres".to_owned()))));
        assert_eq!(framework_scheme("mysql://h"), None);
        assert_eq!(framework_scheme("postgres:h"), None);
    }

    #[test]
    fn no_word_is_one_of_libpq() {
        assert!(FRAMEWORK_WORDS.iter().all(|(word, _)| find(word).is_none()));
    }
}

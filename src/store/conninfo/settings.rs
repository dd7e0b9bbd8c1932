//! The settings in force: each key with its value and where it came from.

use super::keys::{self, KEYS, Treatment};
use super::parse::{URL_SCHEMES, key_value_pairs, url_pairs};
use super::{AddressError, Surroundings, service};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Where a setting came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The address itself, under the name it has in messages.
    Address(String),
    /// A service file and the line in it.
    Service(PathBuf, usize),
    Variable(&'static str),
    /// A line of a password file.
    PassFile(PathBuf, usize),
    /// A file that holds one password.
    PasswordFile(PathBuf),
    /// Unset: libpq's default, or jobdoctor's.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Address(source) => f.write_str(source),
            Origin::Service(file, line) | Origin::PassFile(file, line) => write!(f, "{}, line {line}", file.display()),
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
            let Some(key) = keys::find(&name) else { return Err(unknown(&surroundings.source, &name)) };
            if value.is_empty() && NEVER_EMPTY.contains(&key.name) {
                return Err(AddressError::new(format!(
                    "`{}` (from {}) is empty: leave it out",
                    key.name, surroundings.source
                )));
            }
            // In an address the last one counts.
            settings.set.insert(key.name, (value, Origin::Address(surroundings.source.clone())));
        }
        let named = settings.text("service").map(str::to_owned);
        if let Some(name) = named.or_else(|| surroundings.get("PGSERVICE").map(str::to_owned)) {
            let (file, entries) = service::find(&name, surroundings)?;
            for entry in entries {
                // In a service the first one counts.
                let origin = Origin::Service(file.clone(), entry.line);
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
        settings.refuse_what_cannot_be_honoured()?;
        Ok(settings)
    }

    fn default(&mut self, name: &str, value: String, origin: Origin) {
        if let Some(key) = keys::find(name) {
            self.set.entry(key.name).or_insert((value, origin));
        }
    }

    /// The value of a key; `None` if it is empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(|(value, _)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Where a key's value came from.
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

    /// The value of a key as a whole number.
    pub(super) fn number(&self, name: &str) -> Result<Option<i32>, AddressError> {
        let number = |value: &str| value.trim().parse().map_err(|_| self.error(name, "is a whole number"));
        self.text(name).map(number).transpose()
    }

    /// An error about a key, which does not repeat its value.
    pub(super) fn error(&self, name: &str, must: &str) -> AddressError {
        let origin = self.origin(name);
        let message = format!("`{name}` (from {origin}) {must}");
        match origin {
            Origin::Service(..) => AddressError::in_a_file(message),
            _ => AddressError::new(message),
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
        && let Some((rest, scheme)) = keys::framework_scheme(text)
    {
        let (words, keys): (Vec<_>, Vec<_>) =
            url_pairs(rest)?.into_iter().partition(|(key, _)| keys::framework_of(key).is_some());
        let words =
            words.into_iter().map(|(word, _)| format!("{word} ({})", keys::framework_of(&word).unwrap_or_default()));
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
    AddressError::new(match (keys::framework_of(name), close) {
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

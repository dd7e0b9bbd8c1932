//! The database that the settings name: where its address stands, its password file, and its store.

use super::args::StoreArgs;
use super::environment::Environment;
use super::input::{PATIENCE, Source};
use super::setting::Target;
use super::{CliError, Exit};
use crate::store::{Address, Interrupt, Password, Store, Surroundings, open};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A database, if one is named.
pub struct Database {
    pub address: Option<Address>,
    /// The targets that could have been named.
    pub targets: Vec<String>,
}

impl Database {
    pub fn store(&self) -> Result<Box<dyn Store>, CliError> {
        let address = self.address.as_ref().ok_or_else(|| {
            let error = CliError::usage("no database is named");
            if !self.targets.is_empty() {
                let names = self.targets.join(", ");
                return error
                    .hint(format!("the config file has targets: {names}; name one with --target, or default_target"));
            }
            error.hint(
                "name one with --db queue.db, --db postgres://user@host/app or --db 'host=... dbname=...'; or set \
                 JOBDOCTOR_DB, a target in the config file, DATABASE_URL, or PGHOST and PGDATABASE, or PGSERVICE",
            )
        })?;
        Ok(open(address))
    }

    /// What is wrong with the way it is reached, though it stops nothing.
    pub fn warnings(&self) -> &[String] {
        match &self.address {
            Some(Address::Postgres(address)) => &address.warnings,
            Some(Address::Sqlite { .. }) | None => &[],
        }
    }

    /// The sentence about the parameters of `DATABASE_URL` that are meant for a framework; `None` if it has none.
    pub fn dropped(&self) -> Option<String> {
        let Some(Address::Postgres(address)) = &self.address else { return None };
        let dropped = (!address.dropped.is_empty()).then(|| address.dropped.join(", "));
        dropped.map(|words| format!("ignored in DATABASE_URL, because the server does not know it: {words}"))
    }
}

/// The address of a database, as it was configured: in one text, or in parts in libpq's variables; and what names it.
#[derive(Debug)]
pub struct ConfiguredAddress {
    pub text: Option<OsString>,
    pub origin: &'static str,
}

impl ConfiguredAddress {
    pub const BY_FLAG: &str = "--db";
    pub const BY_TARGET: &str = "db";
    pub const BY_URL: &str = "DATABASE_URL";

    /// The address that counts: flag, then `JOBDOCTOR_DB`, then target, then `DATABASE_URL`, then libpq's variables;
    /// but a target named by a flag comes before `JOBDOCTOR_DB`.
    pub fn find(args: &StoreArgs, target: &Target, environment: &Environment) -> Option<ConfiguredAddress> {
        let variable = |name| (environment.get(name).map(OsString::from), name);
        let flag = (args.db.clone(), Self::BY_FLAG);
        let of_target = (target.db.as_ref().map(OsString::from), Self::BY_TARGET);
        let (url, db) = (variable(Self::BY_URL), variable("JOBDOCTOR_DB"));
        let sources = if args.target().is_some() { [flag, of_target, db, url] } else { [flag, db, of_target, url] };
        let whole = first(sources).map(|(text, origin)| ConfiguredAddress { text: Some(text), origin });
        let mut parts = ["PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE"].into_iter();
        let has_parts = parts.any(|name| environment.get(name).is_some());
        whole.or_else(|| has_parts.then_some(ConfiguredAddress { text: None, origin: "PG* variables" }))
    }

    pub fn read(&self, surroundings: &Surroundings) -> Result<Address, CliError> {
        let Some(text) = &self.text else { return Ok(Address::of_environment(surroundings)?) };
        match (text.to_str(), self.origin) {
            (Some(text), Self::BY_URL) => Ok(Address::parse_database_url(text, surroundings)?),
            (Some(text), _) => Ok(Address::parse(text, surroundings)?),
            // Of all addresses only a path may hold bytes that are not UTF-8.
            (None, _) => match Address::parse(&text.to_string_lossy(), surroundings) {
                Ok(Address::Sqlite { .. }) => {
                    let path = text.as_bytes();
                    Ok(Address::file(OsStr::from_bytes(path.strip_prefix(b"sqlite:").unwrap_or(path))))
                }
                _ => Err(CliError::usage("the address is neither UTF-8 nor a path (it is not shown)")),
            },
        }
    }
}

/// Reads a password: the first line of a file. Any mode will do, because containers mount secrets readable for all.
pub fn read_password(path: &Path, interrupt: &Interrupt) -> Result<Password, CliError> {
    let bytes = Source::settings("password file", "--password-file", path).bytes(interrupt, PATIENCE)?.text;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Err(CliError::new(Exit::Config, format!("password file {}: its first line is empty", path.display())));
    }
    Ok(Password(line.to_vec()))
}

/// The first value that is there, and what names it.
pub(super) fn first<T, const N: usize>(sources: [(Option<T>, &'static str); N]) -> Option<(T, &'static str)> {
    sources.into_iter().find_map(|(value, origin)| Some((value?, origin)))
}

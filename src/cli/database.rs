//! The database that the settings name: where its address stands, its password file, and its store.

use super::args::StoreArgs;
use super::environment::Environment;
use super::error::CliError;
use super::exit::Exit;
use super::input::{LONGEST_FILE, PATIENCE, Source};
use super::setting::Target;
use crate::store::{Address, Interrupt, Password, Store, Surroundings, open};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A database, if one is named.
pub struct Database {
    /// Its address; `None` if none is named.
    pub address: Option<Address>,
    /// The targets that could have been named.
    pub targets: Vec<String>,
}

impl Database {
    /// Its store.
    ///
    /// # Errors
    /// When no database is named.
    pub fn store(&self) -> Result<Box<dyn Store>, CliError> {
        let address = self.address.as_ref().ok_or_else(|| {
            let error = CliError::new(Exit::Usage, "no database is named");
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

/// The address of a database, as it was configured.
#[derive(Debug)]
pub enum ConfiguredAddress {
    /// In one text: a flag, a variable, the config file.
    Whole(OsString, AddressSource),
    /// In libpq's variables, in parts.
    Parts,
}

/// What names the database in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressSource {
    /// `--db`.
    Flag,
    /// `JOBDOCTOR_DB`.
    Variable,
    /// `db` of a target in the config file.
    Target,
    /// `DATABASE_URL`.
    DatabaseUrl,
}

impl ConfiguredAddress {
    /// The address that counts: flag, then `JOBDOCTOR_DB`, then target, then `DATABASE_URL`, then libpq's variables; but a target
    /// named by a flag comes before `JOBDOCTOR_DB`.
    pub fn find(args: &StoreArgs, target: &Target, environment: &Environment) -> Option<ConfiguredAddress> {
        let flag = args.db.as_deref().map(|text| (text, AddressSource::Flag));
        let variable = environment.get("JOBDOCTOR_DB").map(|text| (OsStr::new(text), AddressSource::Variable));
        let of_target = target.db.as_deref().map(|text| (OsStr::new(text), AddressSource::Target));
        let url = environment.get("DATABASE_URL").map(|text| (OsStr::new(text), AddressSource::DatabaseUrl));
        let candidates = match args.target() {
            Some(_) => [flag, of_target, variable, url],
            None => [flag, variable, of_target, url],
        };
        let parts = ["PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE"];
        match candidates.into_iter().flatten().next() {
            Some((text, source)) => Some(ConfiguredAddress::Whole(text.to_owned(), source)),
            None => parts.iter().any(|name| environment.get(name).is_some()).then_some(ConfiguredAddress::Parts),
        }
    }

    /// Reads the address.
    ///
    /// # Errors
    /// When it cannot be read, or leads to a file that cannot.
    pub fn read(&self, surroundings: &Surroundings) -> Result<Address, CliError> {
        let (text, source) = match self {
            ConfiguredAddress::Parts => return Ok(Address::of_environment(surroundings)?),
            ConfiguredAddress::Whole(text, source) => (text, source),
        };
        match (text.to_str(), source) {
            (Some(text), AddressSource::DatabaseUrl) => Ok(Address::parse_database_url(text, surroundings)?),
            (Some(text), _) => Ok(Address::parse(text, surroundings)?),
            // Of all addresses only a path may hold bytes that are not UTF-8.
            (None, _) => match Address::parse(&text.to_string_lossy(), surroundings) {
                Ok(Address::Sqlite { .. }) => {
                    let path = text.as_bytes();
                    Ok(Address::file(OsStr::from_bytes(path.strip_prefix(b"sqlite:").unwrap_or(path))))
                }
                _ => Err(CliError::new(Exit::Usage, "the address is neither UTF-8 nor a path (it is not shown)")),
            },
        }
    }
}

/// Reads a password: the first line of a file. The file's mode is not checked, because containers mount secrets readable for all.
///
/// # Errors
/// When the file cannot be read, or its first line is empty.
pub fn read_password(path: &Path, interrupt: &Interrupt) -> Result<Password, CliError> {
    let exits = (Exit::Config, Exit::Config);
    let source =
        Source { what: "password file", flag: "--password-file", path, most: LONGEST_FILE, identity: None, exits };
    let bytes = source.bytes(interrupt, PATIENCE)?.text;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Err(CliError::new(Exit::Config, format!("password file {}: its first line is empty", path.display())));
    }
    Ok(Password(line.to_vec()))
}

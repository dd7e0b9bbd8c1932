//! What is in force for one run: flags over environment over config file over defaults.

use super::args::StoreArgs;
use super::config::{Config, Target};
use super::database::Database;
use super::environment::Environment;
use super::error::{CliError, OrEnd};
use super::exit::Exit;
use super::state_directory::state_directory;
use crate::ops::Session;
use crate::output::WarnAbove;
use crate::preset::{Catalog, Place, did_you_mean};
use crate::store::{Address, Interrupt, Limits, Password, Store, Surroundings};
use anyhow::Context as _;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long looking may take unless told.
pub const READING: Duration = Duration::from_secs(30);
/// How long applying may take unless told.
pub const APPLYING: Duration = Duration::from_secs(600);
const CONNECTING: Duration = Duration::from_secs(10);
/// How long to wait for another session's lock on the database or a table.
const LOCKED: Duration = Duration::from_secs(5);

/// See the module.
pub struct Settings {
    /// The presets and mappings.
    pub catalog: Catalog,
    /// The preset or mapping that was named.
    pub preset: Option<String>,
    /// Where the tables are.
    pub place: Place,
    /// The target's name, if one is meant.
    pub target_name: Option<String>,
    /// The target's settings.
    pub target: Target,
    /// The config file that was read, and what named it.
    pub(super) config: Option<(PathBuf, &'static str)>,
    /// The names of the targets there are.
    targets: Vec<String>,
    pub(super) args: StoreArgs,
    pub(super) address: Option<Where>,
    /// What named the target.
    pub(super) target_origin: &'static str,
    /// The directory of the journals, and what named it.
    pub(super) state: Option<(PathBuf, &'static str)>,
    /// The file with the password, and what named it.
    pub(super) password_file: Option<(PathBuf, &'static str)>,
    surroundings: Surroundings,
}

/// Where the database's address is said.
#[derive(Debug)]
pub(super) enum Where {
    /// In one text: a flag, a variable, the config file.
    Whole(OsString, AddressSource),
    /// In the parts that libpq's variables give.
    Parts,
}

/// What names the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressSource {
    Flag,
    Variable,
    Target,
    DatabaseUrl,
}

impl Settings {
    /// Resolves them.
    ///
    /// # Errors
    /// When the config file cannot be used, or names a target that is not there.
    pub fn resolve(args: &StoreArgs, environment: &Environment) -> Result<Settings, CliError> {
        if args.target.len() > 1 {
            return Err(CliError::new(Exit::Usage, "this command takes one --target").hint("run it once for each"));
        }
        let path = config_path(args, environment);
        let config = path.as_ref().map_or_else(|| Ok(Config::default()), |(path, _)| Config::read(path))?;
        let named = args.target().or(environment.get("JOBDOCTOR_TARGET"));
        // A target brings settings along, so one that is not named counts only where no other database was.
        let other_db = args.db.is_some() || environment.get("JOBDOCTOR_DB").is_some();
        let only = (config.targets.len() == 1).then(|| config.targets.keys().next()).flatten();
        let assumed = config.default_target.as_ref().or(only).filter(|_| !other_db);
        let target_name = named.map(str::to_owned).or_else(|| assumed.cloned());
        let target = match &target_name {
            None => Target::default(),
            Some(name) => match config.targets.get(name) {
                Some(target) => target.clone(),
                None => return Err(no_such_target(name, &config, path.as_ref().map(|(path, _)| path.as_path()))),
            },
        };
        let targets: Vec<String> = config.targets.keys().cloned().collect();
        let mut catalog = Catalog::built_in()?;
        for mapping in config.mappings {
            catalog.add(mapping)?;
        }
        let target_origin = match (args.target(), environment.get("JOBDOCTOR_TARGET"), &target_name) {
            (Some(_), _, _) => "--target",
            (None, Some(_), _) => "JOBDOCTOR_TARGET",
            (None, None, Some(_)) if config.default_target.is_some() => "default_target",
            (None, None, Some(_)) => "the only one",
            (None, None, None) => "default",
        };
        let address = where_it_is(args, &target, environment);
        let is_of_target = matches!(address, Some(Where::Whole(_, AddressSource::Target)));
        let password_file = [
            (args.password_file.clone(), "--password-file"),
            (environment.get("JOBDOCTOR_PASSWORD_FILE").map(PathBuf::from), "JOBDOCTOR_PASSWORD_FILE"),
            // It is the password of the target's own database, and nobody else's.
            (target.password_file.as_ref().filter(|_| is_of_target).map(PathBuf::from), "password_file"),
        ];
        let password_file = password_file.into_iter().find_map(|(path, origin)| Some((path?, origin)));
        Ok(Settings {
            catalog,
            preset: args.preset.clone().or_else(|| target.preset.clone()),
            place: Place {
                schema: args.schema.clone().or_else(|| target.schema.clone()),
                table: args.table.clone().or_else(|| target.table.clone()),
                options: target.options.iter().chain(&args.options).cloned().collect(),
            },
            address,
            targets,
            config: path,
            args: args.clone(),
            password_file,
            target_origin,
            state: state_directory(environment),
            target_name,
            target,
            surroundings: environment.surroundings(),
        })
    }

    /// The targets that are meant by several names, or by none for all: in the order of the config file, each once.
    ///
    /// # Errors
    /// When the config file cannot be used, or has no such target, or none at all.
    pub fn targets(args: &StoreArgs, environment: &Environment) -> Result<Vec<String>, CliError> {
        let path = config_path(args, environment).map(|(path, _)| path);
        let Some(file) = &path else {
            return Err(CliError::new(Exit::Usage, "several targets need a config file, and there is none")
                .hint("name one with --config, or make ~/.config/jobdoctor/config.toml: `jobdoctor help config`"));
        };
        let config = Config::read(file)?;
        if config.order.is_empty() {
            let message = format!("config file {} has no targets", file.display());
            return Err(
                CliError::new(Exit::Usage, message).hint("add [target.NAME] with db = \"...\" for each database")
            );
        }
        if let Some(name) = args.target.iter().find(|name| !config.targets.contains_key(*name)) {
            return Err(no_such_target(name, &config, path.as_deref()));
        }
        let is_meant = |name: &String| args.target.is_empty() || args.target.contains(name);
        Ok(config.order.into_iter().filter(is_meant).collect())
    }

    /// The database that they name. Asked once a run: a file with a password may be a pipe, which can be read only once.
    ///
    /// # Errors
    /// When its address cannot be read, or leads to a file that cannot.
    pub fn database(&self) -> Result<Database, CliError> {
        let mut surroundings = self.surroundings.clone();
        surroundings.source = self.address_origin();
        if let Some((path, _)) = &self.password_file {
            surroundings.password = Some((password(path)?, path.clone()));
        }
        let mut address = match &self.address {
            None => None,
            Some(Where::Parts) => Some(Address::of_environment(&surroundings)?),
            Some(Where::Whole(text, source)) => Some(match (text.to_str(), source) {
                (Some(text), AddressSource::DatabaseUrl) => Address::parse_database_url(text, &surroundings)?,
                (Some(text), _) => Address::parse(text, &surroundings)?,
                // A path may hold any bytes; nothing else that is an address may.
                (None, _)
                    if matches!(Address::parse(&text.to_string_lossy(), &surroundings), Ok(Address::Sqlite { .. })) =>
                {
                    let path = text.as_bytes();
                    Address::file(OsStr::from_bytes(path.strip_prefix(b"sqlite:").unwrap_or(path)))
                }
                (None, _) => {
                    return Err(CliError::new(Exit::Usage, "the address is not UTF-8, and no path (it is not shown)"));
                }
            }),
        };
        if let Some(Address::Sqlite { network_files, foreign_keys, .. }) = &mut address {
            *network_files = self.args.network_files || self.target.network_files;
            *foreign_keys = self.foreign_keys();
        }
        Ok(Database { address, targets: self.targets.clone() })
    }

    /// What one command may take. `for_writing` says whether what is looked at is going to be written.
    pub fn limits(&self, command: &str, default: Duration, interrupt: &Interrupt, for_writing: bool) -> Limits {
        Limits {
            deadline: Instant::now() + self.stated_timeout().unwrap_or(default),
            connect: CONNECTING,
            lock: LOCKED,
            application_name: format!("jobdoctor/{} {command}", env!("CARGO_PKG_VERSION")),
            for_writing,
            interrupt: interrupt.clone(),
        }
    }

    /// Whether what is written to a SQLite file enforces foreign keys.
    pub fn foreign_keys(&self) -> bool {
        self.target.foreign_keys.unwrap_or(true)
    }

    /// How long a command may take, if the operator has said so.
    pub fn stated_timeout(&self) -> Option<Duration> {
        self.args.timeout.or(self.target.timeout)
    }

    /// What a snapshot starts from.
    pub fn session<'a>(&'a self, store: &'a dyn Store, limits: &'a Limits) -> Session<'a> {
        Session {
            store,
            catalog: &self.catalog,
            preset: self.preset.as_deref(),
            place: &self.place,
            limits,
            target: self.target_name.as_deref(),
        }
    }
}

fn no_such_target(name: &str, config: &Config, file: Option<&Path>) -> CliError {
    let hint = did_you_mean(name, config.targets.keys().map(String::as_str));
    let file = file.map_or_else(String::new, |path| format!(" {}", path.display()));
    CliError::new(Exit::Usage, format!("there is no target `{name}` in the config file{file}{hint}"))
}

fn where_it_is(args: &StoreArgs, target: &Target, environment: &Environment) -> Option<Where> {
    let flag = args.db.as_deref().map(|text| (text, AddressSource::Flag));
    let variable = environment.get("JOBDOCTOR_DB").map(|text| (OsStr::new(text), AddressSource::Variable));
    let of_target = target.db.as_deref().map(|text| (OsStr::new(text), AddressSource::Target));
    let url = environment.get("DATABASE_URL").map(|text| (OsStr::new(text), AddressSource::DatabaseUrl));
    // A target named by a flag beats a database named by the environment.
    let said = match args.target() {
        Some(_) => [flag, of_target, variable, url],
        None => [flag, variable, of_target, url],
    };
    let by_parts = ["PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE"];
    let whole = said.into_iter().flatten().next().map(|(text, source)| Where::Whole(text.to_owned(), source));
    whole.or_else(|| by_parts.iter().any(|name| environment.get(name).is_some()).then_some(Where::Parts))
}

impl Settings {
    /// How many jobs a run usually moves at most: by the flag, or by the target.
    pub fn warn_above(&self, flag: Option<u64>) -> Option<WarnAbove> {
        match (flag, self.target.warn_above) {
            (Some(jobs), _) => Some(WarnAbove { jobs, origin: "--warn-above".to_owned() }),
            (None, Some(jobs)) => {
                let target = self.target_name.as_deref().unwrap_or("(none)");
                Some(WarnAbove { jobs, origin: format!("warn_above of target {target}") })
            }
            (None, None) => None,
        }
    }
}

/// The first line of a file. Who may read the file is not judged: secrets are mounted into containers for all to read.
fn password(path: &Path) -> Result<Password, CliError> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("password file {} cannot be read", path.display()))
        .or_end(Exit::Config)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Err(CliError::new(Exit::Config, format!("password file {}: its first line is empty", path.display())));
    }
    Ok(Password(line.to_vec()))
}

/// The config file that counts, and what named it. One that is named must be there; the usual places need not be. Never one
/// from the working directory: whoever can write there could point a tool that writes at another database.
fn config_path(args: &StoreArgs, environment: &Environment) -> Option<(PathBuf, &'static str)> {
    if args.no_config {
        return None;
    }
    if let Some(path) = &args.config {
        return Some((path.clone(), "--config"));
    }
    if let Some(path) = environment.get("JOBDOCTOR_CONFIG") {
        return Some((PathBuf::from(path), "JOBDOCTOR_CONFIG"));
    }
    let home = environment.get("HOME").map(|home| Path::new(home).join(".config"));
    let user = environment.get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or(home);
    let usual =
        [user.map(|path| path.join("jobdoctor/config.toml")), Some(PathBuf::from("/etc/jobdoctor/config.toml"))];
    usual.into_iter().flatten().find(|path| !matches!(path.try_exists(), Ok(false))).map(|path| (path, "default"))
}

//! What is in force for one run: flags over environment over config file over defaults.

use super::args::StoreArgs;
use super::config::{Config, Target};
use super::environment::Environment;
use super::error::CliError;
use super::exit::Exit;
use crate::ops::Session;
use crate::spec::{Catalog, Place, did_you_mean};
use crate::store::{Address, Defaults, Interrupt, Limits, Password, Store, open};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long looking may take unless told.
pub const LOOKING: Duration = Duration::from_secs(30);
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
    address: Option<Where>,
    defaults: Defaults,
    timeout: Option<Duration>,
}

/// Where the database's address is said.
enum Where {
    /// In one text: a flag, a variable, the config file.
    Whole(String),
    /// In the parts that libpq's variables give.
    Parts,
}

impl Settings {
    /// Resolves them.
    ///
    /// # Errors
    /// When the config file cannot be used, or names a target that is not there.
    pub fn resolve(args: &StoreArgs, environment: &Environment) -> Result<Settings, CliError> {
        let config = config(args, environment)?;
        let named = args.target.as_deref().or(environment.get("JOBDOCTOR_TARGET"));
        // A target brings settings along, so one that is not named counts only where no other database was.
        let other_db = args.db.is_some() || environment.get("JOBDOCTOR_DB").is_some();
        let only = (config.targets.len() == 1).then(|| config.targets.keys().next()).flatten();
        let assumed = config.default_target.as_ref().or(only).filter(|_| !other_db);
        let target_name = named.map(str::to_owned).or_else(|| assumed.cloned());
        let target = match &target_name {
            None => Target::default(),
            Some(name) => config.targets.get(name).cloned().ok_or_else(|| {
                let hint = did_you_mean(name, config.targets.keys().map(String::as_str));
                CliError::new(Exit::Usage, format!("there is no target `{name}` in the config file{hint}"))
            })?,
        };
        let mut catalog = Catalog::built_in()?;
        for mapping in config.mappings {
            catalog.add(mapping)?;
        }
        // A target named by a flag beats a database named by the environment.
        let (variable, db) = (environment.get("JOBDOCTOR_DB"), target.db.as_deref());
        let given = match args.target {
            Some(_) => [args.db.as_deref(), db, variable],
            None => [args.db.as_deref(), variable, db],
        };
        let address = given.into_iter().flatten().next().or(environment.get("DATABASE_URL")).map(str::to_owned);
        let by_parts = ["PGHOST", "PGDATABASE"].iter().any(|name| environment.get(name).is_some());
        Ok(Settings {
            catalog,
            preset: args.preset.clone().or_else(|| target.preset.clone()),
            place: Place {
                schema: args.schema.clone().or_else(|| target.schema.clone()),
                table: args.table.clone().or_else(|| target.table.clone()),
            },
            address: address.map(Where::Whole).or_else(|| by_parts.then_some(Where::Parts)),
            target_name,
            target,
            defaults: defaults(environment),
            timeout: args.timeout,
        })
    }

    /// The store.
    ///
    /// # Errors
    /// When no database is named, or its address cannot be read.
    pub fn store(&self) -> Result<Box<dyn Store>, CliError> {
        let Some(address) = &self.address else {
            return Err(CliError::new(Exit::Usage, "no database is named").hint(
                "say --db queue.db, --db postgres://user@host/app or --db 'host=... dbname=...'; or set JOBDOCTOR_DB, a \
                 target in the config file, DATABASE_URL, or PGHOST and PGDATABASE",
            ));
        };
        let address = match address {
            Where::Whole(text) => Address::parse(text, &self.defaults)?,
            Where::Parts => Address::from_parts(&self.defaults)?,
        };
        Ok(open(&address))
    }

    /// What one command may take.
    pub fn limits(&self, command: &str, default: Duration, interrupt: &Interrupt) -> Limits {
        Limits {
            deadline: Instant::now() + self.timeout.unwrap_or(default),
            connect: CONNECTING,
            lock: LOCKED,
            application_name: format!("jobdoctor/{} {command}", env!("CARGO_PKG_VERSION")),
            interrupt: interrupt.clone(),
        }
    }

    /// What a look starts from.
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

fn defaults(environment: &Environment) -> Defaults {
    let get = |name| environment.get(name).map(str::to_owned);
    Defaults {
        host: get("PGHOST"),
        port: get("PGPORT"),
        user: get("PGUSER").or_else(|| get("USER")),
        database: get("PGDATABASE"),
        password: get("PGPASSWORD").map(Password),
        sslmode: get("PGSSLMODE"),
    }
}

/// The config file that counts. One that is named must be there; the usual places need not be. Never one from the working
/// directory: whoever can write there could point a tool that writes at another database.
fn config(args: &StoreArgs, environment: &Environment) -> Result<Config, CliError> {
    if args.no_config {
        return Ok(Config::default());
    }
    let named = args.config.clone().or_else(|| environment.get("JOBDOCTOR_CONFIG").map(PathBuf::from));
    if let Some(path) = named {
        return Config::read(&path);
    }
    let home = environment.get("HOME").map(|home| Path::new(home).join(".config"));
    let user = environment.get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or(home);
    let usual =
        [user.map(|path| path.join("jobdoctor/config.toml")), Some(PathBuf::from("/etc/jobdoctor/config.toml"))];
    match usual.into_iter().flatten().find(|path| path.exists()) {
        Some(path) => Config::read(&path),
        None => Ok(Config::default()),
    }
}

//! The settings in force for one run: flags over environment over config file over defaults.

use super::CliError;
use super::args::{ReasonArgs, StoreArgs};
use super::config::Config;
use super::database::{ConfiguredAddress, Database, first, read_password};
use super::environment::{Environment, actor, host};
use super::secret::may_hold_password;
use super::setting::Target;
use crate::history::{Keep, RecordOptions};
use crate::ops::Session;
use crate::output::WarnAbove;
use crate::policy::{Policy, Thresholds, TooLong};
use crate::preset::{Catalog, Place, SpecError, did_you_mean};
use crate::store::{Address, Interrupt, Limits, Store, Surroundings};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long reading may take, unless the operator says.
pub const READING: Duration = Duration::from_secs(30);
/// How long applying may take, unless the operator says.
pub const APPLYING: Duration = Duration::from_secs(600);
const CONNECTING: Duration = Duration::from_secs(10);
/// How long to wait for another session's lock on the database or a table.
const LOCKED: Duration = Duration::from_secs(5);

pub struct Settings {
    pub catalog: Catalog,
    pub preset: Option<String>,
    /// The schema, table and options of the queue.
    pub place: Place,
    pub target_name: Option<String>,
    pub target: Target,
    /// The config file that was read, and what named it.
    pub(super) config: Option<(PathBuf, &'static str)>,
    pub(super) targets: Vec<String>,
    pub(super) args: StoreArgs,
    pub(super) address: Option<ConfiguredAddress>,
    pub(super) target_origin: &'static str,
    /// The directory of the journals, and what named it.
    pub(super) state: Option<(PathBuf, &'static str)>,
    /// The file with the password, and what named it.
    pub(super) password_file: Option<(PathBuf, &'static str)>,
    surroundings: Surroundings,
    interrupt: Interrupt,
}

impl Settings {
    /// The address as a config file may keep it: the whole path of a file, and nothing that may hold a password.
    pub fn plain_address(&self) -> Option<String> {
        let text = self.address.as_ref()?.text.as_ref()?.to_str()?;
        match Address::parse(text, &self.surroundings).ok()? {
            Address::Sqlite { .. } => {
                let path = Path::new(text.strip_prefix("sqlite:").unwrap_or(text));
                path.canonicalize().ok()?.to_str().map(str::to_owned)
            }
            _ => (!may_hold_password(text)).then(|| text.to_owned()),
        }
    }

    pub fn resolve(args: &StoreArgs, environment: &Environment) -> Result<Settings, CliError> {
        environment.refuse_misplaced_passwords()?;
        if args.target.len() > 1 {
            return Err(CliError::usage("this command takes one --target").hint("run it once for each"));
        }
        let path = config_path(args, environment);
        let config =
            path.as_ref().map_or_else(|| Ok(Config::default()), |(path, _)| Config::read(path, environment))?;
        // A target brings its own settings, so one that is not named counts only if no other database is named.
        let other_db = args.db.is_some() || environment.get("JOBDOCTOR_DB").is_some();
        let only = (config.targets.len() == 1).then(|| config.targets.keys().next()).flatten();
        let assumed = |name: Option<&String>| name.filter(|_| !other_db).cloned();
        let (target_name, target_origin) = first([
            (args.target().map(str::to_owned), "--target"),
            (environment.get("JOBDOCTOR_TARGET").map(str::to_owned), "JOBDOCTOR_TARGET"),
            (assumed(config.default_target.as_ref()), "default_target"),
            (assumed(only), "the only one"),
        ])
        .map_or((None, "default"), |(name, origin)| (Some(name), origin));
        let target = match &target_name {
            None => Target::default(),
            Some(name) => match config.targets.get(name) {
                Some(target) => target.clone(),
                None => return Err(no_such_target(name, &config, path.as_ref().map(|(path, _)| path.as_path()))),
            },
        };
        let targets: Vec<String> = config.targets.keys().cloned().collect();
        let catalog = config.catalog();
        let address = ConfiguredAddress::find(args, &target, environment);
        let is_of_target = address.as_ref().is_some_and(|address| address.origin == ConfiguredAddress::BY_TARGET);
        let password_file = first([
            (args.password_file.clone(), "--password-file"),
            (environment.get("JOBDOCTOR_PASSWORD_FILE").map(PathBuf::from), "JOBDOCTOR_PASSWORD_FILE"),
            // A target's password is only ever used for that target's `db`.
            (target.password_file.as_ref().filter(|_| is_of_target).map(PathBuf::from), "password_file"),
        ]);
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
            state: environment.state_directory(),
            target_name,
            target,
            surroundings: environment.surroundings(),
            interrupt: environment.interrupt.clone(),
        })
    }

    /// The named targets, or all, each once and in the order of the config file; and what is wrong with mappings.
    pub fn targets(args: &StoreArgs, environment: &Environment) -> Result<(Vec<String>, Vec<SpecError>), CliError> {
        environment.refuse_misplaced_passwords()?;
        let path = config_path(args, environment).map(|(path, _)| path);
        let Some(file) = &path else {
            return Err(CliError::usage("several targets need a config file, but there is none").hint(
                "name one with --config, or create ~/.config/jobdoctor/config.toml: see `jobdoctor help config`",
            ));
        };
        let config = Config::read(file, environment)?;
        if config.order.is_empty() {
            let message = format!("config file {} has no targets", file.display());
            return Err(CliError::usage(message).hint("add [target.NAME] with db = \"...\" for each database"));
        }
        if let Some(name) = args.target.iter().find(|name| !config.targets.contains_key(*name)) {
            return Err(no_such_target(name, &config, path.as_deref()));
        }
        let is_meant = |name: &String| args.target.is_empty() || args.target.contains(name);
        let broken = config.broken.into_iter().map(|(_, error)| error).collect();
        Ok((config.order.into_iter().filter(is_meant).collect(), broken))
    }

    /// The database that the settings name. Call it once a run: a password file may be a pipe, which is read only once.
    pub fn database(&self) -> Result<Database, CliError> {
        let mut surroundings = self.surroundings.clone();
        surroundings.source = self.address_origin();
        if let Some((path, _)) = &self.password_file {
            surroundings.password = Some((read_password(path, &self.interrupt)?, path.clone()));
        }
        let mut address = self.address.as_ref().map(|address| address.read(&surroundings)).transpose()?;
        if let Some(Address::Sqlite { network_files, second_name, foreign_keys, .. }) = &mut address {
            *network_files = self.args.network_files || self.target.network_files;
            *second_name = self.args.second_name || self.target.second_name;
            *foreign_keys = self.target.foreign_keys.unwrap_or(true);
        }
        Ok(Database { address, targets: self.targets.clone() })
    }

    /// What the database is called that the settings name, without its secrets; `None` if there is none.
    pub fn database_label(&self) -> Option<String> {
        self.address.as_ref()?.read(&self.surroundings).ok().map(|address| address.label())
    }

    pub fn address_origin(&self) -> String {
        match &self.address {
            None => "default".to_owned(),
            Some(address) if address.origin == ConfiguredAddress::BY_TARGET => self.of_target(),
            Some(address) => address.origin.to_owned(),
        }
    }

    /// The target as the origin of a setting.
    pub(super) fn of_target(&self) -> String {
        let target = self.target_name.as_deref().unwrap_or_default();
        match &self.config {
            Some((file, _)) => format!("target {target} of {}", file.display()),
            None => format!("target {target}"),
        }
    }

    /// The limits of one command; `for_writing` chooses a writable server.
    pub fn limits(&self, command: &str, default: Duration, interrupt: &Interrupt, for_writing: bool) -> Limits {
        Limits {
            deadline: Instant::now() + self.stated_timeout().unwrap_or(default),
            connect: CONNECTING,
            lock: LOCKED,
            application_name: format!("jobdoctor/{} {command}", env!("CARGO_PKG_VERSION")),
            for_writing,
            inspects: matches!(command, "check" | "history"),
            interrupt: interrupt.clone(),
        }
    }

    /// The named preset, if its times have no zone of their own and the operator declares none.
    pub fn preset_without_zone(&self) -> Option<&str> {
        self.preset.as_deref().filter(|preset| self.lacks_zone(preset))
    }

    /// True if a preset has an option for the zone of its times, and the operator has not set it.
    pub fn lacks_zone(&self, preset: &str) -> bool {
        let preset = self.catalog.find(preset).ok();
        preset.into_iter().flat_map(|preset| &preset.options).any(|option| option.name == "time_zone")
            && !self.place.options.contains_key("time_zone")
    }

    pub fn stated_timeout(&self) -> Option<Duration> {
        self.args.timeout.or(self.target.timeout)
    }

    pub fn session<'a>(&'a self, store: &'a dyn Store, limits: &'a Limits) -> Session<'a> {
        Session {
            store,
            catalog: &self.catalog,
            preset: self.preset.as_deref(),
            place: &self.place,
            limits,
            target: self.target_name.as_deref(),
            waits: self.too_long().waits(),
        }
    }

    /// The policy of the target; `--older` overrides its thresholds.
    pub fn policy(&self, older: Option<Duration>) -> Policy {
        let target = &self.target;
        let thresholds = Thresholds {
            target: self.target_name.clone().unwrap_or_default(),
            entries: target.thresholds.clone(),
            max_runtime: target.max_runtime,
            overruled: false,
        };
        let policy = Policy { older: target.older, thresholds, max_stalls: target.max_stalls, ..Policy::default() };
        let policy = Policy { oldest_due: target.oldest_due, ..policy };
        let actions = target.rules.iter().filter_map(|(rule, action)| Some((*rule, (*action)?))).collect();
        let act_on = target.rules.iter().map(|(rule, _)| *rule).collect();
        Policy { act_on, actions, too_long: self.too_long(), ..policy }.with_older(older)
    }

    pub fn too_long(&self) -> TooLong {
        TooLong { target: self.target_name.clone().unwrap_or_default(), entries: self.target.too_long.clone() }
    }

    /// The number of moved jobs above which a run warns, by the flag or the target.
    pub fn warn_above(&self, flag: Option<u64>) -> Option<WarnAbove> {
        let by_target = || {
            let origin = format!("warn_above of target {}", self.target_name.as_deref()?);
            Some(WarnAbove { jobs: self.target.warn_above?, origin })
        };
        flag.map(|jobs| WarnAbove { jobs, origin: "--warn-above".to_owned() }).or_else(by_target)
    }

    pub fn record(&self, command: &'static str, reason: &ReasonArgs, environment: &Environment) -> RecordOptions {
        RecordOptions {
            command,
            actor: actor(),
            host: host(),
            reason: reason.reason.clone(),
            external_id: reason.run_id.clone(),
            place: self.place.clone(),
            keep: self.target.journal.unwrap_or(Keep::IfPossible),
            directory: environment.journals(),
        }
    }
}

fn no_such_target(name: &str, config: &Config, file: Option<&Path>) -> CliError {
    let hint = did_you_mean(name, config.targets.keys().map(String::as_str));
    let file = file.map_or_else(String::new, |path| format!(" {}", path.display()));
    let error = CliError::usage(format!("there is no target `{name}` in the config file{file}{hint}"));
    match config.order.join(", ") {
        none if none.is_empty() => error.hint("add [target.NAME] with db = \"...\", see `jobdoctor help config`"),
        names => error.hint(format!("targets: {names}")),
    }
}

/// The config file that counts, and what named it. A named file must exist; the default ones need not. Never a file in
/// the working directory: a user who can write there could make jobdoctor write to another database.
pub(super) fn config_path(args: &StoreArgs, environment: &Environment) -> Option<(PathBuf, &'static str)> {
    if args.no_config {
        return None;
    }
    first([
        (args.config.clone(), "--config"),
        (environment.get("JOBDOCTOR_CONFIG").map(PathBuf::from), "JOBDOCTOR_CONFIG"),
        (config_places(environment).into_iter().find(|path| !matches!(path.try_exists(), Ok(false))), "default"),
    ])
}

/// The default places of the config file, in order.
pub(super) fn config_places(environment: &Environment) -> Vec<PathBuf> {
    let home = environment.get("HOME").map(|home| Path::new(home).join(".config"));
    let user = environment.get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or(home);
    let user = user.map(|path| path.join("jobdoctor/config.toml"));
    user.into_iter().chain([PathBuf::from("/etc/jobdoctor/config.toml")]).collect()
}

pub(super) fn config_places_in_words(environment: &Environment) -> String {
    let places: Vec<String> = config_places(environment).iter().map(|place| place.display().to_string()).collect();
    places.join(", ")
}

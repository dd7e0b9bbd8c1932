//! The config file: targets, and mappings for home-made tables.

use super::args::{parse_between_snapshots, parse_up_to_1h, parse_up_to_7d};
use super::environment::Environment;
use super::error::{CliError, OrEnd};
use super::exit::Exit;
use super::input::{LONGEST_FILE, PATIENCE, Source};
use super::rules::{RuleAction, duration, duration_by, rules, thresholds, too_long};
use super::secret::may_hold_password;
use super::trusted_file::{Stranger, find_trusted};
use crate::history::Keep;
use crate::policy::{StateLimit, Threshold};
use crate::preset::{Field, Fields, Node, Preset, SpecError, Value, did_you_mean};
use anyhow::Context;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// A config file, read and checked.
#[derive(Debug, Default)]
pub struct Config {
    /// The target when none is named.
    pub default_target: Option<String>,
    pub targets: BTreeMap<String, Target>,
    /// Their names, in the order of the file.
    pub order: Vec<String>,
    pub mappings: Vec<Preset>,
    /// Mappings that cannot be read, by name: an error for the targets that use them.
    pub broken: Vec<(String, SpecError)>,
}

/// A named store with its settings: `[target.NAME]`.
#[derive(Debug, Default, Clone)]
pub struct Target {
    /// The database's address.
    pub db: Option<String>,
    /// The preset or mapping.
    pub preset: Option<String>,
    /// The schema of its tables.
    pub schema: Option<String>,
    /// Another name for its jobs' table.
    pub table: Option<String>,
    /// What only the operator knows about the queue.
    pub options: Vec<(String, String)>,
    /// How long a claim must be silent.
    pub older: Option<Duration>,
    /// How long a job may run, where its row does not say.
    pub max_runtime: Option<Duration>,
    /// Per-queue and per-kind values of `older` and `max_runtime`.
    pub thresholds: Vec<Threshold>,
    /// The time between the two snapshots that confirm a plan.
    pub confirm_after: Option<Duration>,
    /// Rules about trouble to act on.
    pub rules: Vec<RuleAction>,
    /// Limits for states: how long a job may be in one.
    pub too_long: Vec<StateLimit>,
    /// True if `--apply` is refused.
    pub read_only: bool,
    /// False overrides the brake.
    pub brake: Option<bool>,
    /// The most jobs one run may move.
    pub max_jobs: Option<u64>,
    /// A run that moves more jobs than this warns.
    pub warn_above: Option<u64>,
    /// The least time between two sweeps.
    pub min_interval: Option<Duration>,
    /// How long a sweep waits for the sweep lock.
    pub lock_wait: Option<Duration>,
    /// How much later than now requeued jobs may run.
    pub delay: Option<Duration>,
    /// The window after the delay over which requeued jobs are spread.
    pub jitter: Option<Duration>,
    /// A job that was lost so often already is failed.
    pub max_stalls: Option<u32>,
    /// True for `if_refused = "fail"`: a job is failed whose requeue a unique key refuses.
    pub fails_refused: bool,
    /// How long a command may take.
    pub timeout: Option<Duration>,
    /// A file with the password.
    pub password_file: Option<String>,
    /// True if jobdoctor may write to a SQLite file on a network file system.
    pub network_files: bool,
    pub second_name: bool,
    /// False does not enforce the foreign keys of a SQLite file, like the application's own connections.
    pub foreign_keys: Option<bool>,
    /// Whether runs keep a journal; `None` is the default: where they can.
    pub journal: Option<Keep>,
}

impl Config {
    /// Reads a config file.
    ///
    /// # Errors
    /// When it cannot be read, others may write to it, it is not TOML, or has an unknown key or value; with key, line and
    /// suggestion.
    pub fn read(path: &Path, environment: &Environment) -> Result<Config, CliError> {
        let text = match environment.config.get() {
            Some(text) => text,
            None => {
                let exits = (Exit::Config, Exit::Config);
                let source =
                    Source { what: "config file", flag: "--config", path, most: LONGEST_FILE, identity: None, exits };
                let place = if source.is_stdin() { Path::new("/dev/stdin") } else { path };
                let found = find_trusted(place).with_context(|| unreadable(path)).or_end(Exit::Config)?;
                let found = found.map_err(|Stranger { who, fix }| {
                    let message = format!("{} was not used: its SQL runs with your rights, and {who}", source.name());
                    CliError::new(Exit::Config, message).hint(fix)
                })?;
                let source = Source { identity: Some(found), ..source };
                let text = source.read(&environment.interrupt, PATIENCE)?.text;
                environment.config.get_or_init(|| text)
            }
        };
        let config = Config::parse(&format!("config file {}", path.display()), text)?;
        let holds_password = config.targets.values().filter_map(|target| target.db.as_deref()).any(may_hold_password);
        if holds_password {
            must_be_private(path)?;
        }
        Ok(config)
    }

    /// Reads the text of a config file.
    ///
    /// # Errors
    /// See [`Config::read`]. An error in a mapping is kept for those who use it.
    pub fn parse(name: &str, text: &str) -> Result<Config, SpecError> {
        let mut root = Fields::of(name, "", Node::parse(name, text)?)?;
        let default_target = root.take("default_target").map(Field::written).transpose()?;
        let mut config = Config::default();
        if let Some(field) = root.take("target") {
            for (name, field) in field.table()?.rest() {
                config.targets.insert(name.clone(), target(field.table()?)?);
                config.order.push(name);
            }
        }
        if let Some(field) = root.take("mapping") {
            for (mapping, field) in field.table()?.rest() {
                let document = format!("{name}, mapping {mapping}");
                match Preset::of(&document, &mapping, field.into_node()) {
                    Ok(preset) => config.mappings.push(preset),
                    Err(error) => config.broken.push((mapping, error)),
                }
            }
        }
        root.finish()?;
        if let Some(written) = default_target {
            if !config.targets.contains_key(&written.text) {
                let hint = did_you_mean(&written.text, config.targets.keys().map(String::as_str));
                return Err(written.error(format!("there is no target `{}`{hint}", written.text)));
            }
            config.default_target = Some(written.text);
        }
        Ok(config)
    }
}

/// Checks the text of a config file.
///
/// # Errors
/// The program's message, which calls the file by that name and repeats no password.
pub fn check(name: &str, text: &str) -> Result<(), String> {
    let config = Config::parse(name, text);
    let checked = config.and_then(|config| config.broken.into_iter().next().map_or(Ok(()), |(_, error)| Err(error)));
    checked.map_err(|error| CliError::from(error).document().message)
}

fn unreadable(path: &Path) -> String {
    format!("config file {} cannot be read", path.display())
}

/// Refuses a password that other users can read. The rule is libpq's for keys: ours alone; or root's, and then its group may read.
fn must_be_private(path: &Path) -> Result<(), CliError> {
    let metadata = std::fs::metadata(path).with_context(|| unreadable(path)).or_end(Exit::Config)?;
    let (mode, open) = (metadata.mode() & 0o777, if metadata.uid() == 0 { 0o037 } else { 0o077 });
    if mode & open == 0 {
        return Ok(());
    }
    let message =
        format!("config file {} holds a password, and its mode {mode:04o} lets others read it", path.display());
    Err(CliError::new(Exit::Config, message)
        .hint(format!("chmod 600 {}; or leave the password out: ~/.pgpass, password_file = \"...\"", path.display())))
}

fn stalls(fields: &mut Fields<'_>) -> Result<Option<u32>, SpecError> {
    let Some(field) = fields.take("max_stalls") else { return Ok(None) };
    let wrong = field.error(format!("must be a number up to {}", u32::MAX));
    u32::try_from(field.count()?).map(Some).map_err(|_| wrong)
}

/// A value of `options`; the preset checks it.
fn option((name, field): (String, Field<'_>)) -> Result<(String, String), SpecError> {
    let value = match field.value() {
        Value::Integer(number) => number.to_string(),
        _ => field.text()?,
    };
    Ok((name, value))
}

/// The words of `journal`.
pub(super) const KEEP: [(&str, Keep); 3] = [("on", Keep::IfPossible), ("off", Keep::Off), ("required", Keep::Required)];

fn target(mut fields: Fields<'_>) -> Result<Target, SpecError> {
    let target = Target {
        db: fields.text("db")?,
        preset: fields.text("preset")?,
        schema: fields.text("schema")?,
        table: fields.text("table")?,
        options: match fields.take("options") {
            Some(field) => field.table()?.rest().into_iter().map(option).collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        older: duration(&mut fields, "older")?,
        max_runtime: duration(&mut fields, "max_runtime")?,
        thresholds: thresholds(fields.take("threshold"))?,
        confirm_after: duration_by(&mut fields, "confirm_after", parse_between_snapshots)?,
        rules: rules(fields.take("rules"))?,
        too_long: too_long(fields.take("too_long"))?,
        read_only: fields.take("read_only").map(Field::boolean).transpose()?.unwrap_or(false),
        brake: fields.take("brake").map(Field::boolean).transpose()?,
        max_jobs: fields.take("max_jobs").map(Field::count).transpose()?,
        warn_above: fields.take("warn_above").map(Field::count).transpose()?,
        min_interval: duration_by(&mut fields, "min_interval", parse_up_to_7d)?,
        lock_wait: duration_by(&mut fields, "lock_wait", parse_up_to_1h)?,
        delay: duration_by(&mut fields, "delay", parse_up_to_7d)?,
        jitter: duration_by(&mut fields, "jitter", parse_up_to_7d)?,
        max_stalls: stalls(&mut fields)?,
        fails_refused: fields.take("if_refused").map(|field| field.word(&[("fail", ())])).transpose()?.is_some(),
        timeout: duration(&mut fields, "timeout")?,
        password_file: fields.text("password_file")?,
        network_files: fields.take("network_files").map(Field::boolean).transpose()?.unwrap_or(false),
        second_name: fields.take("second_name").map(Field::boolean).transpose()?.unwrap_or(false),
        foreign_keys: fields.take("foreign_keys").map(Field::boolean).transpose()?,
        journal: fields.take("journal").map(|field| field.word(&KEEP)).transpose()?,
    };
    fields.finish()?;
    Ok(target)
}

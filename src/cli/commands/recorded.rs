//! The recorded run that a command line names, and its queue.

use crate::cli::args::StoreArgs;
use crate::cli::environment::actor;
use crate::cli::next_command::quoted;
use crate::cli::{CliError, Context, READING, Settings};
use crate::model::{RunHead, Target};
use crate::ops::Records;
use crate::output::HistoryRun;
use crate::store::file_identity;
use clap::builder::NonEmptyStringValueParser;
use std::fs::canonicalize;
use std::path::Path;

/// In place of a run's id: the latest one.
pub(super) const LAST: &str = "last";

/// Whose run `last` is.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ByArgs {
    /// With `last`: the latest run of this user [default: yours]
    #[arg(long, value_name = "USER", requires = "run", value_parser = NonEmptyStringValueParser::new())]
    by: Option<String>,
}

impl ByArgs {
    /// The run as it is named, or the id of the latest one.
    pub(super) fn run_id(&self, run: &str, args: &StoreArgs, context: &Context) -> Result<String, CliError> {
        match &self.by {
            _ if run == LAST => Ok(self.latest(args, context)?.head.run_id),
            None => Ok(run.to_owned()),
            Some(_) => Err(CliError::usage("--by is about the latest run, and this one is named")
                .hint("leave it out, or say `last`")),
        }
    }

    /// The latest run that moved a job of the queue that the settings name, or of any queue where they name none.
    pub(super) fn latest(&self, args: &StoreArgs, context: &Context) -> Result<HistoryRun, CliError> {
        let Some(by) = self.by.clone().or_else(|| actor().name()) else {
            return Err(CliError::usage("this user has no name on this host").hint("say whose run: --by USER"));
        };
        let settings = Settings::resolve(args, &context.environment)?;
        let label = settings.database_label();
        let is_meant = |target: &Target| is_of(target, &settings, label.as_deref());
        // A queue that is not recognised has no ledger that could be read; the command itself says what is wrong.
        let mut snapshot = label.as_ref().and_then(|_| {
            let store = settings.database().and_then(|database| database.store()).ok()?;
            let limits = settings.limits("history", READING, &context.interrupt, false);
            settings.session(store.as_ref(), &limits).snapshot().ok()
        });
        let journals = context.environment.journals();
        let mut records = Records { journals: journals.as_ref(), snapshot: snapshot.as_mut() };
        Ok(records.latest(&by, &is_meant)?)
    }
}

/// True if a run was on the queue that the settings name, as far as they name one.
pub(in crate::cli) fn is_of(target: &Target, settings: &Settings, label: Option<&str>) -> bool {
    let (schema, table) = target.table.rsplit_once('.').unwrap_or(("", &target.table));
    let fits = |named: Option<&String>, of: &str| named.is_none_or(|named| named == of);
    label.is_none_or(|label| target.is_recorded_of(&called(label, target.is_file())))
        && fits(settings.preset.as_ref(), &target.preset)
        && target.name.as_deref().is_none_or(|name| fits(settings.target_name.as_ref(), name))
        && fits(settings.place.schema.as_ref(), schema)
        && (fits(settings.place.table.as_ref(), table) || fits(settings.place.table.as_ref(), &target.table))
}

/// Adds to the settings where the run says the queue is, if it was on this database; this command line counts first.
pub fn as_in_run(settings: Settings, args: &StoreArgs, run: &str, context: &Context) -> Result<Settings, CliError> {
    let journals = context.environment.journals();
    let head = Records { journals: journals.as_ref(), snapshot: None }.recorded_head(run);
    match head.filter(|head| settings.database_label().is_some_and(|label| is_at(&head.target, &label))) {
        Some(head) => Settings::resolve(&with_place(args, &head), &context.environment),
        None => Ok(settings),
    }
}

fn with_place(args: &StoreArgs, head: &RunHead) -> StoreArgs {
    let RunHead { target, place, .. } = head.clone();
    StoreArgs {
        preset: args.preset.clone().or(Some(target.preset)),
        schema: args.schema.clone().or(place.schema),
        table: args.table.clone().or(place.table),
        options: place.options.into_iter().chain(args.options.iter().cloned()).collect(),
        ..args.clone()
    }
}

/// The settings for the queue of a run. A command line that names a database decides which it is, and so does a database at
/// hand that is the run's. Otherwise the journal of the run decides, by the target or by the address that it records.
pub(super) fn settings_of_run(args: &StoreArgs, run: &str, context: &Context) -> Result<Settings, CliError> {
    let settings = Settings::resolve(args, &context.environment)?;
    let journals = context.environment.journals();
    let at_hand = settings.database_label();
    let mut records = Records { journals: journals.as_ref(), snapshot: None };
    let Some(head) = records.recorded_head(run) else {
        // No ledger can know the run either.
        return if at_hand.is_none() { Err(records.unknown(run).into()) } else { Ok(settings) };
    };
    let is_named = args.db.is_some() || args.target().is_some();
    if is_named || at_hand.as_deref().is_some_and(|label| is_at(&head.target, label)) {
        return as_in_run(settings, args, run, context);
    }
    let (args, target) = (with_place(args, &head), head.target);
    let (address, is_safe) = address(&target);
    let args = match target.name.as_ref().filter(|name| settings.targets.contains(name)) {
        Some(name) => StoreArgs { target: vec![name.clone()], ..args },
        None if is_safe && (!target.is_file() || at_hand.is_none() || Path::new(&address).exists()) => {
            StoreArgs { db: Some(address.into()), ..args }
        }
        // The plan will say on which database the run was.
        None if at_hand.is_some() => return Ok(settings),
        None => {
            let message = format!(
                "run {run} was on {}, and the journal does not record how that connection was secured",
                target.database
            );
            let next = context.next_command("undo", &["--db", &quoted(&address)]);
            return Err(CliError::usage(message).hint(format!("name it, with its sslmode if it has one: {next}")));
        }
    };
    context.ui.note(&format!("run {run} was on {}", target.database));
    Settings::resolve(&args, &context.environment)
}

/// True if the run was on the database that is called so.
fn is_at(target: &Target, label: &str) -> bool {
    target.is_on_database_of(&called(label, target.is_file()))
}

fn called(label: &str, is_file: bool) -> Target {
    let path = canonicalize(label).ok().filter(|_| is_file);
    Target {
        database: label.to_owned(),
        file: path.as_deref().and_then(file_identity),
        identity: path.map(|path| path.display().to_string()),
        ..Target::default()
    }
}

/// The address that a journal records, as `--db` takes it, and whether it is local, so that no other server can answer.
fn address(target: &Target) -> (String, bool) {
    let Target { database, identity, .. } = target;
    let label = database.rsplit_once('@').and_then(|(user, place)| Some((user, place.rsplit_once('/')?)));
    let Some((user, (server, name))) = label.filter(|_| !target.is_file()) else {
        return (identity.clone().unwrap_or_else(|| database.clone()), true);
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) if is_port(port) => (host, Some(port)),
        _ => (server, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let parts = [("host", Some(host)), ("port", port), ("user", Some(user)), ("dbname", Some(name))];
    let part = |(key, value): (&str, Option<&str>)| Some(format!("{key}={}", libpq_value(value?)));
    (parts.into_iter().filter_map(part).collect::<Vec<_>>().join(" "), host.starts_with('/') || host == "localhost")
}

fn libpq_value(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let of = |engine: &str, database: &str, identity: Option<&str>| {
            address(&Target {
                engine: engine.to_owned(),
                database: database.to_owned(),
                identity: identity.map(str::to_owned),
                ..Target::default()
            })
        };
        let expected = |text: &str, is_safe| (text.to_owned(), is_safe);
        assert_eq!(of("sqlite", "q.db", Some("/srv/q@1/2.db")), expected("/srv/q@1/2.db", true));
        assert_eq!(
            of("postgres", "app@db.internal/app", None),
            expected("host=db.internal user=app dbname=app", false)
        );
        assert_eq!(
            of("postgres", "a@b@[::1]:6432/app", None),
            expected("host=::1 port=6432 user='a@b' dbname=app", false)
        );
        let socket = "host=/run/pg port=5433 user=app dbname='o\\'clock'";
        assert_eq!(of("postgres", "app@/run/pg:5433/o'clock", None), expected(socket, true));
    }
}

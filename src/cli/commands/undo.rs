use super::pass::{Options, Pass};
use crate::cli::args::{ActArgs, EvidenceArgs, FastArgs, ListArgs, ReasonArgs, StoreArgs};
use crate::cli::next_command::quoted;
use crate::cli::settings::Settings;
use crate::cli::{CliError, Context, Exit};
use crate::model::Target;
use crate::ops::{OddList, PlanSource, Records};
use crate::output::Reclaim;
use crate::output::format::Times;
use crate::policy::Policy;
use clap::builder::NonEmptyStringValueParser;
use std::fs::canonicalize;
use std::path::Path;

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor undo 20261121181057-a1b2c3                          the plan, on the database of that run: writes nothing
  jobdoctor undo 20261121181057-a1b2c3 --db queue.db            the same, on a database that the journal cannot name
  jobdoctor undo 20261121181057-a1b2c3 --db queue.db --apply    do it")]
pub struct Args {
    /// The run, or as much of the beginning of its id as no other run shares; `jobdoctor history` lists them
    #[arg(value_name = "RUN", value_parser = NonEmptyStringValueParser::new())]
    run: String,
    /// Do it: without this, nothing is written
    #[arg(long, help_heading = "What to do")]
    apply: bool,
    /// Write nothing, the default; wins over --apply
    #[arg(short = 'n', long, help_heading = "What to do")]
    dry_run: bool,
    /// Refuse to revert more jobs than this
    #[arg(long, value_name = "N", help_heading = "What to do")]
    max_jobs: Option<u64>,
    #[command(flatten)]
    fast: FastArgs,
    #[command(flatten)]
    reason: ReasonArgs,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let act = ActArgs {
        apply: args.apply && !args.dry_run,
        max_jobs: args.max_jobs,
        fast: args.fast.clone(),
        reason: args.reason.clone(),
        ..ActArgs::default()
    };
    args.list.check(&Reclaim::titles(act.apply, true, Times::default()))?;
    let settings = settings_of_run(&args.list.store, &args.run, context)?;
    let source = PlanSource::Run(args.run.clone(), context.environment.journals(), 0);
    let evidence = EvidenceArgs::default();
    let pass = Pass::open(context, &settings, Options::of_undo(&act), (source, &evidence, &args.list.output))?;
    let snapshot = pass.snapshot()?;
    context.report_queue(&snapshot);
    let run_id = pass.run_id(&snapshot);
    let policy = Policy::default();
    let plan = pass.plan(snapshot, &policy, &OddList::default())?;
    let apply = pass.apply_options(&plan, run_id, None, None);
    let carried = pass.carry_out(plan, &policy, apply)?;
    pass.end(carried, (None, false), None, None)
}

/// The settings for the database of a run. A command line that names a database decides, and so does a database at hand
/// that is the run's. Otherwise the journal of the run decides, by the target or by the address that it records.
fn settings_of_run(args: &StoreArgs, run: &str, context: &Context) -> Result<Settings, CliError> {
    let settings = Settings::resolve(args, &context.environment)?;
    let journals = context.environment.journals();
    let recorded = || Records { journals: journals.as_ref(), snapshot: None }.recorded_target(run);
    let Some(target) = recorded().filter(|_| args.db.is_none() && args.target().is_none()) else { return Ok(settings) };
    let at_hand = settings.database_label();
    if at_hand.as_deref().is_some_and(|label| is_at(&target, label)) {
        return Ok(settings);
    }
    let (address, is_safe) = address(&target);
    let args = match target.name.as_ref().filter(|name| settings.targets.contains(name)) {
        Some(name) => StoreArgs { target: vec![name.clone()], ..args.clone() },
        None if is_safe && (!target.is_file() || at_hand.is_none() || Path::new(&address).exists()) => {
            let preset = args.preset.clone().or(Some(target.preset));
            StoreArgs { db: Some(address.into()), preset, ..args.clone() }
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
    let file = canonicalize(label).ok().filter(|_| target.is_file());
    let identity = file.map(|path| path.display().to_string());
    target.is_on_database_of(&Target { database: label.to_owned(), identity, ..Target::default() })
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

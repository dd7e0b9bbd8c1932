use crate::cli::args::{ClaimArgs, OlderArgs, StoreArgs, TargetsArgs, text_or_json};
use crate::cli::monitor::plugin;
use crate::cli::targets::Several;
use crate::cli::{CliError, Context, Exit, READING, Settings};
use crate::model::parse_duration;
use crate::ops;
use crate::output::Health;
use crate::output::format::{Format, json};
use crate::policy::{Alerts, Measure, Range, State};
use crate::store::Address;
use clap::ValueEnum;
use std::fs::File;
use std::io::Read;

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor health --db queue.db                                    any stuck claim is a warning
  jobdoctor health --db queue.db -w 5 -c 50                         more than 5, more than 50
  jobdoctor health --target shop -w stuck=5,silence=10m -c share=20
  jobdoctor health --target shop -w oldest_due=5m,due=1000
  jobdoctor health --target shop --queue mail -c '~:0' -o json
  jobdoctor health --all-targets                                    one line about all, then each")]
pub struct Args {
    #[command(flatten)]
    alerts: AlertArgs,
    /// The state if the database cannot be reached or does not answer in time
    #[arg(long, value_name = "STATE", value_enum, default_value = "critical", help_heading = "When to raise an alert")]
    unreachable: Unreachable,
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    claims: ClaimArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    /// Format of the report
    #[arg(short, long, value_name = "FORMAT", default_value = "plugin", hide_default_value = true)]
    #[arg(value_parser = text_or_json("plugin", "A status line with performance data, then more lines"))]
    #[arg(help_heading = "Output")]
    output: Format,
    /// Short for --output json
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    json: bool,
}

/// The state of a database out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unreachable {
    /// No worker can claim a job while it is away
    Critical,
    /// Another check watches the database
    Unknown,
}

impl Args {
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("health", &mut self.store, &mut self.targets)
    }

    /// The state of a queue that could not be read.
    fn state_of(&self, error: &CliError, context: &Context) -> State {
        match (error.exit, self.unreachable) {
            (Exit::NoInput, _) if self.names_something_else(context) => State::Unknown,
            (Exit::Unavailable | Exit::NoInput | Exit::TryAgain, Unreachable::Critical) => State::Critical,
            _ => State::Unknown,
        }
    }

    /// True if the file never was a database, so none went away: even an empty or damaged one begins like a database.
    fn names_something_else(&self, context: &Context) -> bool {
        const MAGIC: &[u8] = b"SQLite format 3\0";
        let database = Settings::resolve(&self.store, &context.environment).and_then(|settings| settings.database());
        let Some(Address::Sqlite { path, .. }) = database.ok().and_then(|database| database.address) else {
            return false;
        };
        let mut beginning = Vec::new();
        let mut read = || File::open(&path)?.take(MAGIC.len() as u64).read_to_end(&mut beginning);
        path.exists() && !(path.is_file() && read().is_ok() && MAGIC.starts_with(&beginning))
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let (state, document) = snapshot(args, context).unwrap_or_else(|error| {
        let state = args.state_of(&error, context);
        (state, plugin::unreadable(state, &error))
    });
    match context.ui.is_for_machines() {
        true => context.ui.report(|out| json(&document, out))?,
        false => context.ui.report_plugin(plugin::plugin(&document, state))?,
    }
    Ok(Exit::Health(state))
}

fn snapshot(args: &Args, context: &Context) -> Result<(State, Health), CliError> {
    let alerts = args.alerts.alerts().map_err(CliError::usage)?;
    let selection = args.claims.selection()?;
    let settings = Settings::resolve(&args.store, &context.environment)?;
    // The status line must be the first line of both streams, so nothing is said about the setup.
    let store = settings.database()?.store()?;
    let limits = settings.limits("health", READING, &context.interrupt, false);
    let mut snapshot = settings.session(store.as_ref(), &limits).snapshot()?;
    Ok(ops::health(&mut snapshot, &selection, &settings.policy(args.older.older), &alerts)?)
}

/// Ranges that raise an alert.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "When to raise an alert")]
struct AlertArgs {
    /// Warn if a value is outside its range: RANGE for the number of stuck claims, or any of stuck=RANGE, silence=RANGE
    /// (longest silence of a stuck claim, in seconds or as 10m), share=RANGE (percentage of claims that are stuck),
    /// unknown=RANGE (claims that cannot be judged), due=RANGE (jobs that a worker could take now) and oldest_due=RANGE
    /// (how long the oldest of them waits), with commas in between or repeated. RANGE is [@][START:]END: 10 is
    /// 0 to 10, 10: is 10 or more, ~:10 is 10 or less, @ inverts it [default: 0,unknown=0; unknown=0 also stays with
    /// other ranges]
    #[arg(short, long, value_name = "RANGES", value_parser = parse_ranges, allow_hyphen_values = true)]
    warning: Vec<Ranges>,
    /// Report critical if a value is outside its range, written as for --warning
    #[arg(short, long, value_name = "RANGES", value_parser = parse_ranges, allow_hyphen_values = true)]
    critical: Vec<Ranges>,
}

/// Ranges, each with what it is of.
#[derive(Debug, Clone, PartialEq)]
struct Ranges(Vec<(Measure, Range)>);

impl AlertArgs {
    /// The ranges. Unless a warning range about stuck or unknown claims says otherwise, none may be either.
    fn alerts(&self) -> Result<Alerts, String> {
        let all = |ranges: &[Ranges]| ranges.iter().flat_map(|ranges| ranges.0.clone()).collect::<Vec<_>>();
        let mut alerts = Alerts { warning: all(&self.warning), critical: all(&self.critical) };
        let says = |about: &[Measure]| alerts.warning.iter().any(|(of, _)| about.contains(of));
        let of_stuck = says(&[Measure::Stuck, Measure::Silence, Measure::Share]);
        let defaults = [("stuck=0", of_stuck), ("unknown=0", says(&[Measure::Unknown]))];
        for (text, _) in defaults.into_iter().filter(|(_, is_said)| !is_said) {
            alerts.warning.extend(parse_ranges(text)?.0);
        }
        Ok(alerts)
    }
}

fn parse_ranges(text: &str) -> Result<Ranges, String> {
    text.split(',').map(|part| range(part.trim())).collect::<Result<_, _>>().map(Ranges)
}

fn range(text: &str) -> Result<(Measure, Range), String> {
    let (name, range) = text.split_once('=').unwrap_or((Measure::Stuck.name(), text));
    let measure = Measure::ALL.into_iter().find(|measure| measure.name() == name).ok_or_else(|| {
        let known = Measure::ALL.map(Measure::name).join(", ");
        format!("`{}` is not measured: {known} are", name.escape_debug())
    })?;
    let range = Range::parse(range, |text| match measure {
        Measure::Stuck | Measure::Unknown | Measure::Due => number(text),
        Measure::Silence | Measure::OldestDue => number(text).or_else(|_| duration(text)),
        Measure::Share => number(text.strip_suffix('%').unwrap_or(text)),
    });
    Ok((measure, range.map_err(|why| format!("{name}: {why}"))?))
}

/// Digits with a sign and a point, and none of the other things that a float may be.
fn number(text: &str) -> Result<f64, String> {
    let is_plain = text.len() <= 20 && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-'));
    text.parse().ok().filter(|_| is_plain).ok_or_else(|| {
        format!("`{}` is not a number: write a range as in 10, 10:, ~:10, 10:20 or @10:20", text.escape_debug())
    })
}

fn duration(text: &str) -> Result<f64, String> {
    if text.is_empty() {
        return number(text);
    }
    parse_duration(text).map(|duration| duration.as_secs_f64())
}

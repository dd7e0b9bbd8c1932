//! `jobdoctor generate`: prints the unit files that run a sweep of a target.

mod host;
mod kubernetes;

use crate::cli::args::{StoreArgs, ToneArgs, parse_option};
use crate::cli::{CliError, Context, Exit, Settings, masked};
use crate::model::parse_duration;
use crate::output::advice;
use clap::builder::NonEmptyStringValueParser;
use std::path::PathBuf;

#[derive(Debug, Clone, clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  jobdoctor generate systemd --target shop --every 5m
  jobdoctor generate cron --target shop --user ops
  jobdoctor generate kubernetes --target shop --image registry.internal/jobdoctor:1")]
pub struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Kind {
    /// Print a service and its timer, or with --restart a drop-in for the workers' own unit
    Systemd(host::SystemdArgs),
    /// Print a file for /etc/cron.d
    Cron(host::CronArgs),
    /// Print a ConfigMap and a CronJob, or with --restart an init container for the workers' pods
    Kubernetes(kubernetes::Args),
}

/// Options of the sweep that every kind of unit has.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "What to run")]
struct SweepArgs {
    /// Sweep this target of the config file [env: JOBDOCTOR_TARGET] [default: default_target, or the only target]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    target: Option<String>,
    /// Run this often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse_interval)]
    every: Every,
    /// Give the unit this name [default: jobdoctor-sweep, followed by the target's name]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    name: Option<String>,
    /// Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then
    /// /etc/jobdoctor/config.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set an option of the preset in the sweep's command, such as time_zone=utc (can be repeated)
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_option)]
    options: Vec<(String, String)>,
    #[command(flatten)]
    tone: ToneArgs,
}

/// The sweep that a unit runs.
struct Sweep {
    /// The unit's name: lower-case letters, digits and dashes.
    name: String,
    target: String,
    /// `sweep` and the options that name the target, without `--config`.
    words: Vec<String>,
    settings: Settings,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let text = match &args.kind {
        Kind::Systemd(args) => {
            return host::systemd(args, &Sweep::resolve(&args.sweep, context)?, context).map(|()| Exit::Done);
        }
        Kind::Cron(args) => host::crontab(args, &Sweep::resolve(&args.sweep, context)?, context)?,
        Kind::Kubernetes(args) => kubernetes::text(args, &Sweep::resolve(&args.sweep, context)?, context)?,
    };
    context.ui.report(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

impl Sweep {
    fn resolve(args: &SweepArgs, context: &Context) -> Result<Sweep, CliError> {
        let store = StoreArgs {
            target: args.target.iter().cloned().collect(),
            config: args.config.clone(),
            options: args.options.clone(),
            ..StoreArgs::default()
        };
        let settings = Settings::resolve(&store, &context.environment)?;
        let Some(target) = settings.target_name.clone() else {
            return Err(CliError::usage("no target is named, and units sweep a target of the config file")
                .hint("write [target.NAME] with db = \"...\" into the config file, and name it with --target NAME")
                .hint("`jobdoctor config path` prints where that file is"));
        };
        if let Some(preset) = settings.preset_without_zone() {
            return Err(CliError::usage(format!("preset {preset}: {}", advice::ZONE_UNDECLARED))
                .hint("if they are in UTC, add --option time_zone=utc, which the unit then says")
                .hint(format!("or write options = {{ time_zone = \"utc\" }} into [target.{target}]")));
        }
        // Apart, a name that begins with a dash would be read as an option.
        let named = match target.starts_with('-') {
            true => vec![format!("--target={target}")],
            false => vec!["--target".to_owned(), target.clone()],
        };
        let options = args.options.iter().flat_map(|(name, value)| ["--option".to_owned(), format!("{name}={value}")]);
        let words = [vec!["sweep".to_owned()], named, options.collect()].concat();
        Ok(Sweep { name: args.name.clone().unwrap_or_else(|| unit_name(&target)), target, words, settings })
    }
}

/// An interval in minutes that divides an hour or a day, because cron and systemd can express no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Every(u64);

const HOUR: u64 = 60;
const DAY: u64 = 24 * HOUR;

fn parse_interval(text: &str) -> Result<Every, String> {
    let seconds = parse_duration(text)?.as_secs();
    let minutes = seconds / 60;
    let divides = match minutes {
        0 => false,
        1..=HOUR => HOUR.is_multiple_of(minutes),
        _ => minutes.is_multiple_of(HOUR) && DAY.is_multiple_of(minutes),
    };
    if divides && seconds.is_multiple_of(60) {
        return Ok(Every(minutes));
    }
    Err("it must be a part of an hour or a day: 1m, 2m, 3m, 4m, 5m, 6m, 10m, 12m, 15m, 20m, 30m, 1h, 2h, 3h, 4h, 6h, \
         8h, 12h or 1d"
        .to_owned())
}

impl Every {
    /// The five fields of a crontab.
    fn cron(self) -> String {
        match self.0 {
            1 => "* * * * *".to_owned(),
            DAY => "0 0 * * *".to_owned(),
            HOUR => "0 * * * *".to_owned(),
            minutes if minutes < HOUR => format!("*/{minutes} * * * *"),
            minutes => format!("0 */{} * * *", minutes / HOUR),
        }
    }

    /// A calendar event of systemd.
    fn calendar(self) -> String {
        match self.0 {
            DAY => "*-*-* 00:00:00".to_owned(),
            HOUR => "*-*-* *:00:00".to_owned(),
            minutes if minutes < HOUR => format!("*-*-* *:0/{minutes}:00"),
            minutes => format!("*-*-* 0/{}:00:00", minutes / HOUR),
        }
    }

    /// The random delay in seconds that keeps hosts from starting at once: a tenth of the interval, at most 300.
    fn spread_seconds(self) -> u64 {
        (self.0 * 6).min(300)
    }
}

/// Refuses a character that ends a line, which not every format can quote, and what looks like a password.
fn require_printable(texts: &[String]) -> Result<(), CliError> {
    let ends_line = |c: char| c != '\t' && c.is_control() || "\u{2028}\u{2029}".contains(c);
    if let Some(text) = texts.iter().find(|text| text.contains(ends_line)) {
        let message = format!("a unit cannot hold a control character: \"{}\"", masked(text).escape_debug());
        return Err(CliError::usage(message));
    }
    if texts.iter().any(|text| masked(text) != *text) {
        let error = CliError::usage("a unit must not hold what looks like a password");
        return Err(error.hint("keep it in `db` or password_file of the target, or in ~/.pgpass"));
    }
    Ok(())
}

fn unit_name(target: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let target: String = target.chars().map(plain).take(32).collect();
    format!("jobdoctor-sweep-{}", target.trim_matches('-')).trim_end_matches('-').to_owned()
}

/// Reads a name that systemd, cron and Kubernetes all accept.
fn parse_name(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = (1..=52).contains(&text.len()) && text.chars().all(inner) && text.trim_matches('-') == text;
    accepted(text, is_name, "a name is 1 to 52 lower-case letters, digits and dashes, with no dash at an end")
}

fn accepted(text: &str, is_valid: bool, error: &str) -> Result<String, String> {
    if is_valid { Ok(text.to_owned()) } else { Err(error.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_hour_or_a_day() {
        let cases = [
            ("1m", "* * * * *", "*-*-* *:0/1:00", 6),
            ("5m", "*/5 * * * *", "*-*-* *:0/5:00", 30),
            ("60s", "* * * * *", "*-*-* *:0/1:00", 6),
            ("1h", "0 * * * *", "*-*-* *:00:00", 300),
            ("6h", "0 */6 * * *", "*-*-* 0/6:00:00", 300),
            ("1d", "0 0 * * *", "*-*-* 00:00:00", 300),
        ];
        for (text, cron, calendar, spread) in cases {
            let every = parse_interval(text).unwrap();
            assert_eq!((every.cron().as_str(), every.calendar().as_str()), (cron, calendar));
            assert_eq!(every.spread_seconds(), spread);
        }
        for text in ["30s", "90s", "7m", "45m", "90m", "5h", "2d", "0s", "often"] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
    }
}

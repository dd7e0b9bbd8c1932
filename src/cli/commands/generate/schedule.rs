//! How often a sweep runs, in the words of cron and of systemd, and the crontab.

use super::{HostArgs, Sweep, SweepArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::next_command::quoted;
use crate::model::parse_duration;

/// An interval in minutes that divides an hour or a day, because cron and systemd can express no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Every(u64);

const HOUR: u64 = 60;
const DAY: u64 = 24 * HOUR;

pub(super) fn parse(text: &str) -> Result<Every, String> {
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
    pub(super) fn cron(self) -> String {
        match self.0 {
            1 => "* * * * *".to_owned(),
            DAY => "0 0 * * *".to_owned(),
            HOUR => "0 * * * *".to_owned(),
            minutes if minutes < HOUR => format!("*/{minutes} * * * *"),
            minutes => format!("0 */{} * * *", minutes / HOUR),
        }
    }

    /// A calendar event of systemd.
    pub(super) fn calendar(self) -> String {
        match self.0 {
            DAY => "*-*-* 00:00:00".to_owned(),
            HOUR => "*-*-* *:00:00".to_owned(),
            minutes if minutes < HOUR => format!("*-*-* *:0/{minutes}:00"),
            minutes => format!("*-*-* 0/{}:00:00", minutes / HOUR),
        }
    }

    /// The random delay in seconds that keeps hosts from starting at once: a tenth of the interval, at most 300.
    pub(super) fn spread_seconds(self) -> u64 {
        (self.0 * 6).min(300)
    }
}

/// `jobdoctor generate cron`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate cron --target shop --user ops
  jobdoctor generate cron --target shop --every 15m > jobdoctor-sweep-shop")]
pub(super) struct CronArgs {
    #[command(flatten)]
    pub(super) host: HostArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

pub(super) fn crontab(args: &CronArgs, sweep: &Sweep, context: &Context) -> Result<String, CliError> {
    sweep.database(context)?;
    let words: Vec<String> = sweep.on_host(args.host.program()?)?.iter().map(|word| quoted(word)).collect();
    Ok(format!(
        include_str!("templates/crontab"),
        name = sweep.name,
        schedule = args.sweep.every.cron(),
        user = args.host.user()?,
        // A `%` ends the command.
        command = words.join(" ").replace('%', "\\%"),
    ))
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
            let every = parse(text).unwrap();
            assert_eq!((every.cron().as_str(), every.calendar().as_str()), (cron, calendar));
            assert_eq!(every.spread_seconds(), spread);
        }
        for text in ["30s", "90s", "7m", "45m", "90m", "5h", "2d", "0s", "often"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

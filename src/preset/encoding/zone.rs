use super::Side;
use crate::model::Timestamp;
use jiff::civil::DateTime;
use jiff::{SignedDuration, tz::TimeZone};
use std::{fmt, time::Duration};

/// The zone of the session in which the database computed a time: that of the application's times where these are in
/// UTC, and else the one that the server, the database or the role sets.
const SESSION: &str = "session";

/// A time zone and its name in the IANA database. All spellings of `UTC` are one zone.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Zone {
    /// As a document spells it.
    spelled: String,
    rules: TimeZone,
    pub(super) said: Said,
    /// Which instant a wall clock means that the zone shows twice or never.
    pub(super) doubt: Doubt,
}

/// Who says that times are in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Said {
    /// The operator, the mapping, or a library that knows no other.
    Surely,
    /// One application with one setting writes them, in UTC unless it is configured otherwise: a fresh one shows it.
    IfShown,
    /// Nobody: they are read as UTC, which nothing shows.
    ByNobody,
}

impl Said {
    /// What an operator should know of the times.
    pub fn caution(self) -> &'static str {
        match self {
            Said::Surely => "the zone of all times is declared",
            Said::IfShown => {
                "times without a zone count as UTC while the newest is at most 10 minutes old and none lies ahead; else only \
                 what is dead in any zone is stuck"
            }
            Said::ByNobody => {
                "times have no zone and are read as UTC: only what is dead in any zone is stuck, and that may be unknown again for \
                 some minutes of each quarter of an hour"
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// The earlier one: the safer reading of an owner's start.
    Earlier,
    /// The later one: the safer reading of a sign of life, a claim and a deadline.
    Later,
}

impl Zone {
    pub fn utc() -> Zone {
        Zone { spelled: "utc".to_owned(), rules: TimeZone::UTC, said: Said::Surely, doubt: Doubt::Later }
    }

    /// The zone of that name, in any case.
    /// The error is the rest of a sentence: what is wrong, and what is allowed.
    pub fn parse(name: &str) -> Result<Zone, String> {
        match name {
            "local" | SESSION => return Ok(Zone { spelled: name.to_owned(), said: Said::ByNobody, ..Zone::utc() }),
            "utc if shown" => return Ok(Zone { spelled: name.to_owned(), said: Said::IfShown, ..Zone::utc() }),
            _ if ["utc", "etc/utc"].contains(&name.to_ascii_lowercase().as_str()) => return Ok(Zone::utc()),
            _ => {}
        }
        let rules = TimeZone::get(name).ok().filter(|rules| !rules.is_unknown());
        let rules = rules
            .ok_or_else(|| format!("unknown time zone `{name}`; use `utc`, a name like Europe/Paris, or `local`"))?;
        let spelled = rules.iana_name().unwrap_or(name).to_owned();
        Ok(Zone { spelled, rules, ..Zone::utc() })
    }

    /// True if this zone, which the operator or the document gives, is that of times whose encoding names `other`.
    pub(super) fn replaces(&self, other: &Zone) -> bool {
        other.said == Said::ByNobody && (other.spelled != SESSION || self.is_utc())
    }

    pub fn is_utc(&self) -> bool {
        self.rules == TimeZone::UTC
    }

    /// What the clocks of this zone show, to the microsecond.
    pub(super) fn wall_clock(&self, at: Timestamp) -> DateTime {
        self.rules.to_datetime(instant(at))
    }

    /// The instant at which they show it. `None` when out of range.
    pub(super) fn instant(&self, wall: DateTime) -> Option<Timestamp> {
        let at = self.rules.to_ambiguous_timestamp(wall);
        let at = match self.doubt {
            Doubt::Earlier => at.earlier(),
            Doubt::Later => at.later(),
        };
        let at = at.ok()?;
        Timestamp::from_micros(at.as_microsecond())
    }

    /// The wall clock at `cut`, shifted so far that no repeated or skipped hour can hide a row.
    ///
    /// Three hours cover all but a few changes (Samoa skipped a day in 2011); for those the change itself decides.
    pub(super) fn bound(&self, cut: Timestamp, side: Side) -> DateTime {
        let wall = self.wall_clock(cut);
        if self.is_utc() {
            return wall;
        }
        // Offsets stay below 26 hours, so a change further away than that is out of reach.
        let reach = Duration::from_secs(26 * 3600);
        let offset = |at| self.rules.to_offset(instant(at)).seconds();
        let change = |at| (offset(at) - offset(cut)).abs();
        let margin = change(cut.minus(reach)).max(change(cut.plus(reach))).max(3 * 3600);
        let margin = SignedDuration::from_secs(margin.into());
        wall.saturating_add(if side == Side::Before { margin } else { -margin })
    }
}

impl TryFrom<String> for Zone {
    type Error = String;

    fn try_from(name: String) -> Result<Zone, String> {
        Zone::parse(&name)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled)
    }
}

fn instant(at: Timestamp) -> jiff::Timestamp {
    // Every `Timestamp` is in jiff's range, so the default is never used.
    jiff::Timestamp::from_microsecond(at.micros()).unwrap_or_default()
}

//! Diagnoses: what is likely to have happened, a sentence each.

use super::StaleSummary;
use super::format::{Cell, Screen, Tone, count, first_few, grouped};
use crate::model::{Timestamp, age};
use crate::policy::{self, DiagnosisKind, Doubt, Flow};
use schemars::JsonSchema;
use serde::Serialize;

/// The probable cause of several stuck jobs, or an inconsistency in their ownership data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// What it is, and about which jobs.
    #[serde(flatten)]
    pub of: policy::Diagnosis,
    /// In words.
    pub text: String,
    /// The first of these, which say what happened where.
    #[serde(skip)]
    pub headline: String,
}

/// Diagnoses in a table; documents hold more.
const MOST: usize = 10;

/// The first of so many diagnoses in sentences, the one with the most jobs first.
pub fn diagnoses(list: &[Diagnosis], count: u64, screen: &Screen) -> String {
    let mut text: String = list.iter().take(MOST).map(|diagnosis| screen.paragraph(&sentence(diagnosis))).collect();
    let more = count.saturating_sub(list.len().min(MOST) as u64);
    if more > 0 {
        text.push_str(&screen.paragraph(&Cell::new(format!("and {} more", grouped(more)), Tone::Dim)));
    }
    text
}

/// The count of stuck jobs without a diagnosis.
pub fn alone(summary: &StaleSummary, screen: &Screen) -> String {
    if summary.alone == 0 {
        return String::new();
    }
    let text = format!("{} without a diagnosis", count(summary.alone, "stuck job", "stuck jobs"));
    screen.paragraph(&Cell::new(text, Tone::Dim))
}

fn sentence(diagnosis: &Diagnosis) -> Cell {
    let tone = match diagnosis.of.what {
        DiagnosisKind::AllSilent | DiagnosisKind::Vanished | DiagnosisKind::OneByOne => Tone::Bad,
        DiagnosisKind::StandsStill | DiagnosisKind::NotStaged => Tone::Bad,
        DiagnosisKind::Busy | DiagnosisKind::Paused => Tone::Plain,
        _ => Tone::Warn,
    };
    Cell::new(diagnosis.text.as_str(), tone)
}

impl Diagnosis {
    /// The first words of its sentence, and why; a table has the rest in its columns.
    pub(super) fn headline(&self) -> Cell {
        let why = match self.of.flow {
            Some(Flow::NoWorker) => ": no living worker",
            Some(Flow::AllStuck) => ": all in flight are stuck",
            _ => "",
        };
        Cell::new(format!("{}{why}", self.headline), sentence(self).tone)
    }
}

/// The most names and queues in one sentence.
const LISTED: usize = 3;

impl Diagnosis {
    /// The documents of these diagnoses as of `now`: most jobs first, then the newest.
    pub fn list(all: Vec<policy::Diagnosis>, now: Timestamp) -> Vec<Diagnosis> {
        let mut list: Vec<Diagnosis> = all.into_iter().map(|one| Diagnosis::of(one, now)).collect();
        let micros = |at: Option<Timestamp>| at.map(Timestamp::micros);
        list.sort_by(|a, b| {
            let by_size = b.of.jobs.cmp(&a.of.jobs).then(micros(b.of.until).cmp(&micros(a.of.until)));
            by_size.then_with(|| a.text.cmp(&b.text))
        });
        list
    }

    /// The document of a diagnosis, with its sentence as of `now`.
    pub fn of(diagnosis: policy::Diagnosis, now: Timestamp) -> Diagnosis {
        let (headline, rest) = words(&diagnosis, now);
        let text = if rest.is_empty() { headline.clone() } else { format!("{headline}: {rest}") };
        Diagnosis { text, headline, of: diagnosis }
    }
}

/// What fell silent comes first, then for how long; and the rest, how many jobs it is about.
fn words(of: &policy::Diagnosis, now: Timestamp) -> (String, String) {
    let jobs = count(of.jobs, "job", "jobs");
    match of.what {
        DiagnosisKind::AllSilent => {
            let (who, whom) = match (of.hosts, of.owners) {
                (_, None) => ("everything in flight", String::new()),
                (Some(hosts), _) => ("every owner", format!(" of {}", count(hosts, "host", "hosts"))),
                (None, Some(owners)) => ("every owner", format!(" of {}", count(owners, "owner", "owners"))),
            };
            let rest = "more likely the database, the network or a deploy than the workers";
            (format!("{who} went silent {}", between(of.since, of.until, now)), format!("{jobs}{whom}; {rest}"))
        }
        DiagnosisKind::Vanished => {
            let when = between(of.since, of.until, now);
            (format!("{} vanished {when}", gone(of)), format!("{}{}{}", of_kind(of), queues(of), names(of)))
        }
        DiagnosisKind::OneByOne => {
            let when = one_by_one(of.since, of.until, now);
            let headline = format!("{} went silent one by one{when}", gone(of));
            (headline, format!("{}{}{}", of_kind(of), queues(of), names(of)))
        }
        DiagnosisKind::Silent => {
            let doubt = doubt(of.doubt);
            let when = silent_for(of.until, now);
            if of.names.is_empty() {
                let verb = if of.jobs == 1 { "shows" } else { "show" };
                return (format!("{}{} {verb} no life {when}{doubt}", of_kind(of), queues(of)), String::new());
            }
            let verb = if of.names.len() == 1 { "shows" } else { "show" };
            let rest = format!("{}{}{}{doubt}", of_kind(of), queues(of), names(of));
            (format!("{} {verb} no life {when}", gone(of)), rest)
        }
        DiagnosisKind::Hangs => hangs(of, now),
        kind if kind.is_of_due_jobs() => of_due_jobs(of, now),
        inconsistency => (inconsistent(inconsistency, of), String::new()),
    }
}

fn of_due_jobs(of: &policy::Diagnosis, now: Timestamp) -> (String, String) {
    let (who, several) = match (&of.queue, of.queues.len()) {
        (Some(queue), _) => (format!("queue {queue}"), false),
        (None, 1) => ("the queue".to_owned(), false),
        (None, all) => (format!("{all} queues"), true),
    };
    let oldest = of.since.map_or_else(String::new, |since| format!(", the oldest for {}", age(now.since(since))));
    let due = format!("{} due{}{oldest}", count(of.jobs, "job", "jobs"), queues(of));
    let (stands, is, it) = if several { ("stand", "are", "them") } else { ("stands", "is", "it") };
    let taken = match of.until {
        Some(taken) => format!(", and none taken since {} UTC", clock(taken, now)),
        None if of.claims == 0 => ", and none in flight".to_owned(),
        None => String::new(),
    };
    let still = format!("{who} {stands} still");
    match of.flow {
        Some(Flow::Paused) => (format!("{who} {is} paused"), due),
        Some(Flow::Busy) => (format!("{who} {is} busy with {} in flight", count(of.claims, "job", "jobs")), due),
        Some(Flow::NoWorker) => (still, format!("{due}{taken}: no living worker serves {it}")),
        Some(Flow::AllStuck) => (still, format!("{due}{taken}: all {} in flight are stuck", grouped(of.claims))),
        Some(Flow::StandsStill) if of.until.is_none() => {
            (still, format!("{due}{taken}; nothing shows when one was taken last"))
        }
        Some(Flow::StandsStill) => (still, format!("{due}{taken}")),
        None => (format!("{} does not move on the due jobs of {who}", of.by.as_deref().unwrap_or_default()), due),
    }
}

fn doubt(doubt: Option<Doubt>) -> &'static str {
    match doubt {
        None => "",
        Some(Doubt::PartlyUnknown) => "; some of its jobs cannot be judged",
        Some(Doubt::ByAge) => "; judged by age alone, so a slow job looks dead",
        Some(Doubt::NoSignOfLife) => "; nothing shows whether the owner lives",
    }
}

fn hangs(of: &policy::Diagnosis, now: Timestamp) -> (String, String) {
    let claimed = match of.since {
        Some(first) if of.jobs > 1 => format!(", the first claimed {}", ago(first, now)),
        Some(first) => format!(", claimed {}", ago(first, now)),
        None => String::new(),
    };
    let kind = of.kind.as_deref();
    let lives = of.doubt.is_none();
    let Some(owner) = &of.owner else {
        let whom = match (of.hosts, lives) {
            (Some(hosts), true) if hosts > 1 => count(hosts, "living host", "living hosts"),
            (_, true) => count(of.owners.unwrap_or_default(), "living owner", "living owners"),
            (Some(hosts), false) if hosts > 1 => count(hosts, "host", "hosts"),
            (_, false) => count(of.owners.unwrap_or_default(), "owner", "owners"),
        };
        let doubt = if lives { "" } else { "; nothing shows whether the owners live" };
        let jobs = count(of.jobs, "job", "jobs");
        return (format!("kind {} hangs on {whom}", kind.unwrap_or_default()), format!("{jobs}{claimed}{doubt}"));
    };
    let of_kind = kind.map_or_else(String::new, |kind| format!(" (kind {kind})"));
    let share = if of.claims == of.jobs { "all".to_owned() } else { grouped(of.jobs) };
    let all = count(of.claims, "job", "jobs");
    let headline = if lives {
        format!("owner {owner} lives, but {share} of its {all} hang{of_kind}{claimed}")
    } else {
        format!("{share} of the {all} of owner {owner} hang{of_kind}{claimed}{}", doubt(of.doubt))
    };
    (headline, String::new())
}

fn inconsistent(kind: DiagnosisKind, of: &policy::Diagnosis) -> String {
    let jobs = count(of.jobs, "job", "jobs");
    let (is, their) = if of.jobs == 1 { ("is", "its") } else { ("are", "their") };
    let older = || format!("{jobs} {is} older than the process that now goes by the name of {their} owner");
    match (kind, &of.owner) {
        (DiagnosisKind::OwnerMissing, Some(owner)) => format!("{jobs} {is} held by owner {owner}, which has no row"),
        (DiagnosisKind::OwnerMissing, None) => {
            let owners = of.owners.map_or_else(|| "owners".to_owned(), |owners| count(owners, "owner", "owners"));
            format!("{jobs} {is} held by {owners} without a row")
        }
        (DiagnosisKind::OwnerRestarted, Some(owner)) => format!("{}, {owner}", older()),
        (DiagnosisKind::OwnerRestarted, None) => older(),
        (DiagnosisKind::NoClaimTime, _) => format!("{jobs} {is} in flight without a claim time that can be read"),
        _ => format!("{jobs} {is} in flight without an owner"),
    }
}

/// The holders that are gone: by name if it is one, else counted.
fn gone(of: &policy::Diagnosis) -> String {
    let all = of.names.len();
    match (of.names.as_slice(), of.named_hosts) {
        ([name], 0) => format!("owner {name}"),
        ([name], _) => format!("host {name}"),
        (_, 0) => count(all as u64, "owner", "owners"),
        (_, hosts) if hosts == all => count(all as u64, "host", "hosts"),
        _ => count(all as u64, "host or owner", "hosts and owners"),
    }
}

fn of_kind(of: &policy::Diagnosis) -> String {
    let jobs = count(of.jobs, "job", "jobs");
    of.kind.as_ref().map_or_else(|| jobs.clone(), |kind| format!("{jobs} of kind {kind}"))
}

/// How many jobs are in which queue; nothing if it is one queue.
fn queues(of: &policy::Diagnosis) -> String {
    if of.queues.len() < 2 {
        return String::new();
    }
    let shown = of.queues.iter().take(LISTED);
    let shown = shown.map(|(queue, jobs)| format!("{} {}", queue.as_deref().unwrap_or("no queue"), grouped(*jobs)));
    let more = if of.queues.len() > LISTED { ", ..." } else { "" };
    format!(" ({}{more})", shown.collect::<Vec<_>>().join(", "))
}

/// Some of the names of several holders, and how many more.
fn names(of: &policy::Diagnosis) -> String {
    match of.names.len() {
        0 | 1 => String::new(),
        all => format!(", held by {}", first_few(&of.names, LISTED, all as u64)),
    }
}

/// An instant for people: how long ago first, which is what counts at night.
fn ago(time: Timestamp, now: Timestamp) -> String {
    format!("{} ago, at {} UTC", age(now.since(time)), clock(time, now))
}

fn between(first: Option<Timestamp>, last: Option<Timestamp>, now: Timestamp) -> String {
    let (Some(first), Some(last)) = (first, last) else { return "at an unknown time".to_owned() };
    let (from, to) = (clock(first, now), clock(last, now));
    if from == to { ago(last, now) } else { format!("{} ago, between {from} and {to} UTC", age(now.since(last))) }
}

/// When holders died that did not die together.
fn one_by_one(first: Option<Timestamp>, last: Option<Timestamp>, now: Timestamp) -> String {
    match (first, last) {
        (Some(first), Some(last)) => {
            let (from, to) = (clock(first, now), clock(last, now));
            format!(" between {from} and {to} UTC, the last {} ago", age(now.since(last)))
        }
        _ => String::new(),
    }
}

fn silent_for(last: Option<Timestamp>, now: Timestamp) -> String {
    match last {
        Some(last) => format!("for {}, since {} UTC", age(now.since(last)), clock(last, now)),
        None => "at all".to_owned(),
    }
}

/// The time of day in UTC; with the day if it is not today.
fn clock(time: Timestamp, now: Timestamp) -> String {
    let part = |time: Timestamp, form: &str| {
        jiff::Timestamp::from_microsecond(time.micros()).map(|time| time.strftime(form).to_string()).unwrap_or_default()
    };
    if part(time, "%F") == part(now, "%F") { part(time, "%T") } else { part(time, "%F %T") }
}

//! Diagnoses in words. What is read first is what fell silent, for how long, and how many jobs it is about.

use super::find::{Hung, Lost, window};
use super::holder::{Holder, Part};
use super::tally::Tally;
use super::{Diagnosis, DiagnosisKind};
use crate::model::{Timestamp, age};
use std::collections::BTreeMap;

/// Names and queues listed in one line.
const LISTED: usize = 3;

/// See [`DiagnosisKind::AllSilent`].
pub fn all_silent(lost: &[Lost<'_>], now: Timestamp) -> Diagnosis {
    let mut diagnosis = about(DiagnosisKind::AllSilent, lost);
    let whom = match (diagnosis.hosts, diagnosis.owners) {
        (Some(hosts), _) => format!(" of {}", counted(hosts, "host")),
        (None, Some(owners)) => format!(" of {}", counted(owners, "owner")),
        (None, None) => String::new(),
    };
    diagnosis.text = format!(
        "every owner went silent {}: {}{whom}; more likely the database, the network or a deploy than the workers",
        between(diagnosis.since, diagnosis.until, now),
        counted(diagnosis.jobs, "job")
    );
    diagnosis
}

/// The same of a queue that does not say who holds a job.
pub fn all_claims_silent(tally: &Tally, now: Timestamp) -> Diagnosis {
    let text = format!(
        "everything in flight went silent {}: {}; more likely the database, the network or a deploy than the workers",
        between(tally.oldest, tally.newest, now),
        counted(tally.jobs, "job")
    );
    Diagnosis { text, since: tally.oldest, until: tally.newest, ..bare(DiagnosisKind::AllSilent, tally) }
}

/// See [`DiagnosisKind::Vanished`] and [`DiagnosisKind::Silent`].
pub fn gone(what: DiagnosisKind, lost: &[Lost<'_>], kind: Option<&str>, now: Timestamp) -> Diagnosis {
    let mut diagnosis = about(what, lost);
    let mut names: Vec<&str> = lost.iter().map(|lost| lost.name).collect();
    names.sort_unstable();
    let parts: Vec<&Part> = lost.iter().flat_map(|lost| &lost.holder.parts).collect();
    let hosts = lost.iter().filter(|lost| lost.is_host).count();
    let who = match (names.as_slice(), hosts) {
        ([name], 0) => format!("owner {name}"),
        ([name], _) => format!("host {name}"),
        (_, 0) => counted(lost.len() as u64, "owner"),
        (_, hosts) if hosts == lost.len() => counted(hosts as u64, "host"),
        _ => counted(lost.len() as u64, "host or owner").replace("host or owners", "hosts and owners"),
    };
    diagnosis.kind = kind.map(str::to_owned).or_else(|| one_kind(&parts).map(str::to_owned));
    let told = match what {
        DiagnosisKind::Vanished => format!("{who} vanished {}", between(diagnosis.since, diagnosis.until, now)),
        _ => {
            let verb = if names.len() == 1 { "shows" } else { "show" };
            format!("{who} {verb} no life {}", silent_for(diagnosis.until, now))
        }
    };
    let list = if names.len() > 1 { format!(", held by {}", listed(&names)) } else { String::new() };
    let doubt = match (what, lost.iter().any(|lost| lost.holder.unknown > 0)) {
        (DiagnosisKind::Vanished, _) => "",
        (_, true) => "; some of what it holds cannot be judged",
        (_, false) => "; judged by age alone, so slow looks like dead",
    };
    diagnosis.text =
        format!("{told}: {}{}{list}{doubt}", jobs(diagnosis.jobs, diagnosis.kind.as_deref()), queues(&parts));
    diagnosis
}

/// See [`DiagnosisKind::Hangs`]: a kind on several owners.
pub fn kind_hangs(kind: &str, hung: &Hung<'_>, now: Timestamp) -> Diagnosis {
    let (owners, hosts) = (hung.owners.len() as u64, hung.hosts.len() as u64);
    let whom = if hosts > 1 { counted(hosts, "living host") } else { counted(owners, "living owner") };
    let text = format!("kind {kind} hangs on {whom}: {}{}", counted(hung.tally.jobs, "job"), claimed(&hung.tally, now));
    let only =
        |names: &std::collections::BTreeSet<&str>| names.first().filter(|_| names.len() == 1).map(|n| (*n).to_owned());
    Diagnosis {
        text,
        kind: Some(kind.to_owned()),
        host: only(&hung.hosts),
        since: hung.tally.first_claim,
        until: hung.tally.last_claim,
        hosts: (hosts > 0).then_some(hosts),
        owners: Some(owners),
        ..bare(DiagnosisKind::Hangs, &hung.tally)
    }
}

/// The same: several jobs of one owner.
pub fn owner_hangs(name: &str, owner: &Holder, parts: &[&Part], tally: &Tally, now: Timestamp) -> Diagnosis {
    let kind = one_kind(parts);
    let of_kind = kind.map_or_else(String::new, |kind| format!(" (kind {kind})"));
    let claims = owner.claims.max(tally.jobs);
    let share = if claims == tally.jobs { "all".to_owned() } else { grouped(tally.jobs) };
    let text = format!(
        "owner {name} lives, but {share} of its {} hang{of_kind}{}",
        counted(claims, "job"),
        claimed(tally, now)
    );
    Diagnosis {
        text,
        kind: kind.map(str::to_owned),
        host: owner.host.clone(),
        owner: Some(name.to_owned()),
        since: tally.first_claim,
        until: tally.last_claim,
        hosts: owner.host.as_ref().map(|_| 1),
        owners: Some(1),
        ..bare(DiagnosisKind::Hangs, tally)
    }
}

/// Stuck jobs of one kind in a queue that does not say who holds them.
pub fn of_kind(kind: Option<&str>, tally: &Tally, parts: &[&Part], now: Timestamp) -> Diagnosis {
    let when = silent_for(tally.newest, now);
    let doubt = if tally.by_age == tally.jobs { "; judged by age alone, so slow looks like dead" } else { "" };
    let verb = if tally.jobs == 1 { "shows" } else { "show" };
    let text = format!("{}{} {verb} no life {when}{doubt}", jobs(tally.jobs, kind), queues(parts));
    Diagnosis {
        text,
        kind: kind.map(str::to_owned),
        since: tally.oldest,
        until: tally.newest,
        ..bare(DiagnosisKind::Silent, tally)
    }
}

/// How the ownership data contradicts itself.
pub fn inconsistency(kind: DiagnosisKind, tally: &Tally, owner: Option<&str>, owners: Option<u64>) -> Diagnosis {
    let jobs = counted(tally.jobs, "job");
    let (is, are) = if tally.jobs == 1 { ("is", "its") } else { ("are", "their") };
    let text = match (kind, owner) {
        (DiagnosisKind::OwnerMissing, Some(owner)) => format!("{jobs} {is} held by owner {owner}, which has no row"),
        (DiagnosisKind::OwnerMissing, None) => {
            let owners = owners.map_or_else(|| "owners".to_owned(), |owners| counted(owners, "owner"));
            format!("{jobs} {is} held by {owners} without a row")
        }
        (DiagnosisKind::OwnerRestarted, Some(owner)) => {
            format!("{jobs} {is} older than the process that now goes by the name of {are} owner, {owner}")
        }
        (DiagnosisKind::OwnerRestarted, None) => {
            format!("{jobs} {is} older than the process that now goes by the name of {are} owner")
        }
        (DiagnosisKind::NoClaimTime, _) => format!("{jobs} {is} in flight without a claim time that can be read"),
        _ => format!("{jobs} {is} in flight without an owner"),
    };
    Diagnosis {
        text,
        owner: owner.map(str::to_owned),
        since: tally.oldest,
        until: tally.newest,
        owners,
        ..bare(kind, tally)
    }
}

/// A diagnosis of which only the count is known yet.
fn bare(what: DiagnosisKind, tally: &Tally) -> Diagnosis {
    Diagnosis {
        what,
        text: String::new(),
        host: None,
        owner: None,
        kind: None,
        since: None,
        until: None,
        jobs: tally.jobs,
        hosts: None,
        owners: None,
    }
}

/// A diagnosis about these holders, but for its words.
fn about(kind: DiagnosisKind, lost: &[Lost<'_>]) -> Diagnosis {
    let (since, until) = window(lost);
    let mut hosts: Vec<&str> = lost
        .iter()
        .filter_map(|lost| if lost.is_host { Some(lost.name) } else { lost.holder.host.as_deref() })
        .collect();
    hosts.sort_unstable();
    hosts.dedup();
    let owners = lost.iter().map(|lost| if lost.is_host { lost.holder.owners } else { 1 }).sum();
    let only = match lost {
        [only] => Some(only),
        _ => None,
    };
    Diagnosis {
        host: hosts.first().filter(|_| hosts.len() == 1).map(|host| (*host).to_owned()),
        owner: only.filter(|lost| !lost.is_host).map(|lost| lost.name.to_owned()),
        since,
        until,
        hosts: (!hosts.is_empty()).then_some(hosts.len() as u64),
        owners: Some(owners),
        ..bare(kind, &Tally::of(lost.iter().map(|lost| &lost.tally)))
    }
}

fn jobs(n: u64, kind: Option<&str>) -> String {
    let jobs = counted(n, "job");
    kind.map_or_else(|| jobs.clone(), |kind| format!("{jobs} of kind {kind}"))
}

/// The kind of all of them, if it is one.
fn one_kind<'e>(parts: &[&'e Part]) -> Option<&'e str> {
    let (first, rest) = parts.split_first()?;
    first.kind.as_deref().filter(|kind| rest.iter().all(|part| part.kind.as_deref() == Some(kind)))
}

/// How many are in which queue, most first; nothing where it is one queue.
fn queues(parts: &[&Part]) -> String {
    let mut sums: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for part in parts {
        *sums.entry(part.queue.as_deref()).or_default() += part.tally.jobs;
    }
    if sums.len() < 2 {
        return String::new();
    }
    let mut sums: Vec<(Option<&str>, u64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let shown: Vec<String> =
        sums.iter().take(LISTED).map(|(queue, n)| format!("{} {}", queue.unwrap_or("no queue"), grouped(*n))).collect();
    let more = if sums.len() > LISTED { ", ..." } else { "" };
    format!(" ({}{more})", shown.join(", "))
}

/// Some of the names, and how many more.
fn listed(names: &[&str]) -> String {
    match names.len().saturating_sub(LISTED) {
        0 => names.join(", "),
        more => format!(
            "{} and {} more",
            names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", "),
            grouped(more as u64)
        ),
    }
}

/// Since when the jobs are held.
fn claimed(tally: &Tally, now: Timestamp) -> String {
    match tally.first_claim {
        Some(first) if tally.jobs > 1 => format!(", the first claimed {}", at(first, now)),
        Some(first) => format!(", claimed {}", at(first, now)),
        None => String::new(),
    }
}

/// An instant for people: how long ago first, which is what counts at night.
fn at(time: Timestamp, now: Timestamp) -> String {
    format!("{} ago, at {} UTC", age(now.since(time)), clock(time, now))
}

fn between(first: Option<Timestamp>, last: Option<Timestamp>, now: Timestamp) -> String {
    match (first, last) {
        (Some(first), Some(last)) => {
            let (from, to) = (clock(first, now), clock(last, now));
            if from == to {
                return at(last, now);
            }
            format!("{} ago, between {from} and {to} UTC", age(now.since(last)))
        }
        _ => "at a time that nothing tells".to_owned(),
    }
}

/// For how long, and since when.
fn silent_for(last: Option<Timestamp>, now: Timestamp) -> String {
    match last {
        Some(last) => format!("for {}, since {} UTC", age(now.since(last)), clock(last, now)),
        None => "at all".to_owned(),
    }
}

/// The time of day in UTC; with the day where it is not today's.
fn clock(time: Timestamp, now: Timestamp) -> String {
    let part = |time: Timestamp, form: &str| {
        jiff::Timestamp::from_microsecond(time.micros()).map(|time| time.strftime(form).to_string()).unwrap_or_default()
    };
    if part(time, "%F") == part(now, "%F") { part(time, "%T") } else { part(time, "%F %T") }
}

/// A number with its noun, which takes an s.
fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A number with its thousands set apart.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

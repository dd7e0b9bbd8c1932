//! Diagnoses: what is likely to have happened, a sentence each.

use super::Job;
use super::columns;
use super::findings::sentence;
use super::format::{Cell, Screen, Tone, count, first_few, grouped};
use super::locks::holds_locks;
use crate::model::{Action, Cause, Timestamp, age};
use crate::policy::{self, DiagnosisKind, Doubt, Finding, Flow, PlannedActions, State};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The probable cause of several stuck jobs, or an inconsistency in their ownership data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// What it is, and about which jobs.
    #[serde(flatten)]
    pub of: policy::Diagnosis,
    /// In words.
    pub text: String,
    /// The first of these, which say what happened to whom.
    #[serde(skip)]
    pub headline: String,
}

/// Diagnoses in a table; documents hold more.
pub(super) const MOST: usize = 10;
/// Within this time jobs failed at once: a library looks for dead workers once in a while.
const AT_ONCE: Duration = Duration::from_secs(5 * 60);
/// The most names and queues in one sentence.
const LISTED: usize = 3;

/// The first of so many diagnoses in sentences, the one with the most jobs first.
pub fn diagnoses(list: &[Diagnosis], count: u64, screen: &Screen) -> String {
    let mut text: String = list.iter().take(MOST).map(|diagnosis| screen.paragraph(&diagnosis.sentence())).collect();
    let more = count.saturating_sub(list.len().min(MOST) as u64);
    if more > 0 {
        text.push_str(&screen.paragraph(&Cell::new(format!("and {} more", grouped(more)), Tone::Dim)));
    }
    text
}

/// The count of stuck jobs without a diagnosis.
pub fn alone(jobs: u64, screen: &Screen) -> String {
    if jobs == 0 { String::new() } else { screen.paragraph(&columns::alone(jobs)) }
}

impl Diagnosis {
    /// The first words of its sentence, and why; a table has the rest in its columns.
    pub(super) fn headline(&self) -> Cell {
        let why = match self.of.flow {
            Some(Flow::NoWorker) => ": no living worker",
            Some(Flow::AllStuck) => ": all in flight are stuck",
            _ => "",
        };
        Cell::new(format!("{}{why}", self.headline), self.tone())
    }

    /// What a run did about it: how many jobs it moved, and how many it did not; `None` if it had none to act on.
    pub fn done(&self, past: bool) -> Option<Cell> {
        let done = self.of.done?;
        let tone = if done.skip > 0 { Tone::Warn } else { Tone::Plain };
        Some(Cell::new(format!("{}: {}", self.headline().text, in_words(&done, past, "not moved")), tone))
    }

    /// What the record of a run that began `now` keeps of it; not how long ago that was.
    pub fn recorded(&self, now: Timestamp) -> Cause {
        let [headline, _, rest] = words(&self.of, now);
        let text = if rest.is_empty() { headline } else { format!("{headline}: {rest}") };
        Cause { diagnosis: self.of.what.name().to_owned(), text, since_at: self.of.since, jobs: self.of.jobs }
    }

    /// The number of the diagnosis that explains a job.
    pub fn of_job(list: &[Diagnosis], job: &Job) -> Option<usize> {
        let group = job.group?;
        list.iter().position(|one| one.of.groups.contains(&group))
    }

    pub(super) fn sentence(&self) -> Cell {
        Cell::new(self.text.as_str(), self.tone())
    }

    fn tone(&self) -> Tone {
        match self.of.what.severity() {
            State::Ok => Tone::Plain,
            State::Warning | State::Unknown => Tone::Warn,
            State::Critical => Tone::Bad,
        }
    }

    /// The documents of these diagnoses as of `now`, in order.
    pub fn list(all: Vec<policy::Diagnosis>, now: Timestamp) -> Vec<Diagnosis> {
        let mut list: Vec<Diagnosis> = all.into_iter().map(|one| Diagnosis::of(one, now)).collect();
        Diagnosis::sort(&mut list);
        list
    }

    pub fn sort(list: &mut [Diagnosis]) {
        list.sort_by(|a, b| a.of.order().cmp(&b.of.order()).then_with(|| a.text.cmp(&b.text)));
    }

    /// The document of a diagnosis, with its sentence as of `now`.
    pub fn of(diagnosis: policy::Diagnosis, now: Timestamp) -> Diagnosis {
        let [headline, when, rest] = words(&diagnosis, now);
        let text = if rest.is_empty() { format!("{headline}{when}") } else { format!("{headline}{when}: {rest}") };
        Diagnosis { text, headline, of: diagnosis }
    }
}

/// What fell silent comes first, then for how long, and how many jobs it is about.
fn words(of: &policy::Diagnosis, now: Timestamp) -> [String; 3] {
    let jobs = count(of.jobs, "job", "jobs");
    let alone = |headline: String| [headline, String::new(), String::new()];
    match &of.what {
        DiagnosisKind::AllSilent => {
            let (who, whom) = match (of.hosts, of.owners) {
                (_, None) => ("everything in flight", String::new()),
                (Some(hosts), _) => ("every owner", format!(" of {}", count(hosts, "host", "hosts"))),
                (None, Some(owners)) => ("every owner", format!(" of {}", count(owners, "owner", "owners"))),
            };
            let rest = "more likely the database, the network or a deploy than the workers";
            [format!("{who} went silent"), between(of, now), format!("{jobs}{whom}; {rest}")]
        }
        DiagnosisKind::Vanished => {
            let rest = format!("{}{}{}", of_kind(of), queues(of), names(of));
            [format!("{} vanished", gone(of)), between(of, now), rest]
        }
        DiagnosisKind::OneByOne => {
            let rest = format!("{}{}{}", of_kind(of), queues(of), names(of));
            [format!("{} went silent one by one", gone(of)), one_by_one(of, now), rest]
        }
        DiagnosisKind::Silent(why) => {
            let (doubt, when) = (doubt(*why), format!(" {}", silent_for(of.until, now)));
            if of.names.is_empty() {
                let verb = if of.jobs == 1 { "shows" } else { "show" };
                let headline = format!("{}{} {verb} no life", of_kind(of), queues(of));
                return [headline, format!("{when}{doubt}"), String::new()];
            }
            let verb = if of.names.len() == 1 { "shows" } else { "show" };
            let rest = format!("{}{}{}{doubt}", of_kind(of), queues(of), names(of));
            [format!("{} {verb} no life", gone(of)), when, rest]
        }
        DiagnosisKind::Interrupted => {
            let (who, names) =
                if of.names.is_empty() { ("workers".to_owned(), String::new()) } else { (gone(of), names(of)) };
            let names = if names.is_empty() { names } else { names + "," };
            // One process of a host may have died and others live.
            let who =
                if of.named_hosts > 0 && of.named_hosts == of.names.len() { format!("workers on {who}") } else { who };
            let are_apart = of.since.zip(of.until).is_some_and(|(first, last)| last.since(first) > AT_ONCE);
            let when = if are_apart { one_by_one(of, now) } else { between(of, now) };
            let rest = format!("{}{}{names} failed{when}", of_kind(of), queues(of));
            [format!("{who} died"), String::new(), rest]
        }
        DiagnosisKind::Hangs(doubt) => hangs(of, *doubt, now),
        DiagnosisKind::LostAgain(losses) => lost_again(of, losses),
        DiagnosisKind::Clock(lacks) | DiagnosisKind::Zone(lacks) | DiagnosisKind::Unjudged(lacks) => {
            unknown_claims(of, lacks)
        }
        DiagnosisKind::Locks(by) => alone(holds_locks(by)),
        DiagnosisKind::NotUnderstood(found) => alone(format!("{}: {}", found.sentence(), found.remedy())),
        kind if kind.is_of_due_jobs() => {
            let (headline, rest) = of_due_jobs(of, now);
            [headline, String::new(), rest]
        }
        _ => alone(inconsistent(of)),
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
        None => {
            let by = if let DiagnosisKind::NotStaged(by) = &of.what { by.as_str() } else { "" };
            (format!("{by} does not move on the due jobs of {who}"), due)
        }
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

fn hangs(of: &policy::Diagnosis, why: Option<Doubt>, now: Timestamp) -> [String; 3] {
    let claimed = match of.since {
        Some(first) if of.jobs > 1 => format!(", the first claimed {}", ago(first, now)),
        Some(first) => format!(", claimed {}", ago(first, now)),
        None => String::new(),
    };
    let kind = of.kind.as_deref();
    let lives = why.is_none();
    let owners = of.owners.map(|owners| count(owners, "owner", "owners")).unwrap_or_default();
    let Some(owner) = &of.owner else {
        let whom = match (&of.host, of.hosts) {
            (Some(host), _) => format!("host {host} ({owners})"),
            (None, Some(hosts)) if lives => count(hosts, "living host", "living hosts"),
            (None, Some(hosts)) => count(hosts, "host", "hosts"),
            (None, None) if lives => count(of.owners.unwrap_or_default(), "living owner", "living owners"),
            (None, None) => owners,
        };
        if of.owners.is_none() {
            let (late, workers) =
                if of.jobs == 1 { ("is late", "its worker lives") } else { ("are late", "their workers live") };
            return [format!("{} {late}", of_kind(of)), String::new(), format!("nothing shows whether {workers}")];
        }
        let doubt = if lives { "" } else { "; nothing shows whether the owners live" };
        let jobs = count(of.jobs, "job", "jobs");
        let headline = format!("kind {} hangs on {whom}", kind.unwrap_or_default());
        return [headline, String::new(), format!("{jobs}{claimed}{doubt}")];
    };
    let of_kind = kind.map_or_else(String::new, |kind| format!(" (kind {kind})"));
    let hang = if of.jobs == 1 { "hangs" } else { "hang" };
    let share = match (of.jobs, of.claims) {
        (1, 1) => "its only job".to_owned(),
        (jobs, claims) if jobs == claims => format!("all its {} jobs", grouped(jobs)),
        (jobs, claims) => format!("{} of its {} jobs", grouped(jobs), grouped(claims)),
    };
    let headline = match lives {
        true => format!("owner {owner} lives, but {share} {hang}{of_kind}"),
        false => format!("owner {owner}: {share} {hang}{of_kind}"),
    };
    [headline, format!("{claimed}{}", doubt(why)), String::new()]
}

/// Names the jobs and how often each was lost, and what fails them.
fn lost_again(of: &policy::Diagnosis, losses: &[i64]) -> [String; 3] {
    let least = losses.iter().min().copied().unwrap_or_default();
    let kind = of.kind.iter().map(|kind| format!("kind {kind}"));
    let them = if of.jobs == 1 { "it" } else { "them" };
    // A plan that fails them needs no advice.
    let is_failed = of.would.is_some_and(|would| would.fail == of.jobs);
    let advice = (!is_failed).then(|| format!("--max-stalls {least} fails {them}"));
    if let [id] = of.ids.as_slice() {
        let headline = format!("job {id} was lost {least} times before, and again");
        return [headline, String::new(), kind.chain(advice).collect::<Vec<_>>().join("; ")];
    }
    let named = of.ids.iter().zip(losses).map(|(id, times)| format!("{id} ({times} times)"));
    let named = first_few(&named.collect::<Vec<_>>(), LISTED, of.jobs);
    let jobs = count(of.jobs, "job was", "jobs were");
    let rest: Vec<String> = std::iter::once(named).chain(kind).chain(advice).collect();
    [format!("{jobs} lost again and again"), String::new(), rest.join("; ")]
}

fn unknown_claims(of: &policy::Diagnosis, lacks: &Finding) -> [String; 3] {
    let none = String::new;
    let jobs = format!("{} cannot be judged", count(of.jobs, "job", "jobs"));
    match (&of.what, lacks) {
        (DiagnosisKind::Clock(_), Finding::Ahead(column, _, by, _)) => {
            let up_to = if of.jobs == 1 { "" } else { "up to " };
            let whose = match (&of.host, &of.owner) {
                (Some(host), _) => format!("the clock of host {host}"),
                (None, Some(owner)) => format!("the clock of owner {owner}"),
                (None, None) => format!("the clock that writes {column}"),
            };
            [format!("{whose} is ahead"), format!(" of the database's by {up_to}{}", age(*by)), jobs]
        }
        (DiagnosisKind::Zone(_), Finding::IfUtc(_, column) | Finding::Ahead(column, ..)) => {
            let why = format!("{jobs} until `time_zone` names its zone");
            [format!("the zone of {column} is not known"), none(), why]
        }
        _ => [jobs, none(), format!("{}, job {} for one", sentence(lacks), of.ids.concat())],
    }
}

fn inconsistent(of: &policy::Diagnosis) -> String {
    let jobs = count(of.jobs, "job", "jobs");
    let (is, their) = if of.jobs == 1 { ("is", "its") } else { ("are", "their") };
    let owners = match of.names.as_slice() {
        [owner] => format!("owner {owner}"),
        names => format!("owners {}", first_few(names, LISTED, names.len() as u64)),
    };
    let has = if of.names.len() == 1 { "has" } else { "have" };
    match of.what {
        DiagnosisKind::OwnerMissing => format!("{jobs} {is} held by {owners}, which {has} no row"),
        DiagnosisKind::OwnerRestarted => {
            format!("{jobs} {is} older than the process that now goes by the name of {their} owner: {owners}")
        }
        DiagnosisKind::NoClaimTime => format!("{jobs} {is} in flight without a claim time that can be read"),
        _ => format!("{}{} {is} in flight without an owner", of_kind(of), queues(of)),
    }
}

/// `requeue 57, fail 3`, or in the past; `none` is the word for no action.
pub(super) fn in_words(all: &PlannedActions, past: bool, none: &'static str) -> String {
    let word = |action: Option<Action>| match action {
        Some(action) if past => action.past().to_owned(),
        action => action.map_or(none, Action::name).replace('_', " "),
    };
    let counts = all.counts().into_iter().filter(|(_, jobs)| *jobs > 0);
    counts.map(|(action, jobs)| format!("{} {}", word(action), grouped(jobs))).collect::<Vec<_>>().join(", ")
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
    match (&of.kind, of.queues.as_slice()) {
        (Some(kind), _) => format!("{jobs} of kind {kind}"),
        (None, [(Some(queue), _)]) => format!("{jobs} of queue {queue}"),
        _ => jobs,
    }
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

/// When holders died together, after a space.
fn between(of: &policy::Diagnosis, now: Timestamp) -> String {
    let (Some(first), Some(last)) = (of.since, of.until) else { return " at an unknown time".to_owned() };
    let (from, to, ended) = (clock(first, now), clock(last, now), age(now.since(last)));
    if from == to { format!(" {}", ago(last, now)) } else { format!(" {ended} ago, between {from} and {to} UTC") }
}

/// When holders died that did not die together, after a space.
fn one_by_one(of: &policy::Diagnosis, now: Timestamp) -> String {
    let (Some(first), Some(last)) = (of.since, of.until) else { return String::new() };
    let (from, to) = (clock(first, now), clock(last, now));
    format!(" between {from} and {to} UTC, the last {} ago", age(now.since(last)))
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

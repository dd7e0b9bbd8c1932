//! The waiting side of each queue: `fixtures/waiting/ENGINE/QUEUE.sql` fills the newest tables and says what is found there.

use super::database::{Databases, nothing_is_wrong};
use super::{Stage, newest, play};
use crate::support::doctor::limits;
use jobdoctor::model::{Timestamp, age, parse_duration};
use jobdoctor::ops::{Selection, Session, show, stale};
use jobdoctor::output::{Collector, ShownJob};
use jobdoctor::policy::{Flow, Policy, QueueFlow};
use jobdoctor::preset::{Catalog, Place};
use jobdoctor::store::open;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

#[test]
fn every_queue_says_what_is_due_and_what_stands_still() {
    nothing_is_wrong(&newest(), |databases, stage| {
        let (expected, found) = told_and_found(databases, stage, play::catalog(&stage.queue));
        (!are_alike(&expected, &found)).then(|| format!("{stage}:\nexpected {expected:#?}\nfound    {found:#?}"))
    });
}

/// True if a preset finds what its scene says.
pub(super) fn is_as_told(databases: &mut Databases, stage: &Stage, catalog: &Catalog) -> bool {
    let found = AssertUnwindSafe(|| told_and_found(databases, stage, catalog));
    std::panic::catch_unwind(found).is_ok_and(|(expected, found)| are_alike(&expected, &found))
}

fn told_and_found(databases: &mut Databases, stage: &Stage, catalog: &Catalog) -> (Vec<String>, Vec<String>) {
    let file = format!("fixtures/waiting/{}/{}.sql", stage.engine, stage.queue);
    let scene = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file));
    let scene = scene.unwrap_or_else(|_| panic!("{file} is missing"));
    (
        told(&scene, "-- queue ").into_iter().chain(told(&scene, "-- show ")).collect(),
        found(databases, stage, catalog, &scene),
    )
}

fn are_alike(expected: &[String], found: &[String]) -> bool {
    expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| is_alike(expected, found))
}

fn told(scene: &str, before: &str) -> Vec<String> {
    scene.lines().filter_map(|line| line.strip_prefix(before)).map(|line| line.trim().to_owned()).collect()
}

/// `~` stands for any age below a minute, and `*` for any end.
fn is_alike(expected: &str, found: &str) -> bool {
    if let Some(begin) = expected.strip_suffix('*') {
        return found.starts_with(begin);
    }
    let Some((before, after)) = expected.split_once('~') else { return expected == found };
    let age = found.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    age.is_some_and(|age| age.strip_suffix('s').is_some_and(|seconds| seconds.parse::<u64>().is_ok()))
}

fn found(databases: &mut Databases, stage: &Stage, catalog: &Catalog, scene: &str) -> Vec<String> {
    let mut database = databases.with(stage);
    database.run(scene);
    told(scene, "-- elsewhere: ").iter().for_each(|sql| database.run_elsewhere(sql));
    let store = open(&database.address());
    let options = told(scene, "-- option: ").into_iter();
    let options =
        options.filter_map(|line| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
    let (place, limits) = (Place { options: options.collect(), ..Place::default() }, limits());
    let session = Session::of(&*store, catalog, &place, &limits);
    let mut snapshot = session.snapshot().unwrap_or_else(|error| panic!("{stage}: {error}"));
    let older = told(scene, "-- older: ").first().map(|older| parse_duration(older).unwrap());
    let policy = Policy { older, ..Policy::default() };
    let listed = stale(&mut snapshot, &Selection::default(), &policy, Collector::first(0), &mut |_, _| false);
    let waiting = listed.unwrap_or_else(|error| panic!("{stage}: {error}")).summary.waiting.expect("it is read");
    let mut queues: Vec<&QueueFlow> = waiting.queues.iter().filter(|queue| queue.due + queue.staged > 0).collect();
    queues.sort_by_key(|queue| &queue.queue);
    let unknown = waiting.unknown.iter().map(|why| format!("unknown: {why}"));
    let mut lines: Vec<String> = unknown.chain(queues.into_iter().map(spelled)).collect();
    for id in told(scene, "-- show ").iter().filter_map(|line| line.split_once(": ")).map(|(id, _)| id.to_owned()) {
        let shown = show(&mut snapshot, std::slice::from_ref(&id), &policy, None, None).unwrap();
        let all: Vec<String> =
            shown.jobs.iter().filter(|job| !job.in_flight).map(|job| shown_as(job, shown.store_time)).collect();
        lines.push(format!("{id}: {}", all.join(" + ")));
    }
    lines
}

fn rounded(span: Duration) -> String {
    // To the minute: a scene takes a moment.
    let seconds = span.as_secs();
    age(Duration::from_secs(if seconds < 60 { seconds } else { (seconds + 30) / 60 * 60 }))
}

fn shown_as(job: &ShownJob, now: Timestamp) -> String {
    let mut parts = vec![job.job.state.clone()];
    if let Some(waits) = &job.waits {
        parts.extend(waits.not_before_at.map(|at| format!("not before in {}", rounded(at.since(now)))));
        parts.extend(waits.since_at.map(|at| format!("waits since {}", rounded(now.since(at)))));
        parts.extend(waits.before.filter(|before| *before > 0).map(|before| format!("{before} before it")));
        parts.extend(waits.paused.then(|| "paused".to_owned()));
        parts.extend((waits.workers == Some(0)).then(|| "no worker".to_owned()));
        parts.extend(waits.held.as_ref().map(|held| format!("held: {held}")));
    }
    let says = job.extra.iter().find(|(name, _)| name == "says").and_then(|(_, says)| says.clone());
    parts.extend(says.map(|says| format!("says: {says}")));
    parts.join("; ")
}

fn spelled(flow: &QueueFlow) -> String {
    let now = |at: Option<Timestamp>| {
        let oldest = flow.oldest_due.zip(flow.oldest_due_seconds)?;
        let now = oldest.0.plus(Duration::try_from_secs_f64(oldest.1).ok()?);
        at.map(|at| rounded(now.since(at)))
    };
    let mut line = format!("{}: {} due", flow.queue.as_deref().unwrap_or("-"), flow.due);
    line += &now(flow.oldest_due).map_or_else(String::new, |age| format!(", oldest {age}"));
    if flow.staged > 0 {
        line += &format!("; {} staged", flow.staged);
        line += &now(flow.oldest_staged).map_or_else(String::new, |age| format!(", oldest {age}"));
    }
    line += if flow.paused { "; paused" } else { "" };
    line += &match flow.workers {
        None => String::new(),
        Some(0) => "; no worker".to_owned(),
        Some(1) => "; 1 worker".to_owned(),
        Some(all) => format!("; {all} workers"),
    };
    line + match flow.standing {
        Some(Flow::Busy) => "; busy",
        Some(still) if still.stands_still() => "; stands still",
        _ => "",
    }
}

//! Plays one scene: look, plan, apply, and what comes after.

use super::Stage;
use super::changes::Rows;
use super::database::{Database, Databases};
use super::scene::Scene;
use super::times::{span, without_moments};
use crate::support::doctor::{limits, unguarded};
use jobdoctor::history::RecordOptions;
use jobdoctor::model::{Action, parse_duration};
use jobdoctor::ops::{self, ApplyOptions, Selection, Session};
use jobdoctor::output::{Diagnosis, Reclaim};
use jobdoctor::policy::{Delay, DiagnosisKind, Policy, Verdict, VerdictKind, judge};
use jobdoctor::preset::{Catalog, Place, Preset};
use jobdoctor::store::{Detail, open};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct End {
    pub told: String,
    /// Where that is not what the scene expects.
    pub differences: Vec<String>,
}

pub fn play(databases: &mut Databases, catalog: &Catalog, stage: &Stage, scene: &Scene) -> End {
    let mut database = databases.with(stage);
    let before = set_up(&mut *database, scene);

    let store = open(&database.address());
    let (place, limits) = (Place { options: scene.options.iter().cloned().collect(), ..Place::default() }, limits());
    let looking = Session::of(&*store, catalog, &place, &limits);
    let policy = Policy {
        older: scene.older.as_deref().map(|older| parse_duration(older).unwrap()),
        to: scene.to.as_deref().map(|to| Action::ALL.into_iter().find(|known| known.name() == to).unwrap()),
        ..Policy::default()
    };
    let policy = match scene.interrupted.as_deref() {
        Some(within) => policy.on_interrupted(parse_duration(within).unwrap()),
        None => policy,
    };
    let later = Delay { delay: scene.delay.as_deref().map(|delay| parse_duration(delay).unwrap()), jitter: None };
    let looked = if policy.interrupted.is_some() { looking.snapshot_of_interrupted() } else { looking.snapshot() };
    let looked = looked.and_then(|mut look| look.return_later(&later).map(|()| look));
    let mut look = match (looked, scene.expected.get("refusal")) {
        (Ok(look), None) => look,
        (Err(error), None) => panic!("{error}"),
        (look, Some(expected)) => return refused(look.err().map(|error| error.to_string()), expected),
    };
    let mut found = verdicts(&mut look, scene, &policy);
    let mut lines = vec![match look.target.variants.as_slice() {
        [] => format!("preset {}", look.target.preset),
        variants => format!("preset {} ({})", look.target.preset, variants.join("; ")),
    }];
    let plan = ops::plan(&mut look, &Selection::default(), &policy).unwrap_or_else(|error| panic!("{error}"));
    let plan = plan.ready(look);
    database.run(&scene.meanwhile);
    let order = ApplyOptions {
        later,
        record: RecordOptions { reason: scene.reason.clone(), ..RecordOptions::default() },
        ..unguarded()
    };
    let done = ops::reclaim(&*store, &limits, plan, &order).unwrap_or_else(|error| panic!("{error}"));
    let after = database.rows();

    count_causes(&done.document);
    let document = serde_json::to_value(&done.document).unwrap();
    let mut done_lines = Vec::new();
    for job in listed(&document, "steps") {
        let (id, end) = (text(&job["id"]), step(job));
        done_lines.push(format!(
            "{}: {} -> {}, attempts {} -> {}: {}",
            facts(job),
            text(&job["state"]),
            text(&job["state_after"]),
            job["attempts"],
            job["attempts_after"],
            end
        ));
        found.entry(id).or_default().push_str(&format!(", {end}"));
    }
    for job in listed(&document, "skipped") {
        let reason = text(&job["reason"]);
        if job["verdict"] == "stuck" {
            done_lines.push(format!("{}: skipped: {}", facts(job), text(&job["detail"])));
            found.entry(text(&job["id"])).or_default().push_str(&format!(", skipped {reason}"));
        } else {
            done_lines.push(format!("{}: {}", facts(job), text(&job["reasons"][0]["detail"])));
        }
    }
    done_lines.sort();
    lines.extend(done_lines);
    lines.extend(done.after.iter().map(|warning| format!("warning: {warning}")));
    lines.extend(done.stop.iter().map(|stop| format!("stopped: {stop}")));
    lines.extend(before.changes(&after, &scene.text));
    lines.extend(notifications(&mut *database, scene, &after));

    let mut last = after;
    for (title, sql) in &scene.then {
        lines.push(format!("then: {title}"));
        database.run(sql);
        let now = database.rows();
        lines.extend(last.changes(&now, &scene.text).into_iter().map(|line| format!("  {line}")));
        last = now;
    }
    End { told: without_moments(&(lines.join("\n") + "\n")), differences: differences(scene, &found) }
}

/// How many findings all scenes have, and how many of them no cause explains.
pub static FINDINGS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Counts the findings of a scene; a cause that explains one names what it is about.
fn count_causes(document: &Reclaim) {
    let skipped = document.skipped.iter().filter(|skipped| skipped.job.verdict != Some(VerdictKind::Healthy));
    for job in document.steps.items.iter().map(|step| &*step.job).chain(skipped.map(|skipped| &skipped.job)) {
        FINDINGS[0].fetch_add(1, Ordering::Relaxed);
        let cause = Diagnosis::of_job(&document.diagnoses, job);
        let Some(cause) = cause.and_then(|n| document.diagnoses.get(n)) else {
            FINDINGS[1].fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let of = &cause.of;
        let names = of.host.is_some() || of.owner.is_some() || of.kind.is_some() || !of.ids.is_empty();
        let is_of_all = of.what == DiagnosisKind::AllSilent;
        assert!(
            names || is_of_all || !of.names.is_empty() || !of.queues.is_empty(),
            "it names nothing: {}",
            cause.text
        );
    }
}

/// Everything that is there before jobdoctor looks: rows, other sessions, and somebody who listens.
pub(super) fn set_up(database: &mut dyn Database, scene: &Scene) -> Rows {
    database.run(&scene.setup);
    scene.elsewhere.iter().for_each(|sql| database.run_elsewhere(sql));
    scene.others.iter().for_each(|sql| database.run_beside(sql));
    scene.listen.iter().for_each(|channel| database.listen(channel));
    database.rows()
}

/// How a scene ends, as it is written down.
pub struct Written<'s> {
    pub stage: &'s Stage,
    scene: &'s Scene,
    pub told: String,
}

pub fn written(stage: &Stage) -> Vec<Written<'_>> {
    let outcome = format!("\n{}", std::fs::read_to_string(&stage.outcome).unwrap());
    let told = |scene: &Scene| {
        let end = outcome.split("\n== ").find_map(|part| part.strip_prefix(&format!("{}\n", scene.name)));
        // Without one every mutant would seem to be noticed.
        end.unwrap_or_else(|| panic!("{}: no end of {}", stage.outcome.display(), scene.name)).trim_end().to_owned()
    };
    stage.scenes.iter().map(|scene| Written { stage, scene, told: told(scene) }).collect()
}

impl Written<'_> {
    /// True if the scene ends like this with these presets too.
    pub fn is_reached(&self, databases: &mut Databases, catalog: &Catalog) -> bool {
        let playing = || play(databases, catalog, self.stage, self.scene);
        let end = std::panic::catch_unwind(AssertUnwindSafe(playing));
        end.is_ok_and(|end| end.told.trim_end() == self.told && end.differences.is_empty())
    }
}

/// That text in the place of the queue's preset, and no other.
pub fn catalog_of(queue: &str, preset: &str) -> Catalog {
    let mut catalog = Catalog::default();
    let mut mutant = Preset::parse("mutant", queue, preset).unwrap();
    mutant.built_in = true;
    catalog.add(mutant).unwrap();
    catalog
}

/// The end of a scene whose tables nobody knows.
fn refused(said: Option<String>, expected: &str) -> End {
    let said = said.unwrap_or_else(|| "nothing".to_owned());
    let difference =
        (!said.contains(expected)).then(|| format!("expected a refusal with `{expected}`; it said: {said}"));
    End { told: format!("refused: {said}\n"), differences: difference.into_iter().collect() }
}

/// All presets of the folder as it is now, so that detection has something to choose from. One that is broken is the business
/// of its own scenes.
pub fn catalog(queue: &str) -> &'static Catalog {
    static READ: OnceLock<(Catalog, BTreeMap<String, String>)> = OnceLock::new();
    let (catalog, broken) = READ.get_or_init(presets);
    if let Some(error) = broken.get(queue) {
        panic!("{error}");
    }
    catalog
}

fn presets() -> (Catalog, BTreeMap<String, String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/preset/presets");
    let (mut catalog, mut broken) = (Catalog::default(), BTreeMap::new());
    for path in super::entries(&folder) {
        let name = super::name(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        match Preset::parse(&format!("preset {name}"), &name, &text) {
            Ok(mut preset) => {
                preset.built_in = true;
                catalog.add(preset).unwrap();
            }
            Err(error) => drop(broken.insert(name, error.to_string())),
        }
    }
    (catalog, broken)
}

/// The verdict on each job that the scene names, and on each that is listed.
fn verdicts(look: &mut ops::Snapshot, scene: &Scene, policy: &Policy) -> BTreeMap<String, String> {
    let now = look.now();
    let mut found = BTreeMap::new();
    let ids: Vec<String> = scene.expected.keys().cloned().collect();
    let judged = |claim: &jobdoctor::model::Claim, spec: &jobdoctor::preset::Jobs| match judge(spec, claim, policy, now)
        .verdict
    {
        Verdict::Healthy => "healthy".to_owned(),
        Verdict::Unknown(_) => "unknown".to_owned(),
        Verdict::Stuck(reasons) => {
            let rules: Vec<&str> = reasons.iter().map(|reason| reason.rule.name()).collect();
            format!("stuck by {}", rules.join("+"))
        }
    };
    for job in look.reader.find(&look.jobs, &ids).unwrap_or_else(|error| panic!("{error}")) {
        let verdict = if job.in_flight { judged(&job.claim, &look.jobs) } else { "not in flight".to_owned() };
        found.insert(job.claim.key.to_string(), verdict);
    }
    let mut each = |claim: jobdoctor::model::Claim| {
        found.insert(claim.key.to_string(), judged(&claim, &look.jobs));
    };
    look.reader
        .scan(&look.jobs, &jobdoctor::store::Wanted::All, Detail::ForAction, &mut each)
        .unwrap_or_else(|error| panic!("{error}"));
    found
}

fn listed<'a>(document: &'a Value, list: &str) -> Vec<&'a Value> {
    document[list].as_array().into_iter().flatten().collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn facts(job: &Value) -> String {
    let silence = job["silence_seconds"].as_f64().map(|seconds| span(seconds.abs() as u64).unwrap_or("0".to_owned()));
    format!(
        "job {} of {}/{}, owner {} on {}, attempts {} of {}, silent for {}, by {}",
        text(&job["id"]),
        text(&job["queue"]),
        text(&job["kind"]),
        text(&job["owner"]),
        text(&job["host"]),
        job["attempts"],
        job["max_attempts"],
        silence.unwrap_or("?".to_owned()),
        text(&job["liveness"]),
    )
}

fn step(job: &Value) -> String {
    let constraint = job["error"]["constraint"].as_str().map(|name| format!(" {name}"));
    format!("{}, {}{}", text(&job["action"]), text(&job["outcome"]), constraint.unwrap_or_default())
}

pub(super) fn notifications(database: &mut dyn Database, scene: &Scene, after: &Rows) -> Vec<String> {
    let telling = after.telling(&scene.text);
    let payload = |payload: String| match serde_json::from_str::<Value>(&payload) {
        Ok(value) => telling.told(&value).to_string(),
        Err(_) => payload,
    };
    let heard = database.heard().into_iter();
    let mut lines: Vec<String> = heard.map(|(channel, sent)| format!("notified {channel} {}", payload(sent))).collect();
    lines.sort();
    lines
}

fn differences(scene: &Scene, found: &BTreeMap<String, String>) -> Vec<String> {
    let mut lines = Vec::new();
    for (id, expected) in &scene.expected {
        match found.get(id) {
            Some(found) if found == expected => {}
            Some(found) => lines.push(format!("job {id}: expected `{expected}`, found `{found}`")),
            None => lines.push(format!("job {id}: expected `{expected}`, and there is no such job")),
        }
    }
    for (id, found) in found.iter().filter(|(id, _)| !scene.expected.contains_key(*id)) {
        lines.push(format!("job {id}: nothing is expected of it, found `{found}`"));
    }
    lines
}

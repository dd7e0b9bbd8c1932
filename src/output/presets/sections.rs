//! What is known of a queue, cut into sections that every queue has in the same order.

use super::actions::action_named;
use super::page::{PresetFact as Line, PresetSection as Section, name, word};
use super::words::{self, code, quoted, stored};
use crate::model::Action;
use crate::preset::{CheckProfile, FinishedProfile, Profile, SkipProfile, TimeProfile, WakeUp};

/// Whether anything may be done to a job at all.
fn is_acted_on(profile: &Profile) -> bool {
    profile.actions.iter().any(|action| action.refused.is_none())
}

/// The heading of the section that variants come after.
pub(super) const TABLES: &str = "Tables";

pub(super) fn sections(profile: &Profile) -> Vec<Section> {
    let section = |title: &str, lines: Vec<Line>| Section { title: title.to_owned(), facts: lines };
    let mut sections = vec![
        section(TABLES, tables(profile)),
        section("In flight", in_flight(profile)),
        section("Times", times(profile)),
        section("Alive or dead", liveness(profile)),
        section("Attempts", attempts(profile)),
        section("Finished jobs", vec![word("run times", finished(profile))]),
    ];
    for kind in [Action::Requeue, Action::Fail, Action::Cancel, Action::TimeOut] {
        let found = profile.actions.iter().find(|action| action.action == kind);
        let lines = found.map_or_else(|| vec![word("never", "this queue has no such thing")], action_named);
        // Few tables have a state for it.
        if kind != Action::TimeOut || found.is_some() {
            sections.push(section(kind.name(), lines));
        }
    }
    for action in &profile.waiting {
        sections.push(section(&format!("{} of a job that waits", action.action), action_named(action)));
    }
    sections.push(section("Skipped", skips(profile)));
    sections.push(section("Waking workers", wake_ups(profile)));
    sections.push(section("Cautions", cautions(profile)));
    if !profile.checks.is_empty() {
        sections.push(section("Stuck though no worker holds them", profile.checks.iter().map(check).collect()));
    }
    let advice = profile.advice.iter().flat_map(|advice| {
        let text = advice.text.as_deref().map(|text| word("advice", text));
        text.into_iter().chain(advice.sql.as_deref().map(|sql| word("SQL", code(&sql.trim().replace('\n', " ")))))
    });
    sections.push(section("The library's own remedy", advice.collect()));
    sections
}

fn tables(profile: &Profile) -> Vec<Line> {
    let schema =
        profile.schema.as_ref().map(|schema| word("schema", format!("{}, unless told otherwise", code(schema))));
    let tables = profile.tables.iter().map(|table| name(table.physical.as_str(), words::table(table)));
    tables.chain(schema).collect()
}

fn in_flight(profile: &Profile) -> Vec<Line> {
    let claim = &profile.claim;
    let in_flight = stored(&profile.states.in_flight);
    let mut lines = vec![word("a claim is", words::in_flight(profile, &in_flight))];
    let columns = claim.key.iter().map(|key| code(key)).collect::<Vec<_>>().join(" and ");
    lines.push(word("a job is known by", columns));
    let mut say = |label: &str, column: &Option<String>| {
        lines.extend(column.as_ref().map(|column| word(label, code(column))));
    };
    say("its queue", &claim.queue);
    say("its kind", &claim.kind);
    say("claimed at", &claim.claimed_at);
    if !claim.progress.is_empty() {
        say("progress", &Some(claim.progress.join(", ")));
    }
    say("read from", &claim.from);
    let states = &profile.states;
    for (label, states) in [
        ("waiting", &states.waiting),
        ("in flight", &states.in_flight),
        ("done", &states.done),
        ("failed", &states.failed),
        ("cancelled", &states.cancelled),
        ("ignored", &states.ignored),
    ] {
        if !states.is_empty() {
            lines.push(word(label, stored(states).iter().map(|state| code(state)).collect::<Vec<_>>().join(", ")));
        }
    }
    lines
}

fn times(profile: &Profile) -> Vec<Line> {
    let line = |time: &TimeProfile| {
        let encodings = time.encodings.iter().map(|encoding| code(encoding)).collect::<Vec<_>>().join(" or ");
        match &time.column {
            Some(column) => name(column.as_str(), encodings),
            None => word("stored as", encodings),
        }
    };
    profile.times.iter().map(line).collect()
}

fn liveness(profile: &Profile) -> Vec<Line> {
    let owner = words::owner(&profile.owner).unwrap_or_else(|| "the tables do not say who holds a claim".to_owned());
    let mut lines = vec![word("owner", owner)];
    for (n, source) in profile.liveness.iter().enumerate() {
        lines.push(word(format!("{}. {}", n + 1, source.by), words::life_sign(source, &profile.owner)));
    }
    let rest = match profile.liveness.len() {
        0 if !is_acted_on(profile) => {
            "nothing here tells life from death: claims are listed, and nothing is ever done to them"
        }
        0 => "nothing here tells life from death: claims are unknown, and only a sweep with --restart moves them",
        1 => "where there is no value, nobody can tell, and the job is skipped",
        _ => "the first that has a value judges; where none has one, nobody can tell, and the job is skipped",
    };
    lines.push(word("order", rest));
    lines.extend(rules(profile));
    lines
}

fn rules(profile: &Profile) -> Vec<Line> {
    let rules = &profile.rules;
    let started = profile.owner.started.as_ref().map(|started| {
        let detail = format!("dead: its owner started ({}) after the claim was made", quoted(started));
        word("owner restarted", detail)
    });
    let deadline = rules.deadline.as_ref().map(|deadline| {
        let detail = format!("trouble, not death: {} has passed", quoted(deadline));
        word("deadline passed", detail)
    });
    let max_runtime = rules.max_runtime.as_ref().map(|max| {
        let detail = format!("trouble, not death: it runs for longer than {}", words::or_option(max));
        word("max runtime", detail)
    });
    let cancel = rules.cancel_requested.as_ref().map(|requested| {
        let detail = format!("a dead one is cancelled instead of put back: {}", quoted(requested));
        word("cancel requested", detail)
    });
    [started, deadline, max_runtime, cancel].into_iter().flatten().collect()
}

fn attempts(profile: &Profile) -> Vec<Line> {
    if !is_acted_on(profile) {
        return Vec::new();
    }
    let lost = match &profile.attempts.stalls {
        Some(stalls) => format!("{} tells how often a job was lost before, for --max-stalls", code(stalls)),
        None => "nothing in the tables counts how often a job was lost before".to_owned(),
    };
    let attempts = &profile.attempts;
    vec![word("counted", words::counted(attempts)), word("used up", words::exhausted(attempts)), word("lost", lost)]
}

/// Whether run times can be told, and from what.
fn finished(profile: &Profile) -> String {
    let untold = |why: &str| format!("not told: {why}");
    match &profile.finished {
        None => untold("the description does not say where the end of a run is kept"),
        Some(FinishedProfile::Untold(why)) => untold(why),
        Some(FinishedProfile::Kept { started: None, .. }) => untold("it is not known when a run began"),
        Some(FinishedProfile::Kept { started: Some(started), at, filter, states }) => {
            let states: Vec<String> = states.iter().map(|state| quoted(state)).collect();
            let which = match (&profile.claim.state, states.as_slice(), filter) {
                (Some(state), [_, ..], None) => format!("rows whose {} is {}", quoted(state), words::any_of(&states)),
                (Some(state), [_, ..], Some(filter)) => {
                    format!("rows whose {} is {}, where {}", quoted(state), words::any_of(&states), quoted(filter))
                }
                (_, _, Some(filter)) => format!("rows where {}", quoted(filter)),
                (_, _, None) => "finished rows".to_owned(),
            };
            format!("from {} to {}, of {which}", quoted(started), quoted(at))
        }
    }
}

/// The preset's own words about a late worker say more than the bare fact.
fn cautions(profile: &Profile) -> Vec<Line> {
    let (late, others): (Vec<_>, Vec<_>) = profile.cautions.iter().partition(|(name, _)| name == "late");
    let late = late.first().map_or_else(|| words::fencing(profile.fencing), |(_, text)| text.as_str());
    let others = others.into_iter().map(|(name, text)| word(name.replace('_', " "), text.as_str()));
    [word("a worker that comes back late", late)].into_iter().chain(others).collect()
}

fn skips(profile: &Profile) -> Vec<Line> {
    let line = |skip: &SkipProfile| {
        let is_every = skip.actions.len() == Action::ALL.len();
        let actions = if is_every {
            "every action".to_owned()
        } else {
            skip.actions.iter().map(|action| action.name()).collect::<Vec<_>>().join(", ")
        };
        word(skip.name.replace('_', " "), format!("{actions}: {}; where {}", skip.reason, code(&skip.condition)))
    };
    let guard = profile.claim.guard.as_ref().map(|guard| {
        word("guard", format!("every action: asked once the row is locked; the job is skipped unless {}", code(guard)))
    });
    profile.skips.iter().map(line).chain(guard).collect()
}

/// What `check` warns of.
fn check(check: &CheckProfile) -> Line {
    let text = format!("`check` warns of {}. Remedy: {}. Counted by {}", check.finds, check.remedy, code(&check.sql));
    word(check.name.replace('_', " "), text)
}

fn wake_ups(profile: &Profile) -> Vec<Line> {
    let line = |wake_up: &WakeUp| match wake_up {
        WakeUp::Channel { channel, payload } => {
            word("notify", format!("channel {}, payload {}", code(channel), code(payload)))
        }
        WakeUp::Sql(sql) => word("statement", code(sql)),
    };
    let mut lines: Vec<Line> = profile.wake_ups.iter().map(line).collect();
    if lines.is_empty() && is_acted_on(profile) {
        lines.push(word("none", "workers find the job when they look next"));
    }
    lines
}

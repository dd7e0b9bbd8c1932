//! What is known of a queue, cut into sections that every queue has in the same order.

use super::{PresetAction, PresetCheck, PresetDelayed, PresetQueue, PresetSkip, PresetStep, PresetTime, PresetWakeUp};
use crate::model::Action;

/// A heading and what stands under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) lines: Vec<Line>,
}

/// A name and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) label: Label,
    pub(super) text: String,
}

/// What a line is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    /// A word of ours.
    Word(String),
    /// The name of a table, a column or an option.
    Name(String),
}

impl Label {
    pub(super) fn text(&self) -> &str {
        match self {
            Label::Word(text) | Label::Name(text) => text,
        }
    }
}

pub(super) fn word(label: impl Into<String>, text: impl Into<String>) -> Line {
    Line { label: Label::Word(label.into()), text: text.into() }
}

pub(super) fn name(label: impl Into<String>, text: impl Into<String>) -> Line {
    Line { label: Label::Name(label.into()), text: text.into() }
}

pub(super) fn code(text: &str) -> String {
    // A backquote in it would end it.
    format!("`{}`", text.replace('`', "'"))
}

/// Whether anything may be done to a job at all.
fn is_acted_on(queue: &PresetQueue) -> bool {
    queue.actions.iter().any(|action| action.refused.is_none())
}

/// The heading of the section that variants come after.
pub(super) const TABLES: &str = "Tables";

pub(super) fn sections(queue: &PresetQueue) -> Vec<Section> {
    let section = |title: &str, lines: Vec<Line>| Section { title: title.to_owned(), lines };
    let mut sections = vec![
        section(TABLES, tables(queue)),
        section("In flight", in_flight(queue)),
        section("Times", times(queue)),
        section("Alive or dead", liveness(queue)),
        section("Attempts", attempts(queue)),
        section("Finished jobs", vec![word("run times", queue.finished.detail.as_str())]),
    ];
    for kind in ["requeue", "fail", "cancel", "time_out"] {
        let found = queue.actions.iter().find(|action| action.action == kind);
        let lines = found.map_or_else(|| vec![word("never", "this queue has no such thing")], action_named);
        // Few tables have a state for it.
        if kind != "time_out" || found.is_some() {
            sections.push(section(kind, lines));
        }
    }
    for action in &queue.waiting {
        sections.push(section(&format!("{} of a job that waits", action.action), action_named(action)));
    }
    sections.push(section("Skipped", skips(queue)));
    sections.push(section("Waking workers", wake_ups(queue)));
    sections.push(section("Cautions", cautions(queue)));
    if !queue.checks.is_empty() {
        sections.push(section("Stuck though no worker holds them", queue.checks.iter().map(check).collect()));
    }
    let advice = queue.advice.iter().flat_map(|advice| {
        let text = advice.text.as_deref().map(|text| word("advice", text));
        text.into_iter().chain(advice.sql.as_deref().map(|sql| word("SQL", code(&sql.trim().replace('\n', " ")))))
    });
    sections.push(section("The library's own remedy", advice.collect()));
    sections
}

fn tables(queue: &PresetQueue) -> Vec<Line> {
    let schema =
        queue.default_schema.as_ref().map(|schema| word("schema", format!("{}, unless told otherwise", code(schema))));
    let tables = queue.tables.iter().map(|table| name(table.table.as_str(), table.detail.as_str()));
    tables.chain(schema).collect()
}

fn in_flight(queue: &PresetQueue) -> Vec<Line> {
    let claim = &queue.in_flight;
    let mut lines = vec![word("a claim is", claim.detail.as_str())];
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
    let states = &queue.states;
    for (label, states) in [
        ("waiting", &states.waiting),
        ("in flight", &states.in_flight),
        ("done", &states.done),
        ("failed", &states.failed),
        ("cancelled", &states.cancelled),
    ] {
        if !states.is_empty() {
            lines.push(word(label, states.iter().map(|state| code(state)).collect::<Vec<_>>().join(", ")));
        }
    }
    lines
}

fn times(queue: &PresetQueue) -> Vec<Line> {
    let line = |time: &PresetTime| {
        let encodings = time.encodings.iter().map(|encoding| code(encoding)).collect::<Vec<_>>().join(" or ");
        match &time.column {
            Some(column) => name(column.as_str(), encodings),
            None => word("stored as", encodings),
        }
    };
    queue.times.iter().map(line).collect()
}

fn liveness(queue: &PresetQueue) -> Vec<Line> {
    let owner = queue.owner.as_ref().map_or("the tables do not say who holds a claim", |owner| owner.detail.as_str());
    let mut lines = vec![word("owner", owner)];
    for (n, source) in queue.liveness.iter().enumerate() {
        lines.push(word(format!("{}. {}", n + 1, source.by), source.detail.as_str()));
    }
    let rest = match queue.liveness.len() {
        0 if !is_acted_on(queue) => {
            "nothing here tells life from death: claims are listed, and nothing is ever done to them"
        }
        0 => "nothing here tells life from death: claims are unknown, and only a sweep with --restart moves them",
        1 => "where there is no value, nobody can tell, and the job is skipped",
        _ => "the first that has a value judges; where none has one, nobody can tell, and the job is skipped",
    };
    lines.push(word("order", rest));
    lines.extend(queue.rules.iter().map(|rule| word(rule.rule.replace('_', " "), rule.detail.as_str())));
    lines
}

fn attempts(queue: &PresetQueue) -> Vec<Line> {
    if !is_acted_on(queue) {
        return Vec::new();
    }
    let lost = match &queue.attempts.stalls {
        Some(stalls) => format!("{} tells how often a job was lost before, for --max-stalls", code(stalls)),
        None => "nothing in the tables counts how often a job was lost before".to_owned(),
    };
    let attempts = &queue.attempts;
    vec![word("counted", attempts.counted.as_str()), word("used up", attempts.exhausted.as_str()), word("lost", lost)]
}

fn action_named(action: &PresetAction) -> Vec<Line> {
    if let Some(why) = &action.refused {
        return vec![word("never", why.as_str())];
    }
    let mut lines: Vec<Line> = action.to.iter().map(|to| word("to", code(to))).collect();
    let is_one = action.steps.len() == 1;
    for (n, step) in action.steps.iter().enumerate() {
        if !is_one || step.sql.is_some() {
            lines.push(word(format!("step {}", n + 1), does(step)));
        }
        for change in &step.changes {
            let only = if change.optional { " (where the table has it)" } else { "" };
            lines.push(name(change.column.as_str(), format!("{}{only}", change.detail)));
        }
    }
    if action.steps.iter().any(|step| step.sql.is_none()) {
        lines.push(word("all other columns", "stay as they are"));
    }
    lines.extend(action.delayed.iter().flat_map(delayed));
    lines
}

/// What is otherwise with `--delay`; nothing where only the time is.
fn delayed(delayed: &PresetDelayed) -> Vec<Line> {
    let refused = delayed.refused.iter().map(|why| format!("refused: {why}"));
    let to = delayed.to.iter().map(|to| format!("to {}", code(to)));
    let changes = delayed.changes.iter().map(|change| format!("{} {}", code(&change.column), change.detail));
    let said: Vec<String> = refused.chain(to).chain(changes).collect();
    if said.is_empty() { Vec::new() } else { vec![word("with --delay", said.join("; "))] }
}

fn does(step: &PresetStep) -> String {
    match (&step.does, &step.sql) {
        (Some(does), _) => does.clone(),
        (None, Some(sql)) => code(sql),
        (None, None) => "the row is updated:".to_owned(),
    }
}

/// The preset's own words about a late worker say more than the bare fact.
fn cautions(queue: &PresetQueue) -> Vec<Line> {
    let (late, others): (Vec<_>, Vec<_>) = queue.cautions.iter().partition(|caution| caution.name == "late");
    let late = late.first().map_or(queue.fencing_detail.as_str(), |caution| caution.text.as_str());
    let others = others.into_iter().map(|caution| word(caution.name.replace('_', " "), caution.text.as_str()));
    [word("a worker that comes back late", late)].into_iter().chain(others).collect()
}

fn skips(queue: &PresetQueue) -> Vec<Line> {
    let line = |skip: &PresetSkip| {
        let is_every = skip.actions.len() == Action::ALL.len();
        let actions = if is_every { "every action".to_owned() } else { skip.actions.join(", ") };
        word(skip.name.replace('_', " "), format!("{actions}: {}; where {}", skip.reason, code(&skip.condition)))
    };
    let guard = queue.guard.as_ref().map(|guard| {
        word("guard", format!("every action: asked once the row is locked; the job is skipped unless {}", code(guard)))
    });
    queue.skips.iter().map(line).chain(guard).collect()
}

/// What `check` warns of.
fn check(check: &PresetCheck) -> Line {
    let text = format!("`check` warns of {}. Remedy: {}. Counted by {}", check.finds, check.remedy, code(&check.sql));
    word(check.name.replace('_', " "), text)
}

fn wake_ups(queue: &PresetQueue) -> Vec<Line> {
    let line = |wake_up: &PresetWakeUp| match (&wake_up.channel, &wake_up.payload, &wake_up.sql) {
        (Some(channel), Some(payload), _) => {
            word("notify", format!("channel {}, payload {}", code(channel), code(payload)))
        }
        (_, _, Some(sql)) => word("statement", code(sql)),
        _ => word("statement", "-"),
    };
    let mut lines: Vec<Line> = queue.wake_ups.iter().map(line).collect();
    if lines.is_empty() && is_acted_on(queue) {
        lines.push(word("none", "workers find the job when they look next"));
    }
    lines
}

use super::columns::{self, Columns};
use super::document::{Document, List, Shape};
use super::format::{Cell, Facts, Format, Screen, Times, Tone};
use super::history::{HistoryRun, command, moved, undo, who};
use super::{Collector, Listing};
use crate::model::{End, Outcome, Step, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.history-run/v1`: one run with its steps.
#[derive(Serialize, JsonSchema)]
pub struct HistoryOne {
    /// All but the counts and the steps.
    #[serde(flatten)]
    pub head: HistoryOneHead,
    /// The counts.
    pub summary: HistoryOneSummary,
    /// The steps, as far as they are recorded.
    pub steps: Listing<HistoryStep>,
    /// When the record was read; people see how long ago the run was.
    #[serde(skip)]
    pub read_at: Option<Timestamp>,
}

/// The head of a [`HistoryOne`].
#[derive(Serialize, JsonSchema)]
pub struct HistoryOneHead {
    /// `jobdoctor.history-run/v1`.
    pub schema: &'static str,
    /// The run.
    pub run: HistoryRun,
}

/// The counts of a [`HistoryOne`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryOneSummary {
    /// Steps in `steps`.
    pub steps: u64,
    /// What became of the jobs whose outcome the record does not know.
    pub unsure: HistoryUnsure,
}

/// Jobs whose outcome the record does not know, because it ends before it says so or the answer to a commit was lost,
/// by what the database says of them now.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryUnsure {
    /// Not compared: no database was at hand, or no row is recorded.
    pub open: u64,
    /// Moved.
    pub moved: u64,
    /// Not moved.
    pub not_moved: u64,
    /// Changed or gone since, so that it cannot be told any more.
    pub changed: u64,
}

/// One step of a run, as it is recorded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryStep {
    /// The step and its end; the outcome is `unknown` where the record does not say.
    #[serde(flatten)]
    pub step: Step<End>,
    /// Where the outcome is unknown and the row could be compared: `moved`, `not_moved`, `changed` or `gone`.
    pub compared: Option<String>,
}

impl Document for HistoryOne {
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, _: Format, _: Times) -> Vec<List<'_>> {
        vec![List::listing("step", &self.steps, steps())]
    }

    fn above(&self, screen: &Screen) -> String {
        let run = &self.head.run;
        let mut facts = Facts::new();
        facts.add("run", Cell::new(run.head.run_id.as_str(), Tone::Strong));
        facts.add(
            "when",
            columns::time(Some(run.head.store_time), self.read_at.unwrap_or(run.head.store_time), screen.times),
        );
        facts.add("command", command(run));
        facts.add("by", columns::text(who(run).as_deref()));
        facts.add("reason", columns::text(run.head.reason.as_deref()));
        let target = &run.head.target;
        facts.add(
            "queue",
            format!("{} {}, table {}, preset {}", target.engine, target.database, target.table, target.preset),
        );
        facts.add("moved", format!("{} of {}", moved(run), run.head.planned.map_or("?".to_owned(), |n| n.to_string())));
        if let Some(jobs) = run.unrecorded.filter(|jobs| *jobs > 0) {
            let words = format!("{jobs} of them: the journal could not be written then");
            facts.add("not recorded", Cell::new(words, Tone::Warn));
        }
        facts.add("undo", undo(run));
        facts.add("recorded in", run.recorded_in.join(", "));
        if run.complete == Some(false) {
            let words = "not recorded: the run was stopped, could not write its journal, or is still running";
            facts.add("end", Cell::new(words, Tone::Warn));
        }
        if let Some(stop) = &run.stop {
            facts.add("stopped", Cell::new(stop.as_str(), Tone::Warn));
        }
        facts.render(screen)
    }
}

impl HistoryOne {
    /// Collects the steps of a document that is printed in this format.
    pub fn collector(format: Format) -> Collector<HistoryStep> {
        Collector::of(Shape::of("step", &steps()), format, None)
    }

    pub fn titles() -> Vec<&'static str> {
        steps().titles()
    }
}

fn steps<'a>() -> Columns<'a, HistoryStep> {
    let number = |n: Option<i64>| n.map_or("-".to_owned(), |n| n.to_string());
    let tries = move |HistoryStep { step, .. }: &HistoryStep| match (step.attempts, step.attempts_after) {
        (None, None) => "-".into(),
        (before, after) => format!("{} to {}", number(before), number(after)).into(),
    };
    let outcome = |shown: &HistoryStep| match (shown.step.stage.outcome, &shown.compared) {
        (Outcome::Unknown, Some(now)) => Cell::new(format!("unknown: {}", now.replace('_', " ")), Tone::Warn),
        (Outcome::Unknown, None) => Cell::new("unknown", Tone::Warn),
        (ended, _) => columns::outcome(Some(ended)),
    };
    let why = |HistoryStep { step, .. }: &HistoryStep| {
        let refused = step.stage.error.as_ref().and_then(|error| error.constraint.as_ref().or(error.sqlstate.as_ref()));
        columns::text(Some(refused.unwrap_or(&step.rules.join(", "))))
    };
    Columns::<HistoryStep>::new()
        .add(columns::column("id", 0, None), "id", |shown| shown.step.id.as_str().into())
        .add(columns::names("queue", 6, 8), "queue", |shown| columns::text(shown.step.queue.as_deref()))
        .add(columns::names("kind", 5, 16), "kind", |shown| columns::text(shown.step.kind.as_deref()))
        .add(columns::names("owner", 2, 10), "owner", |shown| columns::text(shown.step.owner.as_deref()))
        .add(columns::column("action", 1, None), "action", |shown| shown.step.action.name().into())
        .add(columns::column("from", 3, Some(7)), "state", |shown| shown.step.state.as_str().into())
        .add(columns::column("to", 3, Some(7)), "state_after", |shown| shown.step.state_after.as_str().into())
        .add(columns::column("tries", 4, None), "attempts attempts_after", tries)
        .add(columns::column("outcome", 0, None), "rules outcome compared", outcome)
        .add(columns::column("why", 2, Some(12)), "", why)
}

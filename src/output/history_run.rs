use super::document::{Document, ROWS, csv_of, line, list};
use super::format::{Cell, Column, Facts, Format, Page, Screen, Table, Tone};
use super::history::{HistoryRun, command, moved, undo, who};
use super::{Spool, columns};
use crate::model::{End, Outcome, Step, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::io::{self, Write};

/// `jobdoctor.history-run/v1`: one run with its steps.
#[derive(Serialize, JsonSchema)]
pub struct HistoryOne {
    /// `jobdoctor.history-run/v1`.
    pub schema: &'static str,
    /// The run.
    pub run: HistoryRun,
    /// The counts.
    pub summary: HistoryOneSummary,
    /// The steps, as far as they are recorded.
    pub steps: Spool<HistoryStep>,
    /// When the record was read; people see how long ago the run was.
    #[serde(skip)]
    pub read_at: Option<Timestamp>,
}

/// The counts of a [`HistoryOne`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryOneSummary {
    /// Steps in `steps`.
    pub steps: u64,
    /// What became of the jobs whose outcome the record does not know.
    pub unsure: HistoryUnsure,
}

/// Jobs whose outcome the record does not know, because it ends before it says so or the answer to a commit was lost, by what
/// the database says of them now.
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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HistoryStep {
    /// The step and its end; the outcome is `unknown` where the record does not say.
    #[serde(flatten)]
    pub step: Step<End>,
    /// Where the outcome is unknown and the row could be compared: `moved`, `not_moved`, `changed` or `gone`.
    pub compared: Option<String>,
}

impl HistoryStep {
    /// The columns of `csv`.
    const COLUMNS: &'static str =
        "id queue kind owner action state state_after attempts attempts_after rules outcome compared";
}

impl Document for HistoryOne {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page> {
        let run = &self.run;
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
            let words = "not recorded: the run was stopped, could not write its journal, or is still at work";
            facts.add("end", Cell::new(words, Tone::Warn));
        }
        if let Some(stop) = &run.stop {
            facts.add("stopped", Cell::new(stop.as_str(), Tone::Warn));
        }
        let mut page = Page::from(facts.render(screen));
        if !self.steps.is_empty() {
            let rows = if format == Format::Wide { usize::MAX } else { ROWS };
            page.table("", &steps(&self.steps, rows)?, screen);
        }
        Ok(page)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv_of(HistoryStep::COLUMNS, self.steps.json(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.steps.iter().try_for_each(|step| writeln!(out, "{}", step?.step.id))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut fields = Map::new();
        fields.insert("schema".to_owned(), self.schema.into());
        fields.insert("run".to_owned(), serde_json::to_value(&self.run)?);
        line(out, "head", &fields)?;
        list(out, "step", &self.steps)?;
        line(out, "summary", &self.summary)
    }
}

impl HistoryOne {
    /// The titles of its table.
    pub fn titles() -> Vec<&'static str> {
        columns().into_iter().map(|column| column.title).collect()
    }
}

fn columns() -> Vec<Column> {
    vec![
        columns::column("id", 0, None),
        columns::names("queue", 6, 8),
        columns::names("kind", 5, 16),
        columns::names("owner", 2, 10),
        columns::column("action", 1, None),
        columns::column("from", 3, Some(7)),
        columns::column("to", 3, Some(7)),
        columns::column("tries", 4, None),
        columns::column("outcome", 0, None),
        columns::column("why", 2, Some(12)),
    ]
}

fn steps(list: &Spool<HistoryStep>, rows: usize) -> io::Result<Table> {
    let mut table = Table { columns: columns(), rows: Vec::new() };
    for step in list.iter().take(rows) {
        let HistoryStep { step, compared } = step?;
        let number = |n: Option<i64>| n.map_or("-".to_owned(), |n| n.to_string());
        let tries = match (step.attempts, step.attempts_after) {
            (None, None) => "-".to_owned(),
            (before, after) => format!("{} to {}", number(before), number(after)),
        };
        let End { outcome: ended, error, .. } = &step.stage;
        let refused = error.as_ref().and_then(|error| error.constraint.as_ref().or(error.sqlstate.as_ref()));
        table.rows.push(vec![
            step.id.as_str().into(),
            columns::text(step.queue.as_deref()),
            columns::text(step.kind.as_deref()),
            columns::text(step.owner.as_deref()),
            step.action.name().into(),
            step.state.as_str().into(),
            step.state_after.as_str().into(),
            tries.into(),
            match (ended, compared) {
                (Outcome::Unknown, Some(now)) => Cell::new(format!("unknown: {}", now.replace('_', " ")), Tone::Warn),
                (Outcome::Unknown, None) => Cell::new("unknown", Tone::Warn),
                (ended, _) => columns::outcome(Some(*ended)),
            },
            columns::text(Some(refused.unwrap_or(&step.rules.join(", ")))),
        ]);
    }
    Ok(table)
}

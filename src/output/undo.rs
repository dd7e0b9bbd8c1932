use super::document::{Document, ROWS, csv_of, head, line, list};
use super::format::{Cell, Format, Screen, Table, Tone};
use super::{Outcomes, RowError, Spool, Target, columns};
use crate::model::{Action, Outcome, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// `jobdoctor.undo/v1`: what of a run is taken back, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct Undo {
    /// `jobdoctor.undo/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// The run that is taken back.
    pub undoes: String,
    /// Where that run is recorded: `journal` or `ledger`.
    pub recorded_in: String,
    /// False for a dry run, and for one that was refused.
    pub applied: bool,
    /// This run, which can be taken back in turn; null where it gave nothing back, as in a dry run.
    pub run_id: Option<String>,
    /// The file with the journal of this run; null where there is none.
    pub journal: Option<String>,
    /// True if `undo` could take back this run in turn, or could.
    pub undoable: bool,
    /// The counts.
    pub summary: UndoSummary,
    /// Why it was not done although that was asked for, or could not be.
    pub refused: Option<String>,
    /// What an operator should know.
    pub warnings: Vec<String>,
    /// The jobs that the run moved and that are recorded.
    pub steps: Spool<UndoStep>,
    /// The jobs that the run moved and that cannot be given back, whatever they are now.
    pub left: Spool<UndoLeft>,
}

/// The counts of an [`Undo`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct UndoSummary {
    /// Steps.
    pub planned: u64,
    /// Of them: as the run left them at the time of the snapshot.
    pub untouched: u64,
    /// Of them: touched since.
    pub changed: u64,
    /// Of them: no longer there.
    pub gone: u64,
    /// Jobs in `left`, which cannot be given back.
    pub left: u64,
    /// Jobs that the run moved and that no record names, so that they cannot be given back either; null where the record has no
    /// end, so that their number is not known.
    pub unrecorded: Option<u64>,
    /// How the steps ended; null in a dry run. All seven, and they add up to the steps.
    pub outcomes: Option<Outcomes>,
}

/// A job that is to be given back, or was.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoStep {
    /// The job.
    pub id: String,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it, and will again as far as the row says.
    pub owner: Option<String>,
    /// The action that is reverted.
    pub action: Action,
    /// The state that the run left it in, in the queue's own words.
    pub state: String,
    /// The state that it comes back to.
    pub state_after: String,
    /// The attempts that the run left it with.
    pub attempts: Option<i64>,
    /// Its attempts afterwards.
    pub attempts_after: Option<i64>,
    /// What its row was at the snapshot: `untouched`, `changed`, `as_before` (what it was before the run, so there is nothing to give
    /// back) or `gone`.
    pub seen: String,
    /// The state it was in at the snapshot; null where the state is no column.
    pub state_seen: Option<String>,
    /// How it ended; null in a dry run.
    pub outcome: Option<Outcome>,
    /// Why the database refused it.
    pub error: Option<RowError>,
}

/// A job that cannot be given back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoLeft {
    /// The job.
    pub id: String,
    /// The action that stays; null where it is not recorded.
    pub action: Option<Action>,
    /// The state that the run left it in; null where nobody has recorded it.
    pub state: Option<String>,
    /// Why.
    pub detail: String,
}

impl UndoStep {
    /// The columns of `csv`.
    pub(super) const COLUMNS: &'static str = "\
        id queue kind owner action state state_after attempts attempts_after seen state_seen outcome \
        error=/error/message";
}

impl Document for Undo {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let mut text = String::new();
        if !self.steps.is_empty() {
            text.push_str(&steps(&self.steps, rows, self.applied)?.render(screen));
        }
        if !self.left.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str("Cannot be given back:\n");
            text.push_str(&left(&self.left, rows)?.render(screen));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv_of(UndoStep::COLUMNS, self.steps.iter(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.steps.iter().try_for_each(|step| writeln!(out, "{}", step?.id))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [
            ("undoes", self.undoes.clone().into()),
            ("recorded_in", self.recorded_in.clone().into()),
            ("applied", self.applied.into()),
            ("run_id", serde_json::to_value(&self.run_id)?),
            ("journal", serde_json::to_value(&self.journal)?),
            ("undoable", self.undoable.into()),
            ("refused", serde_json::to_value(&self.refused)?),
            ("warnings", serde_json::to_value(&self.warnings)?),
        ];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        list(out, "step", &self.steps)?;
        list(out, "left", &self.left)?;
        line(out, "summary", &self.summary)
    }
}

fn steps(list: &Spool<UndoStep>, rows: usize, applied: bool) -> io::Result<Table> {
    let mut columns = vec![
        columns::column("id", 0, None),
        columns::column("queue", 6, Some(6)),
        columns::column("kind", 5, Some(8)),
        columns::column("owner", 3, Some(10)),
        columns::column("was moved by", 4, None),
        columns::column("back to", 1, None),
        columns::right("tries", 4),
        columns::column("now", 0, None),
    ];
    if applied {
        columns.push(columns::column("outcome", 0, None));
    }
    columns.push(columns::column("why", 2, Some(20)));
    let mut table = Table { columns, rows: Vec::new() };
    for step in list.iter().take(rows) {
        let step = step?;
        let mut row = vec![
            step.id.as_str().into(),
            columns::text(step.queue.as_deref()),
            columns::text(step.kind.as_deref()),
            columns::text(step.owner.as_deref()),
            step.action.name().into(),
            step.state_after.as_str().into(),
            columns::attempts(step.attempts_after, None).into(),
            seen(&step),
        ];
        if applied {
            row.push(outcome(&step));
        }
        row.push(match &step.error {
            Some(error) => Cell::new(error.message.as_str(), Tone::Bad),
            None => why(&step).into(),
        });
        table.rows.push(row);
    }
    Ok(table)
}

fn seen(step: &UndoStep) -> Cell {
    let tone = if step.seen == "untouched" { Tone::Good } else { Tone::Warn };
    Cell::new(step.seen.replace('_', " "), tone)
}

fn why(step: &UndoStep) -> String {
    match (step.seen.as_str(), &step.state_seen) {
        ("untouched", _) => "nobody has touched it since".to_owned(),
        ("as_before", _) => "it is what it was before that run already".to_owned(),
        ("gone", _) => "its row is not there any more".to_owned(),
        (_, Some(state)) if *state != step.state => format!("somebody has touched it: it is {state} now"),
        _ => "somebody has touched it".to_owned(),
    }
}

fn outcome(step: &UndoStep) -> Cell {
    let Some(outcome) = step.outcome else { return Cell::new("-", Tone::Dim) };
    let tone = match outcome {
        Outcome::Moved => Tone::Good,
        Outcome::Changed | Outcome::Gone | Outcome::Locked | Outcome::NotTried => Tone::Warn,
        Outcome::Refused | Outcome::Unknown => Tone::Bad,
    };
    Cell::new(outcome.name(), tone)
}

fn left(list: &Spool<UndoLeft>, rows: usize) -> io::Result<Table> {
    let columns = vec![
        columns::column("id", 0, None),
        columns::column("action", 1, None),
        columns::column("state", 2, Some(7)),
        columns::column("why", 0, Some(20)),
    ];
    let mut table = Table { columns, rows: Vec::new() };
    for left in list.iter().take(rows) {
        let left = left?;
        table.rows.push(vec![
            left.id.as_str().into(),
            columns::text(left.action.map(Action::name)),
            columns::text(left.state.as_deref()),
            left.detail.into(),
        ]);
    }
    Ok(table)
}

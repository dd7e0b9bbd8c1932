use super::document::{Document, ROWS, csv_of, json_of, line};
use super::format::{Cell, Column, Format, Page, Screen, Table, Tone};
use super::{Outcomes, columns};
use crate::model::{RunHead, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;
use std::io::{self, Write};

/// `jobdoctor.history/v1`: the runs that are recorded, newest first.
#[derive(Serialize, JsonSchema)]
pub struct History {
    /// `jobdoctor.history/v1`.
    pub schema: &'static str,
    /// The directory with the journals of this host; null where no environment variable says where.
    pub journal: Option<String>,
    /// The ledger that was read too; null where no database was at hand, or it has none.
    pub ledger: Option<String>,
    /// Journals that could not be read, whose runs are not in the list.
    pub warnings: Vec<String>,
    /// The counts.
    pub summary: HistorySummary,
    /// The runs.
    pub runs: Vec<HistoryRun>,
    /// When the record was read; people see how long ago a run was.
    #[serde(skip)]
    pub read_at: Option<Timestamp>,
}

/// The counts of a [`History`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistorySummary {
    /// Runs that are recorded, of the databases that were asked for.
    pub runs: u64,
    /// Runs in `runs`.
    pub returned: u64,
    /// True if the limit left some out.
    pub truncated: bool,
    /// Runs on other databases, which are left out where one database was asked for.
    pub other_databases: u64,
}

/// One run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryRun {
    /// Which run, and what its record says of it.
    #[serde(flatten)]
    pub head: RunHead,
    /// Jobs that it moved; null where that is not known, because its journal has no end and no ledger has the run.
    pub moved: Option<u64>,
    /// Jobs that are recorded as moved.
    pub moved_at_least: u64,
    /// How all its steps ended; null where the journal has no end, or only the ledger knows the run.
    pub outcomes: Option<Outcomes>,
    /// Jobs whose rows are recorded, so that `undo` could revert them while they are unchanged.
    pub undoable: u64,
    /// Jobs that it moved and that no record names, so that `undo` cannot revert them; null where their number is not known.
    pub unrecorded: Option<u64>,
    /// The runs that reverted this one.
    pub undone_by: Vec<String>,
    /// False if its journal has no end: it was stopped, could not write the journal, or is still at work. Null where only the ledger
    /// knows it.
    pub complete: Option<bool>,
    /// Why it stopped early.
    pub stop: Option<String>,
    /// `journal`, `ledger` or both.
    pub recorded_in: Vec<String>,
}

impl HistoryRun {
    /// The columns of `csv`.
    pub(super) const COLUMNS: &'static str = "\
        run_id store_time command preset=/target/preset database=/target/database table=/target/table actor=/actor/user host \
        moved moved_at_least undoable undoes undone_by recorded_in reason";
}

impl Document for History {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page> {
        if self.runs.is_empty() {
            return Ok(Page::default());
        }
        let wide = format == Format::Wide;
        let first = self.runs.first().map(|run| &run.head.target.database);
        let several = wide || self.runs.iter().any(|run| Some(&run.head.target.database) != first);
        let rows = if wide { usize::MAX } else { ROWS };
        let mut table = Table { columns: columns(several, wide), rows: Vec::new() };
        for run in self.runs.iter().take(rows) {
            let mut row = vec![
                run.head.run_id.as_str().into(),
                columns::time(Some(run.head.store_time), self.read_at.unwrap_or(run.head.store_time), screen.times),
                command(run).into(),
                run.head.target.table.as_str().into(),
                columns::text(who(run).as_deref()),
                moved(run).into(),
                others(run),
                undo(run),
                columns::text(run.head.reason.as_deref()),
            ];
            if several {
                row.push(run.head.target.database.as_str().into());
            }
            if wide {
                row.extend([run.head.target.preset.as_str().into(), run.recorded_in.join(", ").into()]);
            }
            table.rows.push(row);
        }
        let mut page = Page::default();
        page.table("", &table, screen);
        Ok(page)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv_of(HistoryRun::COLUMNS, json_of(&self.runs), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.runs.iter().try_for_each(|run| writeln!(out, "{}", run.head.run_id))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut fields = Map::new();
        fields.insert("schema".to_owned(), self.schema.into());
        fields.insert("journal".to_owned(), serde_json::to_value(&self.journal)?);
        fields.insert("ledger".to_owned(), serde_json::to_value(&self.ledger)?);
        fields.insert("warnings".to_owned(), serde_json::to_value(&self.warnings)?);
        line(out, "head", &fields)?;
        self.runs.iter().try_for_each(|run| line(out, "run", run))?;
        line(out, "summary", &self.summary)
    }
}

impl History {
    /// The titles of its table, on one database or on several.
    pub fn titles(format: Format) -> Vec<&'static str> {
        columns(true, format == Format::Wide).into_iter().map(|column| column.title).collect()
    }
}

fn columns(several: bool, wide: bool) -> Vec<Column> {
    let mut columns = vec![
        columns::column("run", 0, None),
        columns::column("when", 0, None),
        columns::column("command", 3, None),
        columns::names("table", 5, 12),
        columns::names("who", 4, 10),
        columns::right("moved", 1),
        columns::right("others", 5),
        columns::column("undo", 4, None),
        columns::column("reason", 0, Some(12)),
    ];
    if several {
        columns.push(columns::names("database", 3, 12));
    }
    if wide {
        columns.extend(["preset", "recorded in"].map(|title| columns::column(title, 9, Some(8))));
    }
    columns
}

pub(super) fn command(run: &HistoryRun) -> String {
    run.head.undoes.as_ref().map_or_else(|| run.head.command.clone(), |undoes| format!("{} {undoes}", run.head.command))
}

pub(super) fn who(run: &HistoryRun) -> Option<String> {
    match (&run.head.actor.name(), &run.head.host) {
        (Some(actor), Some(host)) => Some(format!("{actor}@{host}")),
        (actor, host) => actor.clone().or_else(|| host.as_ref().map(|host| format!("@{host}"))),
    }
}

pub(super) fn moved(run: &HistoryRun) -> String {
    run.moved.map_or_else(|| format!("at least {}", run.moved_at_least), |moved| moved.to_string())
}

fn others(run: &HistoryRun) -> Cell {
    let Some(outcomes) = &run.outcomes else { return Cell::new("?", Tone::Dim) };
    let others =
        outcomes.changed + outcomes.gone + outcomes.locked + outcomes.refused + outcomes.not_tried + outcomes.unknown;
    let tone = if outcomes.unknown > 0 { Tone::Warn } else { Tone::Plain };
    Cell::new(others.to_string(), tone)
}

pub(super) fn undo(run: &HistoryRun) -> Cell {
    match (run.undone_by.as_slice(), run.undoable) {
        ([.., by], _) => Cell::new(format!("reverted by {by}"), Tone::Dim),
        ([], 0) => Cell::new("no", Tone::Dim),
        ([], _) if run.moved.is_none() => Cell::new("what is recorded", Tone::Warn),
        ([], n) if Some(n) < run.moved => Cell::new("in part", Tone::Warn),
        ([], _) => "yes".into(),
    }
}

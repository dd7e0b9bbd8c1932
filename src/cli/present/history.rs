use super::{Present, ROWS, jobs};
use crate::model::Timestamp;
use crate::render::{Cell, Facts, Format, Screen, Table, Tone};
use crate::report::{History, HistoryOne, HistoryRun, HistoryStep, Spool};
use std::io::{self, Write};

impl Present for History {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        if self.runs.is_empty() {
            return Ok(String::new());
        }
        let wide = format == Format::Wide;
        let rows = if wide { usize::MAX } else { ROWS };
        let mut columns = vec![
            jobs::column("run", 0, None),
            jobs::column("when", 4, None),
            jobs::column("command", 1, None),
            jobs::column("table", 3, Some(12)),
            jobs::column("who", 4, Some(10)),
            jobs::right("moved", 0),
            jobs::right("others", 2),
            jobs::column("undo", 1, None),
            jobs::column("reason", 5, Some(16)),
        ];
        if wide {
            columns.extend(["database", "preset", "recorded in"].map(|title| jobs::column(title, 9, Some(8))));
        }
        let mut table = Table { columns, rows: Vec::new() };
        for run in self.runs.iter().take(rows) {
            let mut row = vec![
                run.run_id.as_str().into(),
                when(run).into(),
                command(run).into(),
                run.target.table.as_str().into(),
                jobs::text(who(run).as_deref()),
                moved(run).into(),
                others(run),
                undo(run),
                jobs::text(run.reason.as_deref()),
            ];
            if wide {
                row.extend([
                    run.target.database.as_str().into(),
                    run.target.preset.as_str().into(),
                    run.recorded_in.join(", ").into(),
                ]);
            }
            table.rows.push(row);
        }
        Ok(table.render(screen))
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        super::csv_of(&HistoryRun::COLUMNS, self.runs.iter().map(Ok), |run| run.values(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.runs.iter().try_for_each(|run| writeln!(out, "{}", run.run_id))
    }
}

impl Present for HistoryOne {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let run = &self.run;
        let mut facts = Facts::new();
        facts.add("run", Cell::new(run.run_id.as_str(), Tone::Strong));
        facts.add("when", when(run));
        facts.add("command", command(run));
        facts.add("by", jobs::text(who(run).as_deref()));
        facts.add("reason", jobs::text(run.reason.as_deref()));
        let target = &run.target;
        facts.add(
            "queue",
            format!("{} {}, table {}, preset {}", target.engine, target.database, target.table, target.preset),
        );
        facts.add("moved", format!("{} of {}", moved(run), run.planned.map_or("?".to_owned(), |n| n.to_string())));
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
        let mut text = facts.render(screen);
        if !self.steps.is_empty() {
            text.push('\n');
            let rows = if format == Format::Wide { usize::MAX } else { ROWS };
            text.push_str(&steps(&self.steps, rows)?.render(screen));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        super::csv_of(&HistoryStep::COLUMNS, self.steps.iter(), HistoryStep::values, out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.steps.iter().try_for_each(|step| writeln!(out, "{}", step?.id))
    }
}

fn steps(list: &Spool<HistoryStep>, rows: usize) -> io::Result<Table> {
    let columns = vec![
        jobs::column("id", 0, None),
        jobs::column("queue", 6, Some(6)),
        jobs::column("kind", 5, Some(8)),
        jobs::column("owner", 3, Some(10)),
        jobs::column("action", 1, None),
        jobs::column("from", 2, Some(7)),
        jobs::column("to", 2, Some(7)),
        jobs::column("tries", 4, None),
        jobs::column("outcome", 0, None),
        jobs::column("why", 3, Some(12)),
    ];
    let mut table = Table { columns, rows: Vec::new() };
    for step in list.iter().take(rows) {
        let step = step?;
        let tries = match (step.attempts, step.attempts_after) {
            (None, None) => "-".to_owned(),
            (before, after) => {
                let word = |n: Option<i64>| n.map_or("-".to_owned(), |n| n.to_string());
                format!("{} to {}", word(before), word(after))
            }
        };
        table.rows.push(vec![
            step.id.as_str().into(),
            jobs::text(step.queue.as_deref()),
            jobs::text(step.kind.as_deref()),
            jobs::text(step.owner.as_deref()),
            jobs::text(step.action.as_deref()),
            jobs::text(step.state.as_deref()),
            jobs::text(step.state_after.as_deref()),
            tries.into(),
            outcome(&step),
            jobs::text(step.constraint.as_deref().or(step.sqlstate.as_deref()).or(Some(&step.rules.join(", ")))),
        ]);
    }
    Ok(table)
}

fn outcome(step: &HistoryStep) -> Cell {
    match (step.outcome.as_str(), step.compared.as_deref()) {
        ("unknown", Some(now)) => Cell::new(format!("unknown: {}", now.replace('_', " ")), Tone::Warn),
        ("moved", _) => Cell::new("moved", Tone::Good),
        ("changed" | "gone", _) => Cell::new(step.outcome.as_str(), Tone::Dim),
        ("locked" | "not_tried" | "unknown", _) => Cell::new(step.outcome.as_str(), Tone::Warn),
        (other, _) => Cell::new(other, Tone::Bad),
    }
}

fn command(run: &HistoryRun) -> String {
    run.undoes.as_ref().map_or_else(|| run.command.clone(), |undoes| format!("{} {undoes}", run.command))
}

/// To the second: more would be noise.
fn when(run: &HistoryRun) -> String {
    let micros = run.store_time.micros();
    let second = Timestamp::from_micros(micros - micros.rem_euclid(1_000_000));
    second.unwrap_or(run.store_time).to_string()
}

fn who(run: &HistoryRun) -> Option<String> {
    match (&run.actor, &run.host) {
        (Some(actor), Some(host)) => Some(format!("{actor}@{host}")),
        (actor, host) => actor.clone().or_else(|| host.as_ref().map(|host| format!("@{host}"))),
    }
}

fn moved(run: &HistoryRun) -> String {
    run.moved.map_or_else(|| format!("at least {}", run.moved_at_least), |moved| moved.to_string())
}

fn others(run: &HistoryRun) -> Cell {
    let Some(outcomes) = &run.outcomes else { return Cell::new("?", Tone::Dim) };
    let others =
        outcomes.changed + outcomes.gone + outcomes.locked + outcomes.refused + outcomes.not_tried + outcomes.unknown;
    let tone = if outcomes.unknown > 0 { Tone::Warn } else { Tone::Plain };
    Cell::new(others.to_string(), tone)
}

fn undo(run: &HistoryRun) -> Cell {
    match (run.undone_by.as_slice(), run.undoable) {
        ([.., by], _) => Cell::new(format!("taken back by {by}"), Tone::Dim),
        ([], 0) => Cell::new("no", Tone::Dim),
        ([], _) if run.moved.is_none() => Cell::new("what is recorded", Tone::Warn),
        ([], n) if Some(n) < run.moved => Cell::new("in part", Tone::Warn),
        ([], _) => "yes".into(),
    }
}

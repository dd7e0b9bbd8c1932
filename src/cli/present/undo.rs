use super::{Present, ROWS, jobs};
use crate::render::{Cell, Format, Screen, Table, Tone};
use crate::report::{Spool, Undo, UndoLeft, UndoStep};
use std::io::{self, Write};

impl Present for Undo {
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
        super::csv_of(&UndoStep::COLUMNS, self.steps.iter(), UndoStep::values, out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.steps.iter().try_for_each(|step| writeln!(out, "{}", step?.id))
    }
}

fn steps(list: &Spool<UndoStep>, rows: usize, applied: bool) -> io::Result<Table> {
    let mut columns = vec![
        jobs::column("id", 0, None),
        jobs::column("queue", 6, Some(6)),
        jobs::column("kind", 5, Some(8)),
        jobs::column("owner", 3, Some(10)),
        jobs::column("was moved by", 4, None),
        jobs::column("back to", 1, None),
        jobs::right("tries", 4),
        jobs::column("now", 0, None),
    ];
    if applied {
        columns.push(jobs::column("outcome", 0, None));
    }
    columns.push(jobs::column("why", 2, Some(20)));
    let mut table = Table { columns, rows: Vec::new() };
    for step in list.iter().take(rows) {
        let step = step?;
        let mut row = vec![
            step.id.as_str().into(),
            jobs::text(step.queue.as_deref()),
            jobs::text(step.kind.as_deref()),
            jobs::text(step.owner.as_deref()),
            step.action.as_str().into(),
            step.state_after.as_str().into(),
            jobs::attempts(step.attempts_after, None).into(),
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
    let outcome = step.outcome.as_deref().unwrap_or("-");
    let tone = match outcome {
        "moved" => Tone::Good,
        "changed" | "gone" | "locked" | "not_tried" => Tone::Warn,
        _ => Tone::Bad,
    };
    Cell::new(outcome, tone)
}

fn left(list: &Spool<UndoLeft>, rows: usize) -> io::Result<Table> {
    let columns = vec![
        jobs::column("id", 0, None),
        jobs::column("action", 1, None),
        jobs::column("state", 2, Some(7)),
        jobs::column("why", 0, Some(20)),
    ];
    let mut table = Table { columns, rows: Vec::new() };
    for left in list.iter().take(rows) {
        let left = left?;
        table.rows.push(vec![
            left.id.as_str().into(),
            jobs::text(left.action.as_deref()),
            jobs::text(left.state.as_deref()),
            left.detail.into(),
        ]);
    }
    Ok(table)
}

use super::{Present, ROWS, jobs};
use crate::render::{Cell, Format, Screen, Table, Tone};
use crate::report::{Job, Reclaim, SkippedJob, Spool, StepJob};
use std::io::{self, Write};

impl Present for Reclaim {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let mut text = String::new();
        if !self.steps.is_empty() {
            text.push_str(&steps(&self.steps, rows, self.applied)?.render(screen));
        }
        if !self.skipped.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str("Skipped:\n");
            text.push_str(&skipped(&self.skipped, rows)?.render(screen));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns: Vec<&str> = Job::COLUMNS.into_iter().chain(StepJob::FURTHER_COLUMNS).collect();
        super::csv_of(&columns, self.steps.iter(), StepJob::values, out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.steps.iter().try_for_each(|step| writeln!(out, "{}", step?.job.id))
    }
}

fn steps(list: &Spool<StepJob>, rows: usize, applied: bool) -> io::Result<Table> {
    let mut columns = vec![
        jobs::column("id", 0, None),
        jobs::column("queue", 5, Some(6)),
        jobs::column("kind", 4, Some(8)),
        jobs::column("owner", 1, Some(10)),
        jobs::right("silent", 1),
        jobs::column("action", 0, None),
        jobs::column("becomes", 3, None),
        jobs::right("tries", 4),
    ];
    if applied {
        columns.push(jobs::column("outcome", 0, None));
    }
    columns.push(jobs::column("why", 2, Some(20)));
    let mut table = Table { columns, rows: Vec::new() };
    for step in list.iter().take(rows) {
        let step = step?;
        let job = &step.job;
        let mut row = vec![
            job.id.as_str().into(),
            jobs::text(job.queue.as_deref()),
            jobs::text(job.kind.as_deref()),
            jobs::text(job.owner.as_deref()),
            jobs::silence(job),
            jobs::action(job.action.as_deref()),
            step.state_after.as_str().into(),
            jobs::attempts(step.attempts_after, job.max_attempts).into(),
        ];
        if applied {
            row.push(outcome(&step));
        }
        row.push(match &step.error {
            Some(error) => Cell::new(error.message.as_str(), Tone::Bad),
            None => jobs::reasons(job),
        });
        table.rows.push(row);
    }
    Ok(table)
}

fn outcome(step: &StepJob) -> Cell {
    let outcome = step.outcome.as_deref().unwrap_or("-");
    let tone = match outcome {
        "moved" => Tone::Good,
        "changed" | "gone" => Tone::Dim,
        "locked" | "not_tried" => Tone::Warn,
        _ => Tone::Bad,
    };
    Cell::new(outcome, tone)
}

fn skipped(list: &Spool<SkippedJob>, rows: usize) -> io::Result<Table> {
    let columns = vec![
        jobs::column("id", 0, None),
        jobs::column("kind", 4, Some(8)),
        jobs::column("owner", 2, Some(10)),
        jobs::column("state", 3, Some(7)),
        jobs::column("reason", 1, None),
        jobs::column("why", 0, Some(20)),
    ];
    let mut table = Table { columns, rows: Vec::new() };
    for skipped in list.iter().take(rows) {
        let SkippedJob { job, skipped } = skipped?;
        table.rows.push(vec![
            job.id.as_str().into(),
            jobs::text(job.kind.as_deref()),
            jobs::text(job.owner.as_deref()),
            job.state.as_str().into(),
            skipped.reason.as_str().into(),
            skipped.detail.into(),
        ]);
    }
    Ok(table)
}

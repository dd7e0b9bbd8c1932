use super::{Present, ROWS, jobs};
use crate::render::{Cell, Format, Screen, Table, Tone};
use crate::report::{Job, Spool, Stale};
use std::io::{self, Write};

impl Present for Stale {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let mut text = super::diagnoses(&self.diagnoses, &self.summary, screen);
        if self.jobs.is_empty() && self.unknown.is_empty() {
            text.push_str(&super::diagnoses::alone(&self.summary, screen));
        }
        let rows = self.filter.limit.map_or(ROWS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        if !self.jobs.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&stuck(&self.jobs, rows, format)?.render(screen));
        }
        if !self.unknown.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str("Nobody can tell whether these are stuck:\n");
            text.push_str(&unknown(&self.unknown, rows)?.render(screen));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        super::csv_of(&Job::COLUMNS, self.jobs.iter().chain(self.unknown.iter()), Job::values, out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.jobs.iter().try_for_each(|job| writeln!(out, "{}", job?.id))
    }
}

/// All of the list, with a mark in front of each: `+` for what is new, `-` for what is gone.
///
/// # Errors
/// When the temporary file of a long list cannot be read.
pub fn marked(list: &Spool<Job>, marks: &[&str], format: Format) -> io::Result<Table> {
    let mut table = stuck(list, marks.len(), format)?;
    table.columns.insert(0, jobs::column("", 0, None));
    for (row, mark) in table.rows.iter_mut().zip(marks) {
        match *mark {
            "-" => row.iter_mut().for_each(|cell| cell.tone = Tone::Dim),
            "+" => row.iter_mut().take(1).for_each(|cell| cell.tone = Tone::Strong),
            _ => {}
        }
        row.insert(0, Cell::new(*mark, if *mark == "+" { Tone::Strong } else { Tone::Dim }));
    }
    Ok(table)
}

fn stuck(list: &Spool<Job>, rows: usize, format: Format) -> io::Result<Table> {
    let wide = format == Format::Wide;
    let mut columns = vec![
        jobs::column("id", 0, None),
        jobs::column("queue", 5, Some(6)),
        jobs::column("kind", 3, Some(8)),
        jobs::column("state", 6, Some(7)),
        jobs::column("owner", 0, Some(10)),
        jobs::right("silent", 0),
        jobs::right("tries", 4),
        jobs::column("action", 1, None),
        jobs::column("why", 2, Some(20)),
    ];
    if wide {
        columns.extend(["host", "claimed", "lease ends", "judged by"].map(|title| jobs::column(title, 9, Some(8))));
        columns.push(jobs::right("stalls", 9));
    }
    let mut table = Table { columns, rows: Vec::new() };
    for job in list.iter().take(rows) {
        let job = job?;
        let mut row = vec![
            job.id.as_str().into(),
            jobs::text(job.queue.as_deref()),
            jobs::text(job.kind.as_deref()),
            job.state.as_str().into(),
            jobs::text(job.owner.as_deref()),
            jobs::silence(&job),
            jobs::attempts(job.attempts, job.max_attempts).into(),
            jobs::action(job.action.as_deref()),
            jobs::reasons(&job),
        ];
        if wide {
            let time = |time: Option<crate::model::Timestamp>| time.map(|time| time.to_string());
            row.extend([
                jobs::text(job.host.as_deref()),
                jobs::text(time(job.claimed_at).as_deref()),
                jobs::text(time(job.lease_expires_at).as_deref()),
                jobs::text(job.liveness.as_deref()),
                jobs::text(job.stalls.map(|stalls| stalls.to_string()).as_deref()),
            ]);
        }
        table.rows.push(row);
    }
    Ok(table)
}

fn unknown(list: &Spool<Job>, rows: usize) -> io::Result<Table> {
    let columns = vec![
        jobs::column("id", 0, None),
        jobs::column("queue", 5, Some(6)),
        jobs::column("kind", 3, Some(8)),
        jobs::column("state", 4, Some(7)),
        jobs::column("owner", 1, Some(10)),
        jobs::column("what is missing", 0, Some(20)),
    ];
    let mut table = Table { columns, rows: Vec::new() };
    for job in list.iter().take(rows) {
        let job = job?;
        table.rows.push(vec![
            job.id.as_str().into(),
            jobs::text(job.queue.as_deref()),
            jobs::text(job.kind.as_deref()),
            job.state.as_str().into(),
            jobs::text(job.owner.as_deref()),
            jobs::reasons(&job),
        ]);
    }
    Ok(table)
}

use super::document::{Document, ROWS, csv_of, head, line, list};
use super::format::{Cell, Format, Screen, Table, Tone};
use super::{Diagnosis, Filter, Job, Spool, Target, columns};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// `jobdoctor.stale/v1`: the claims that are stuck, longest silent first, and those that nobody can judge.
#[derive(Serialize, JsonSchema)]
pub struct Stale {
    /// `jobdoctor.stale/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for.
    pub filter: Filter,
    /// The counts, whatever the limit.
    pub summary: StaleSummary,
    /// What is likely to have happened, most jobs first; none where jobs were named by id.
    pub diagnoses: Vec<Diagnosis>,
    /// The stuck ones; none where the diagnoses alone were asked for.
    pub jobs: Spool<Job>,
    /// The ones that nobody can judge; their reasons say what is missing.
    pub unknown: Spool<Job>,
    /// Ids that were named and name no job.
    pub not_found: Vec<String>,
}

/// The counts of a [`Stale`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StaleSummary {
    /// Claims in the whole queue.
    pub in_flight: u64,
    /// Stuck ones among those asked for.
    pub stuck: u64,
    /// Unknown ones among those asked for.
    pub unknown: u64,
    /// Stuck ones in `jobs`.
    pub returned: u64,
    /// True if the limit left some out.
    pub truncated: bool,
    /// The longest silence among the stuck ones.
    pub oldest_silence_seconds: Option<f64>,
    /// How many diagnoses there are; `diagnoses` holds the first thousand.
    pub diagnoses: u64,
    /// Stuck ones that are part of no diagnosis.
    pub alone: u64,
}

impl Document for Stale {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let mut text = super::diagnosis::diagnoses(&self.diagnoses, &self.summary, screen);
        if self.jobs.is_empty() && self.unknown.is_empty() {
            text.push_str(&super::diagnosis::alone(&self.summary, screen));
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
        csv_of(&Job::COLUMNS, self.jobs.iter().chain(self.unknown.iter()), Job::values, out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.jobs.iter().try_for_each(|job| writeln!(out, "{}", job?.id))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more =
            [("filter", serde_json::to_value(&self.filter)?), ("not_found", serde_json::to_value(&self.not_found)?)];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.diagnoses.iter().try_for_each(|diagnosis| line(out, "diagnosis", diagnosis))?;
        list(out, "job", &self.jobs)?;
        list(out, "unknown", &self.unknown)?;
        line(out, "summary", &self.summary)
    }
}

/// All of the list, with a mark in front of each: `+` for what is new, `-` for what is gone.
///
/// # Errors
/// When the temporary file of a long list cannot be read.
pub fn marked(list: &Spool<Job>, marks: &[&str], format: Format) -> io::Result<Table> {
    let mut table = stuck(list, marks.len(), format)?;
    table.columns.insert(0, columns::column("", 0, None));
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
        columns::column("id", 0, None),
        columns::column("queue", 5, Some(6)),
        columns::column("kind", 3, Some(8)),
        columns::column("state", 6, Some(7)),
        columns::column("owner", 0, Some(10)),
        columns::right("silent", 0),
        columns::right("tries", 4),
        columns::column("action", 1, None),
        columns::column("why", 2, Some(20)),
    ];
    if wide {
        columns.extend(["host", "claimed", "lease ends", "judged by"].map(|title| columns::column(title, 9, Some(8))));
        columns.push(columns::right("stalls", 9));
    }
    let mut table = Table { columns, rows: Vec::new() };
    for job in list.iter().take(rows) {
        let job = job?;
        let mut row = vec![
            job.id.as_str().into(),
            columns::text(job.queue.as_deref()),
            columns::text(job.kind.as_deref()),
            job.state.as_str().into(),
            columns::text(job.owner.as_deref()),
            columns::silence(&job),
            columns::attempts(job.attempts, job.max_attempts).into(),
            columns::action(job.action),
            columns::reasons(&job),
        ];
        if wide {
            let time = |time: Option<crate::model::Timestamp>| time.map(|time| time.to_string());
            row.extend([
                columns::text(job.host.as_deref()),
                columns::text(time(job.claimed_at).as_deref()),
                columns::text(time(job.lease_expires_at).as_deref()),
                columns::text(job.liveness.as_deref()),
                columns::text(job.stalls.map(|stalls| stalls.to_string()).as_deref()),
            ]);
        }
        table.rows.push(row);
    }
    Ok(table)
}

fn unknown(list: &Spool<Job>, rows: usize) -> io::Result<Table> {
    let columns = vec![
        columns::column("id", 0, None),
        columns::column("queue", 5, Some(6)),
        columns::column("kind", 3, Some(8)),
        columns::column("state", 4, Some(7)),
        columns::column("owner", 1, Some(10)),
        columns::column("what is missing", 0, Some(20)),
    ];
    let mut table = Table { columns, rows: Vec::new() };
    for job in list.iter().take(rows) {
        let job = job?;
        table.rows.push(vec![
            job.id.as_str().into(),
            columns::text(job.queue.as_deref()),
            columns::text(job.kind.as_deref()),
            job.state.as_str().into(),
            columns::text(job.owner.as_deref()),
            columns::reasons(&job),
        ]);
    }
    Ok(table)
}

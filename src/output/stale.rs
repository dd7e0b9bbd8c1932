use super::columns::CellOf;
use super::document::{Document, ROWS, csv_of, head, json_of, line, list};
use super::format::{Cell, Format, Page, Screen, Table, Times, Tone};
use super::{Diagnosis, Field, Filter, Job, JobGroup, Spool, Target, columns, group};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// `jobdoctor.stale/v1`: the claims that are stuck, longest silent first, and those whose verdict is unknown.
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
    /// What `groups` are grouped by; null where jobs are listed.
    pub by: Option<Field>,
    /// With --by the groups that hold stuck or unknown jobs, most stuck ones first.
    pub groups: Vec<JobGroup>,
    /// The stuck ones; none where the diagnoses alone, or groups, were asked for.
    pub jobs: Spool<Job>,
    /// The ones whose verdict is unknown; their reasons say what is missing.
    pub unknown: Spool<Job>,
    /// Ids that were named and name no job.
    pub not_found: Vec<String>,
    /// Why the lists may be incomplete, or say less than they seem to.
    pub warnings: Vec<String>,
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
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page> {
        let mut page = Page::from(super::diagnosis::diagnoses(&self.diagnoses, self.summary.diagnoses, screen));
        let rows = self.filter.limit.map_or(ROWS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        if let (Some(by), false) = (self.by, self.groups.is_empty()) {
            page.table("", &group::groups(by, self.groups.iter().take(rows))?, screen);
        } else if self.jobs.is_empty() && self.unknown.is_empty() {
            page.push(&super::diagnosis::alone(&self.summary, screen));
        }
        if !self.jobs.is_empty() {
            page.table("", &stuck(self.jobs.iter().take(rows), format, self.store_time, screen.times)?, screen);
        }
        if !self.unknown.is_empty() {
            let unknown = unknown(self.unknown.iter().take(rows), self.store_time, screen.times)?;
            page.table("Unknown, cannot be judged:\n", &unknown, screen);
        }
        Ok(page)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.by.is_some() {
            return csv_of(JobGroup::COLUMNS, json_of(&self.groups), out);
        }
        csv_of(Job::COLUMNS, self.jobs.json().chain(self.unknown.json()), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.jobs.iter().try_for_each(|job| writeln!(out, "{}", job?.id))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [
            ("filter", serde_json::to_value(&self.filter)?),
            ("by", serde_json::to_value(self.by)?),
            ("not_found", serde_json::to_value(&self.not_found)?),
            ("warnings", serde_json::to_value(&self.warnings)?),
        ];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.diagnoses.iter().try_for_each(|diagnosis| line(out, "diagnosis", diagnosis))?;
        self.groups.iter().try_for_each(|group| line(out, "group", group))?;
        list(out, "job", &self.jobs)?;
        list(out, "unknown", &self.unknown)?;
        line(out, "summary", &self.summary)
    }
}

impl Stale {
    /// The titles of its table.
    pub fn titles(by: Option<Field>, format: Format, times: Times) -> Vec<&'static str> {
        let table = match by {
            Some(by) => group::groups(by, std::iter::empty()),
            None => stuck(std::iter::empty(), format, Timestamp::EPOCH, times),
        };
        table.map(|table| table.titles()).unwrap_or_default()
    }
}

/// A table of jobs with a mark in front of each: `+` for a new job, `-` for one that is gone.
///
/// # Errors
/// Never: all of it is in memory.
pub fn marked(jobs: &[(&str, Job)], format: Format, now: Timestamp, times: Times) -> io::Result<Table> {
    let mut table = stuck(jobs.iter().map(|(_, job)| Ok(job.clone())), format, now, times)?;
    table.columns.insert(0, columns::column("", 0, None));
    for (row, (mark, _)) in table.rows.iter_mut().zip(jobs) {
        match *mark {
            "-" => row.iter_mut().for_each(|cell| cell.tone = Tone::Dim),
            "+" => row.iter_mut().take(1).for_each(|cell| cell.tone = Tone::Strong),
            _ => {}
        }
        row.insert(0, Cell::new(*mark, if *mark == "+" { Tone::Strong } else { Tone::Dim }));
    }
    Ok(table)
}

fn stuck(
    jobs: impl Iterator<Item = io::Result<Job>>,
    format: Format,
    now: Timestamp,
    times: Times,
) -> io::Result<Table> {
    let (silence, why) = (|job: &Job| columns::job_silence(job, times), |job: &Job| columns::reasons(job, now, times));
    let claimed = |job: &Job| columns::time(job.claimed_at, now, times);
    let lease_ends = |job: &Job| columns::time(job.lease_expires_at, now, times);
    let mut columns: Vec<CellOf<'_, Job>> = vec![
        (columns::column("id", 0, None), &|job| job.id.as_str().into()),
        (columns::names("queue", 6, 8), &|job| columns::text(job.queue.as_deref())),
        (columns::names("kind", 4, 12), &|job| columns::text(job.kind.as_deref())),
        (columns::column("state", 7, Some(7)), &|job| job.state.as_str().into()),
        (columns::names("owner", 0, 10), &|job| columns::text(job.owner.as_deref())),
        (columns::silent(times, 2), &silence),
        (columns::right("tries", 5), &|job| columns::attempts(job.attempts, job.max_attempts).into()),
        (columns::column("action", 3, None), &|job| columns::action(job.action)),
        (columns::column("why", 1, Some(12)), &why),
    ];
    let wide: [CellOf<'_, Job>; 5] = [
        (columns::names("host", 9, 8), &|job| columns::text(job.host.as_deref())),
        (columns::column("claimed", 9, Some(8)), &claimed),
        (columns::column("lease ends", 9, Some(8)), &lease_ends),
        (columns::column("judged by", 9, Some(8)), &|job| columns::text(job.liveness.as_deref())),
        (columns::right("stalls", 9), &|job| columns::text(job.stalls.map(|stalls| stalls.to_string()).as_deref())),
    ];
    if format == Format::Wide {
        columns.extend(wide);
    }
    let mut table = columns::table(&columns, jobs)?;
    columns::shade(&mut table);
    Ok(table)
}

fn unknown(jobs: impl Iterator<Item = io::Result<Job>>, now: Timestamp, times: Times) -> io::Result<Table> {
    columns::table(
        &[
            (columns::column("id", 0, None), &|job: &Job| job.id.as_str().into()),
            (columns::names("queue", 5, 8), &|job| columns::text(job.queue.as_deref())),
            (columns::names("kind", 3, 12), &|job| columns::text(job.kind.as_deref())),
            (columns::column("state", 4, Some(7)), &|job| job.state.as_str().into()),
            (columns::names("owner", 0, 10), &|job| columns::text(job.owner.as_deref())),
            (columns::column("problem", 0, Some(20)), &|job| columns::reasons(job, now, times)),
        ],
        jobs,
    )
}

use super::columns::{self, Columns, column, names, right};
use super::document::{Document, List, ROWS, Shape};
use super::format::{Cell, Format, Page, Screen, Times, Tone};
use super::listing::one_a_line;
use super::{Causes, Collector, Diagnosis, Field, Filter, Job, Listing, Row, Target, Waiting, diagnosis};
use crate::model::Timestamp;
use crate::policy::VerdictKind;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.stale/v1`: the claims that are stuck, longest silent first, and those whose verdict is unknown.
#[derive(Serialize, JsonSchema)]
pub struct Stale {
    /// All but the counts and the lists.
    #[serde(flatten)]
    pub head: StaleHead,
    /// The counts, whatever the limit.
    pub summary: StaleSummary,
    /// What is likely to have happened, most jobs first; none where jobs were named by id.
    pub diagnoses: Vec<Diagnosis>,
    /// With --by the groups that hold stuck or unknown jobs, most stuck ones first.
    pub groups: Vec<JobGroup>,
    /// The stuck ones; none where the diagnoses alone, or groups, were asked for.
    #[schemars(with = "Vec<Job>")]
    pub jobs: Listing<Job>,
    /// The first thousand of those whose verdict is unknown; their reasons say what is missing.
    #[serde(serialize_with = "one_a_line")]
    pub unknown: Vec<Job>,
}

/// The head of a [`Stale`].
#[derive(Serialize, JsonSchema)]
pub struct StaleHead {
    /// `jobdoctor.stale/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for.
    pub filter: Filter,
    /// What `groups` are grouped by; null where jobs are listed.
    pub by: Option<Field>,
    /// Ids that were named and name no job.
    pub not_found: Vec<String>,
    /// Why the lists may be incomplete, or say less than they seem to.
    pub warnings: Vec<String>,
    /// True if nothing was found and a filter matches no job in flight, and no due one.
    pub unmatched: bool,
}

/// The counts of a [`Stale`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StaleSummary {
    /// Claims in the whole queue; with --interrupted the jobs that failed since.
    pub in_flight: u64,
    /// With --interrupted the jobs that failed before `--since`; null without, and where jobs were named by id.
    pub older: Option<u64>,
    /// With --interrupted the library's own command for the first thousand jobs; null where jobdoctor retries them.
    pub command: Option<String>,
    /// Stuck ones among those asked for.
    pub stuck: u64,
    /// Unknown ones among those asked for.
    pub unknown: u64,
    /// How many of them are unknown because the zone of their times is, and for nothing else.
    pub unknown_zone: u64,
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
    /// Owners that hold claims; null if there are too many to count, or jobs were named by id.
    pub owners: Option<u64>,
    /// Of those that hold selected stuck jobs, the owners that show no life.
    pub silent_owners: u64,
    /// The waiting side of the selected queues; null where jobs were asked for by anything but their queue.
    pub waiting: Option<Waiting>,
}

/// Stuck and unknown jobs of one host, owner, kind, queue or state.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct JobGroup {
    /// The host, owner, kind, queue or state; null for jobs that name none, and for `rest`.
    pub name: Option<String>,
    /// True for the jobs of all groups beyond the ten thousand that are counted apart.
    pub rest: bool,
    /// Stuck ones.
    pub stuck: u64,
    /// Unknown ones.
    pub unknown: u64,
    /// The longest silence among the stuck ones.
    pub oldest_silence_seconds: Option<f64>,
    /// At most three of its owners, the first by name; of an owner its kinds.
    pub examples: Vec<String>,
    /// True if there are more of them.
    pub has_more_examples: bool,
}

impl Document for Stale {
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, format: Format, times: Times) -> Vec<List<'_>> {
        let diagnoses = List::of("diagnosis", &self.diagnoses, Columns::new());
        if let Some(by) = self.head.by {
            return vec![diagnoses, List::of("group", &self.groups, groups(by))];
        }
        let columns = |verdict| jobs(verdict, format, self.head.store_time, times);
        let unknown = List::of("unknown", &self.unknown, columns(VerdictKind::Unknown));
        vec![
            diagnoses,
            List::listing("job", &self.jobs, columns(VerdictKind::Stuck)),
            unknown.under("Unknown, cannot be judged:\n"),
        ]
    }

    fn above(&self, screen: &Screen) -> String {
        let mut text = diagnosis::diagnoses(&self.diagnoses, self.summary.diagnoses, screen);
        if self.groups.is_empty() && self.jobs.is_empty() && self.unknown.is_empty() {
            text.push_str(&diagnosis::alone(self.summary.alone, screen));
        }
        text
    }

    fn by_cause(&self, screen: &Screen) -> Option<Page> {
        let lists_jobs = !self.jobs.is_empty() || !self.unknown.is_empty();
        let is_whole = self.head.filter.limit.is_none() && self.head.filter.ids.is_empty();
        (screen.by_cause && lists_jobs && is_whole).then(|| {
            let mut page = Page::default();
            self.causes(&[], screen.times, &|_| "").fill(&mut page, screen);
            page
        })
    }

    fn rows(&self, format: Format) -> usize {
        let most = if self.head.by.is_some() && format == Format::Table { ROWS } else { usize::MAX };
        self.head.filter.limit.map_or(most, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }
}

impl Stale {
    /// Its jobs under their causes, each with a mark, and those that are gone.
    pub fn causes<'a>(&'a self, gone: &'a [Job], times: Times, mark: &dyn Fn(&Job) -> &'static str) -> Causes<'a> {
        let row = |job: &'a Job| Row { job, why: columns::reasons(job, self.head.store_time, times), mark: mark(job) };
        let gone = gone.iter().map(|job| Row { mark: "-", ..row(job) });
        Causes {
            list: &self.diagnoses,
            count: self.summary.diagnoses,
            rows: gone.chain(self.jobs.items().iter().chain(&self.unknown).map(row)).collect(),
            alone: self.summary.alone,
        }
    }

    /// Collects the stuck jobs of a document that is printed in this format.
    pub fn collector(format: Format, limit: Option<usize>) -> Collector<Job> {
        let columns = jobs(VerdictKind::Stuck, format, Timestamp::EPOCH, Times::default());
        Collector::of(Shape::of("job", &columns), format, limit)
    }

    pub fn titles(by: Option<Field>, format: Format, times: Times) -> Vec<&'static str> {
        match by {
            Some(by) => groups(by).titles(),
            None => jobs(VerdictKind::Stuck, format, Timestamp::EPOCH, times).titles(),
        }
    }
}

/// The columns of stuck jobs, or of unknown ones; csv has the fields of both.
fn jobs<'a>(verdict: VerdictKind, format: Format, now: Timestamp, times: Times) -> Columns<'a, Job> {
    let is_stuck = verdict == VerdictKind::Stuck;
    let is_wide = is_stuck && format == Format::Wide;
    let [queue, kind, state] = if is_stuck { [6, 4, 7] } else { [5, 3, 4] };
    let why = if is_stuck { column("why", 1, Some(12)) } else { column("problem", 0, Some(20)) };
    Columns::<Job>::new()
        .add(column("id", 0, None), "id", |job| job.id.as_str().into())
        .add(names("queue", queue, 8), "queue", |job| columns::text(job.queue.as_deref()))
        .add(names("kind", kind, 12), "kind", |job| columns::text(job.kind.as_deref()))
        .add(column("state", state, Some(7)), "state", |job| job.state.as_str().into())
        .add(names("owner", 0, 10), "owner", |job| columns::text(job.owner.as_deref()))
        .add_if(is_stuck, columns::silent(times, 2), "last_seen_at silence_seconds", move |job| {
            columns::job_silence(job, times)
        })
        .add_if(is_stuck, right("tries", 5), "attempts max_attempts", |job| {
            columns::attempts(job.attempts, job.max_attempts).into()
        })
        .add_if(is_stuck, column("action", 3, None), "verdict action", |job| columns::action(job.action))
        .add(why, "rule=/reasons/0/rule detail=/reasons/0/detail", move |job| columns::reasons(job, now, times))
        .add_if(is_wide, names("host", 9, 8), "host", |job| columns::text(job.host.as_deref()))
        .add_if(is_wide, column("claimed", 9, Some(8)), "claimed_at", move |job| {
            columns::time(job.claimed_at, now, times)
        })
        .add_if(is_wide, column("lease ends", 9, Some(8)), "lease_expires_at", move |job| {
            columns::time(job.lease_expires_at, now, times)
        })
        .add_if(is_wide, column("judged by", 9, Some(8)), "liveness", |job| columns::text(job.liveness))
        .add_if(is_wide, right("stalls", 9), "stalls", |job| {
            columns::text(job.stalls.map(|stalls| stalls.to_string()).as_deref())
        })
}

fn groups<'a>(by: Field) -> Columns<'a, JobGroup> {
    let examples = if by == Field::Owner { "kinds" } else { "owners" };
    Columns::<JobGroup>::new()
        .add(names(by.name(), 0, 12), "name rest", |group| match &group.name {
            Some(name) => name.as_str().into(),
            None if group.rest => Cell::new("(all others)", Tone::Dim),
            None => Cell::new("(none)", Tone::Warn),
        })
        .add(right("stuck", 0), "stuck", |group| group.stuck.to_string().into())
        .add(right("unknown", 1), "unknown", |group| group.unknown.to_string().into())
        .add(right("silent", 0), "oldest_silence_seconds", |group| columns::duration(group.oldest_silence_seconds))
        .add(column(examples, 2, Some(12)), "examples has_more_examples", |group| {
            let more = if group.has_more_examples { ", ..." } else { "" };
            columns::text(Some(&format!("{}{more}", group.examples.join(", "))))
        })
}

//! Jobs under the causes that explain them, a few of each: what a terminal shows.

use super::Job;
use super::columns::{self, Columns, column, names, right};
use super::diagnosis::{Diagnosis, MOST};
use super::format::{Cell, Page, Screen, Table, Tone, count, grouped};
use crate::policy::{PlannedActions, VerdictKind};
use std::collections::BTreeMap;

/// Jobs of a cause in its usual class, if there are more than a few.
const EXAMPLES: usize = 3;
/// All jobs of a cause are shown if there are no more.
const FEW: u64 = 5;
/// Jobs of a cause in each other class.
const ODD: usize = 10;

/// A job with what a document says of it.
pub struct Row<'a> {
    pub job: &'a Job,
    pub why: Cell,
    /// `+` for a job that is new, `-` for one that is gone, `>` for the one that is selected.
    pub mark: &'static str,
}

pub struct Causes<'a> {
    pub list: &'a [Diagnosis],
    /// How many causes there are.
    pub count: u64,
    /// All jobs, or some of each class.
    pub rows: Vec<Row<'a>>,
    /// The jobs that no cause explains.
    pub alone: u64,
}

impl Causes<'_> {
    /// Adds to a page what is gone, each cause with examples of its jobs, then what is alone.
    pub fn fill(mut self, page: &mut Page, screen: &Screen) {
        let (gone, rows) = self.rows.into_iter().partition(|row| row.mark == "-");
        self.rows = rows;
        headed("Gone:".into(), gone, page, screen);
        let mut of: BTreeMap<Option<usize>, Vec<Row<'_>>> = BTreeMap::new();
        self.rows.into_iter().for_each(|row| of.entry(Diagnosis::of_job(self.list, row.job)).or_default().push(row));
        for (n, cause) in self.list.iter().enumerate().take(MOST) {
            let rows = of.remove(&Some(n)).unwrap_or_default();
            let all = cause.of.would.unwrap_or_default();
            if cause.of.what.is_of_due_jobs() || all == PlannedActions::default() {
                page.push(&screen.paragraph(&cause.sentence()));
            } else {
                section(Some(cause), all, rows, page, screen);
            }
        }
        let more = self.count.saturating_sub(self.list.len().min(MOST) as u64);
        if more > 0 {
            let more = format!("and {}; -o wide lists the jobs of all", count(more, "more cause", "more causes"));
            page.push(&format!("\n{}", screen.paragraph(&Cell::new(more, Tone::Dim))));
        }
        // Of a long list of causes not all are here.
        let is_whole = self.count <= self.list.len() as u64;
        let rest = of.remove(&None).into_iter().flatten();
        let rest = rest.filter(|row| is_whole || row.job.group.is_none());
        let (waiting, others): (Vec<Row<'_>>, _) = rest.partition(|row| row.job.has_waited());
        headed(columns::alone(self.alone.max(others.len() as u64)), others, page, screen);
        headed("Wait for too long:".into(), waiting, page, screen);
    }
}

/// Adds jobs without a cause under a heading, if there are any.
fn headed(heading: Cell, rows: Vec<Row<'_>>, page: &mut Page, screen: &Screen) {
    if !rows.is_empty() {
        let mut all = PlannedActions::default();
        rows.iter().for_each(|row| all.add(PlannedActions::of(row.job.action)));
        page.apart();
        page.push(&screen.paragraph(&heading));
        section(None, all, rows, page, screen);
    }
}

/// Adds a cause and examples of its jobs; a reclaim would do that to `all` of them.
fn section(cause: Option<&Diagnosis>, all: PlannedActions, rows: Vec<Row<'_>>, page: &mut Page, screen: &Screen) {
    let total: u64 = all.counts().iter().map(|(_, jobs)| jobs).sum();
    let columns = columns(cause, &rows, screen);
    let are_all = rows.len() as u64 == total;
    let shared = shared(&columns.table(rows.iter()), &rows, cause.filter(|_| !are_all));
    let shown = examples(rows, total <= FEW);
    let mut table = Table { are_examples: !are_all, ..columns.table(shown.iter()) };
    if let Some(cause) = cause {
        let mut sentence = cause.sentence();
        for (title, value) in shared {
            match title {
                _ if sentence.text.contains(&format!("{title} {value}")) => {}
                // The row of a single job says it as well.
                _ if total == 1 => continue,
                // The cause says it.
                "why" if cause.of.what.is_of_unknown_claims() => {}
                "why" => sentence.text.push_str(&format!("; {value}")),
                title => sentence.text.push_str(&format!("; {title} {value}")),
            }
            table.remove(title);
        }
        page.apart();
        page.push(&screen.paragraph(&sentence));
    }
    let mut left = all;
    shown.iter().for_each(|row| left.remove(PlannedActions::of(row.job.action)));
    if !shown.is_empty() {
        // What is gone cannot be opened.
        let open = shown.iter().filter(|row| row.mark != "-");
        page.rows(&table, open.map(|row| row.job.id.as_str()), screen);
    }
    let more = left.counts().into_iter().filter(|(_, jobs)| *jobs > 0);
    let more = more.map(|(action, jobs)| format!("{} more, {}", grouped(jobs), columns::action(action).text));
    let more = more.collect::<Vec<_>>().join("; ");
    if !more.is_empty() && !shown.is_empty() {
        page.push(&screen.paragraph(&Cell::new(more, Tone::Dim)));
    }
}

/// What is odd in full, as far as there is room, then a few of the class that most rows are of. Rows come longest silent
/// first, and what is new comes before.
fn examples(mut rows: Vec<Row<'_>>, are_few: bool) -> Vec<Row<'_>> {
    let class = |row: &Row<'_>| (row.job.action, row.job.reasons.iter().map(|reason| reason.rule).collect::<Vec<_>>());
    let mut sizes = BTreeMap::new();
    rows.iter().for_each(|row| *sizes.entry(class(row)).or_insert(0) += 1);
    let usual = sizes.into_iter().max_by_key(|(_, size)| *size).map(|(class, _)| class);
    let is_usual = |row: &Row<'_>| Some(class(row)) == usual;
    rows.sort_by_key(|row| (!row.mark.ends_with('+'), is_usual(row)));
    let mut shown = BTreeMap::new();
    rows.retain(|row| {
        let size = shown.entry(class(row)).or_insert(0);
        *size += 1;
        are_few || *size <= if is_usual(row) { EXAMPLES } else { ODD }
    });
    rows
}

/// The columns that are equal in all rows, with their values. Of a cause with more rows than these only what it knows of
/// all of them.
fn shared(table: &Table, rows: &[Row<'_>], cause: Option<&Diagnosis>) -> Vec<(&'static str, String)> {
    let is_of_its_class = |row: &Row<'_>| row.job.reasons.iter().all(|reason| reason.finding.is_of_its_class());
    let equal = |title: &'static str| {
        let at = table.columns.iter().position(|column| column.title == title)?;
        let first = &table.rows.first()?.get(at)?.text;
        let is_equal = table.rows.iter().all(|row| row.get(at).is_some_and(|cell| cell.text == *first));
        let is_known = |cause: &Diagnosis| match title {
            "queue" => cause.of.queues.len() == 1,
            "kind" => cause.of.kind.is_some(),
            "why" => cause.of.alike && rows.iter().all(is_of_its_class),
            _ => false,
        };
        let is_said = first != "-" && cause.is_none_or(is_known);
        (is_equal && is_said).then(|| (title, first.clone()))
    };
    ["queue", "kind", "tries", "why"].into_iter().filter_map(equal).collect()
}

fn columns<'a>(cause: Option<&'a Diagnosis>, rows: &[Row<'_>], screen: &Screen) -> Columns<'a, Row<'a>> {
    let host = cause.and_then(|cause| cause.of.host.as_deref());
    let owner = move |row: &Row<'_>| {
        let owner = row.job.owner.as_deref();
        let below = owner.zip(host).and_then(|(owner, host)| owner.strip_prefix(host)).filter(|rest| !rest.is_empty());
        columns::text(below.or(owner))
    };
    let is_judged = rows.iter().any(|row| row.job.verdict != Some(VerdictKind::Unknown));
    let has_owners = cause.is_none_or(|cause| cause.of.owner.is_none());
    let times = screen.times;
    Columns::<Row<'_>>::new()
        .add_if(rows.iter().any(|row| !row.mark.is_empty()), column("", 0, None), "", |row| {
            Cell::new(row.mark, Tone::Strong)
        })
        .add(column("id", 0, None), "id", |row| row.job.id.as_str().into())
        .add(names("queue", 6, 8), "", |row| columns::text(row.job.queue.as_deref()))
        .add(names("kind", 3, 12), "", |row| columns::text(row.job.kind.as_deref()))
        .add_if(has_owners, names("owner", 0, 10), "", owner)
        .add_if(is_judged, columns::silent(times, 2), "", move |row| columns::job_silence(row.job, times))
        .add_if(is_judged, right("tries", 5), "", |row| {
            columns::attempts(row.job.attempts, row.job.max_attempts).into()
        })
        .add_if(is_judged, column("action", 0, None), "", |row| columns::action(row.job.action))
        .add(column("why", 1, Some(12)), "", |row| row.why.clone())
}

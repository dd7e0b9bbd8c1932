use super::columns::{self, Columns, column};
use super::findings::Wording;
use super::format::{Cell, Facts, Page, Screen, Times, Tone, count, grouped};
use super::{Job, Target, WhySkipped};
use crate::model::{Action, Outcome, Timestamp, age};
use crate::policy::{Check, VerdictKind};
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.show/v1`: jobs with all of their evidence.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Show {
    /// `jobdoctor.show/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// The jobs, in the order they were asked for.
    pub jobs: Vec<ShownJob>,
    /// Ids that name no job.
    pub not_found: Vec<String>,
}

/// One job, explained.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownJob {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// The table that its row stands in.
    pub table: String,
    /// True if it is in flight.
    pub in_flight: bool,
    /// True if its library failed it because its worker died: the checks and what follows are of `reclaim --interrupted`.
    pub interrupted: bool,
    /// What it waits for, if it waits.
    pub waits: Option<Waits>,
    /// The newest recorded run that acted on it.
    pub moved_by: Option<MovedBy>,
    /// Each rule with the value it read and its result.
    pub checks: Vec<RuleCheck>,
    /// What `reclaim` would do.
    pub would: Option<Would>,
    /// Why `reclaim` would skip it.
    pub skipped: Option<WhySkipped>,
    /// The error of its last run that failed, cut after 4 KiB; null if there is none, or the preset does not know it.
    pub last_error: Option<String>,
    /// The bytes of it that are left out; null where the preset does not know the last error.
    pub last_error_left_out_bytes: Option<u64>,
    /// What the job works on, as text; null unless --payload asks for it.
    pub payload: Option<String>,
    /// The bytes of it that are left out; null unless --payload asks for it.
    pub payload_left_out_bytes: Option<u64>,
    /// Further evidence that the preset shows.
    pub extra: Vec<(String, Option<String>)>,
}

/// What a job waits for.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Waits {
    /// Since when; null if that is not known, or it is not due yet.
    #[schemars(with = "Option<String>")]
    pub since_at: Option<Timestamp>,
    /// The time that it waits for; null if it is due.
    #[schemars(with = "Option<String>")]
    pub not_before_at: Option<Timestamp>,
    /// What else holds it back, in words.
    pub held: Option<String>,
    /// Due jobs of its queue that wait longer, 10,000 at most; null if it is not due or held back.
    pub before: Option<u64>,
    /// True if its queue is paused.
    pub paused: bool,
    /// Living workers that serve its queue; null where the tables do not tell.
    pub workers: Option<u64>,
}

/// A run that acted on a job.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MovedBy {
    /// The run.
    pub run_id: String,
    /// When it began, by the store's time.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// What it did.
    pub action: Action,
    /// How that ended.
    pub outcome: Outcome,
}

/// One rule and its result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleCheck {
    /// The rule, or the source of liveness.
    pub rule: String,
    /// The column it read.
    pub column: String,
    /// The value there.
    pub value: String,
    /// `fires`, `clear`, `no_value`, `unusable` or `not_asked`.
    pub result: String,
    /// The result in words.
    pub detail: String,
    /// The check itself.
    #[serde(skip)]
    check: Check,
}

impl RuleCheck {
    pub fn of(check: Check) -> RuleCheck {
        let wording = Wording::default();
        RuleCheck {
            rule: check.rule.to_owned(),
            column: check.column.clone(),
            value: wording.value(&check.value),
            result: check.result.to_string(),
            detail: wording.check(&check),
            check,
        }
    }
}

/// What `reclaim` would do to a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Would {
    /// `requeue`, `fail` or `cancel`.
    pub action: String,
    /// The state it would come to.
    pub state_after: String,
    /// Its attempts then.
    pub attempts_after: Option<i64>,
}

pub fn show(document: &Show, screen: &Screen) -> Page {
    let one = |shown| one(shown, document.store_time, screen);
    let jobs: Vec<String> = document.jobs.iter().map(one).collect();
    jobs.join("\n").into()
}

fn one(shown: &ShownJob, now: Timestamp, screen: &Screen) -> String {
    let job = &shown.job;
    let mut facts = Facts::new();
    facts.add("job", Cell::new(job.id.as_str(), Tone::Strong));
    facts.add("verdict", verdict(shown));
    facts.add("state", format!("{}, in table {}", job.state, shown.table));
    facts.add_some("waits", shown.waits.as_ref().map(|waits| waiting(waits, now, screen)));
    facts.add("queue", columns::text(job.queue.as_deref()));
    facts.add("kind", columns::text(job.kind.as_deref()));
    facts.add("owner", columns::text(job.owner.as_deref()));
    if shown.in_flight {
        facts.add("claimed", columns::time(job.claimed_at, now, screen.times));
        facts.add("last seen", columns::time(job.last_seen_at, now, screen.times));
        facts.add("silent for", columns::job_silence(job, Times::Relative));
        let ends = job.lease_expires_at.map(|at| columns::time(Some(at), now, screen.times));
        facts.add_some("lease ends", ends);
    }
    facts.add_some("failed", shown.interrupted.then(|| columns::time(job.last_seen_at, now, screen.times)));
    facts.add("attempts", columns::attempts(job.attempts, job.max_attempts));
    facts.add_some("stalls", job.stalls.map(|stalls| stalls.to_string()));
    for (name, value) in &shown.extra {
        facts.add(name.as_str(), columns::text(value.as_deref()));
    }
    if let (Some(error), Some(left_out)) = (&shown.last_error, shown.last_error_left_out_bytes) {
        facts.add("last error", excerpt(error, left_out));
    }
    if let Some(left_out) = shown.payload_left_out_bytes {
        facts.add("payload", shown.payload.as_ref().map_or_else(|| "-".into(), |text| excerpt(text, left_out)));
    }
    if let Some(MovedBy { run_id, store_time, action, outcome }) = &shown.moved_by {
        facts.add("last run", format!("{run_id}, {} ago: {action}, {}", age(now.since(*store_time)), outcome.name()));
    }
    facts.add("reclaim", would(shown));
    let mut text = facts.render(screen);
    if !shown.checks.is_empty() {
        text.push('\n');
        text.push_str(&checks(shown, now, screen));
    }
    text
}

fn waiting(waits: &Waits, now: Timestamp, screen: &Screen) -> Cell {
    if let Some(at) = waits.not_before_at {
        return format!("until {}", columns::time(Some(at), now, screen.times).text).into();
    }
    let since = waits.since_at.map_or_else(
        || "since when is not known".to_owned(),
        |at| format!("since {}", columns::time(Some(at), now, screen.times).text),
    );
    let before = waits.before.map(|before| format!("{} before it in its queue", grouped(before)));
    let paused = waits.paused.then(|| "its queue is paused".to_owned());
    let workers = (waits.workers == Some(0)).then(|| "no living worker serves its queue".to_owned());
    let held = waits.held.clone().map(|held| format!("held back: {held}"));
    let all = [Some(since), before, held, paused, workers];
    Cell::new(all.into_iter().flatten().collect::<Vec<_>>().join("; "), Tone::Strong)
}

/// A text of a job's, and how much of it is missing. What a terminal would act on becomes visible where facts are
/// rendered.
fn excerpt(text: &str, left_out: u64) -> Cell {
    match left_out {
        0 => text.into(),
        bytes => format!("{text} ... ({} left out)", count(bytes, "byte", "bytes")).into(),
    }
}

fn verdict(shown: &ShownJob) -> Cell {
    if shown.interrupted {
        return Cell::new("interrupted: its library failed it because its worker died", Tone::Bad);
    }
    let Some(verdict) = shown.job.verdict.filter(|_| shown.in_flight) else { return "not in flight".into() };
    let tone = match verdict {
        VerdictKind::Stuck => Tone::Bad,
        VerdictKind::Unknown => Tone::Warn,
        VerdictKind::Healthy => Tone::Plain,
    };
    Cell::new(verdict.name(), tone)
}

fn would(shown: &ShownJob) -> Cell {
    let with = if shown.interrupted { "with --interrupted would" } else { "would" };
    match (&shown.would, &shown.skipped) {
        (Some(would), _) => {
            let attempts = columns::attempts(would.attempts_after, shown.job.max_attempts);
            let attempts = would.attempts_after.map(|_| format!(", attempts {attempts}")).unwrap_or_default();
            let Would { action, state_after, .. } = would;
            Cell::new(format!("{with} {action} it: {} -> {state_after}{attempts}", shown.job.state), Tone::Strong)
        }
        (None, Some(skipped)) => format!("{with} skip it: {}", skipped.detail).into(),
        (None, None) => "-".into(),
    }
}

/// The rules, a row each. On a narrow screen what a rule means stands below its row, so that column and value stay
/// whole.
fn checks(shown: &ShownJob, now: Timestamp, screen: &Screen) -> String {
    let wording = Wording { times: Some((now, screen.times)), ..Wording::default() };
    let means = |rule: &RuleCheck| wording.check(&rule.check);
    let columns = Columns::<RuleCheck>::new()
        .add(column("rule", 0, None), "rule", |rule| rule.rule.as_str().into())
        .add(column("result", 0, None), "result", result)
        .add(column("column", 0, Some(10)), "column", |rule| rule.column.as_str().into())
        .add(column("value", 0, Some(12)), "value", |rule| wording.value(&rule.check.value).into())
        .add(column("what it means", 0, None), "detail", |rule| means(rule).into());
    let mut table = columns.table(shown.checks.iter());
    let whole = table.render(&Screen { width: None, color: false, ..screen.clone() });
    let widest = whole.lines().map(|line| line.chars().count()).max();
    if screen.width.is_none_or(|width| widest.is_none_or(|widest| widest <= width)) {
        return table.render(screen);
    }
    table.columns.truncate(4);
    table.columns.remove(1);
    table.rows.iter_mut().for_each(|row| drop(row.remove(1)));
    let mut lines = String::new();
    let rows = table.render(screen);
    for (line, check) in rows.lines().zip(std::iter::once(None).chain(shown.checks.iter().map(Some))) {
        lines.push_str(&format!("{line}\n"));
        if let Some(check) = check {
            let result = result(check);
            lines.push_str(&screen.indented(&Cell::new(format!("{}: {}", result.text, means(check)), result.tone)));
        }
    }
    lines
}

fn result(check: &RuleCheck) -> Cell {
    let tone = match check.result.as_str() {
        "fires" => Tone::Bad,
        "clear" => Tone::Plain,
        "unusable" => Tone::Warn,
        _ => Tone::Dim,
    };
    Cell::new(check.result.replace('_', " "), tone)
}

use super::format::{Cell, Facts, Screen, Table, Tone};
use super::{Job, Skipped, Target, columns};
use crate::model::Timestamp;
use crate::policy::VerdictKind;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.show/v1`: jobs with all that is known of them.
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
    /// Whether it is in flight at all.
    pub in_flight: bool,
    /// Each rule, what it read and what it made of it.
    pub checks: Vec<RuleCheck>,
    /// What `reclaim` would do.
    pub would: Option<Would>,
    /// Why `reclaim` would skip it.
    pub skipped: Option<Skipped>,
    /// Further evidence that the preset shows.
    pub extra: Vec<(String, Option<String>)>,
}

/// One rule that was asked.
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
    /// In words.
    pub detail: String,
}

/// What would be done to a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Would {
    /// `requeue`, `fail` or `cancel`.
    pub action: String,
    /// The state it would come to.
    pub state_after: String,
    /// Its attempts then.
    pub attempts_after: Option<i64>,
}

/// Jobs explained, for people.
pub fn show(document: &Show, screen: &Screen) -> String {
    document.jobs.iter().map(|shown| one(shown, screen)).collect::<Vec<_>>().join("\n")
}

fn one(shown: &ShownJob, screen: &Screen) -> String {
    let job = &shown.job;
    let mut facts = Facts::new();
    facts.add("job", Cell::new(job.id.as_str(), Tone::Strong));
    facts.add("verdict", verdict(job.verdict, shown.in_flight));
    facts.add("state", job.state.as_str());
    facts.add("queue", columns::text(job.queue.as_deref()));
    facts.add("kind", columns::text(job.kind.as_deref()));
    facts.add("owner", columns::text(job.owner.as_deref()));
    if shown.in_flight {
        let time = |time: Option<crate::model::Timestamp>| time.map(|time| time.to_string());
        facts.add("claimed", columns::text(time(job.claimed_at).as_deref()));
        facts.add("last seen", columns::text(time(job.last_seen_at).as_deref()));
        facts.add("silent for", columns::silence(job));
        if let Some(lease) = time(job.lease_expires_at) {
            facts.add("lease ends", lease);
        }
    }
    facts.add("attempts", columns::attempts(job.attempts, job.max_attempts));
    if let Some(stalls) = job.stalls {
        facts.add("stalls", stalls.to_string());
    }
    for (name, value) in &shown.extra {
        facts.add(name.as_str(), columns::text(value.as_deref()));
    }
    facts.add("reclaim", would(shown));
    let mut text = facts.render(screen);
    if !shown.checks.is_empty() {
        text.push('\n');
        text.push_str(&checks(shown).render(screen));
    }
    text
}

fn verdict(verdict: VerdictKind, in_flight: bool) -> Cell {
    let tone = match verdict {
        _ if !in_flight => return "not in flight".into(),
        VerdictKind::Stuck => Tone::Bad,
        VerdictKind::Unknown => Tone::Warn,
        VerdictKind::Healthy => Tone::Good,
    };
    Cell::new(verdict.name(), tone)
}

fn would(shown: &ShownJob) -> Cell {
    match (&shown.would, &shown.skipped) {
        (Some(would), _) => {
            let attempts = match would.attempts_after {
                Some(after) => format!(", attempts {}", columns::attempts(Some(after), shown.job.max_attempts)),
                None => String::new(),
            };
            Cell::new(
                format!("would {} it: {} -> {}{attempts}", would.action, shown.job.state, would.state_after),
                Tone::Strong,
            )
        }
        (None, Some(skipped)) => format!("would skip it: {}", skipped.detail).into(),
        (None, None) => "-".into(),
    }
}

fn checks(shown: &ShownJob) -> Table {
    let columns = vec![
        columns::column("rule", 0, None),
        columns::column("result", 0, None),
        columns::column("column", 3, Some(10)),
        columns::column("value", 2, Some(12)),
        columns::column("what it means", 0, Some(24)),
    ];
    let rows = shown.checks.iter().map(|check| {
        let tone = match check.result.as_str() {
            "fires" => Tone::Bad,
            "clear" => Tone::Good,
            "unusable" => Tone::Warn,
            _ => Tone::Dim,
        };
        vec![
            check.rule.as_str().into(),
            Cell::new(check.result.replace('_', " "), tone),
            check.column.as_str().into(),
            check.value.as_str().into(),
            check.detail.as_str().into(),
        ]
    });
    Table { columns, rows: rows.collect() }
}

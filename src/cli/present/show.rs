use super::jobs;
use crate::render::{Cell, Facts, Screen, Table, Tone};
use crate::report::{Show, ShownJob};

/// Jobs explained, for people.
pub fn show(document: &Show, screen: &Screen) -> String {
    document.jobs.iter().map(|shown| one(shown, screen)).collect::<Vec<_>>().join("\n")
}

fn one(shown: &ShownJob, screen: &Screen) -> String {
    let job = &shown.job;
    let mut facts = Facts::new();
    facts.add("job", Cell::new(job.id.as_str(), Tone::Strong));
    facts.add("verdict", verdict(job.verdict.as_str(), shown.in_flight));
    facts.add("state", job.state.as_str());
    facts.add("queue", jobs::text(job.queue.as_deref()));
    facts.add("kind", jobs::text(job.kind.as_deref()));
    facts.add("owner", jobs::text(job.owner.as_deref()));
    if shown.in_flight {
        let time = |time: Option<crate::model::Timestamp>| time.map(|time| time.to_string());
        facts.add("claimed", jobs::text(time(job.claimed_at).as_deref()));
        facts.add("last seen", jobs::text(time(job.last_seen_at).as_deref()));
        facts.add("silent for", jobs::silence(job));
        if let Some(lease) = time(job.lease_expires_at) {
            facts.add("lease ends", lease);
        }
    }
    facts.add("attempts", jobs::attempts(job.attempts, job.max_attempts));
    if let Some(stalls) = job.stalls {
        facts.add("stalls", stalls.to_string());
    }
    for (name, value) in &shown.extra {
        facts.add(name.as_str(), jobs::text(value.as_deref()));
    }
    facts.add("reclaim", would(shown));
    let mut text = facts.render(screen);
    if !shown.checks.is_empty() {
        text.push('\n');
        text.push_str(&checks(shown).render(screen));
    }
    text
}

fn verdict(verdict: &str, in_flight: bool) -> Cell {
    match verdict {
        _ if !in_flight => Cell::new("not in flight", Tone::Plain),
        "stuck" => Cell::new("stuck", Tone::Bad),
        "unknown" => Cell::new("unknown", Tone::Warn),
        other => Cell::new(other, Tone::Good),
    }
}

fn would(shown: &ShownJob) -> Cell {
    match (&shown.would, &shown.skipped) {
        (Some(would), _) => {
            let attempts = match would.attempts_after {
                Some(after) => format!(", attempts {}", jobs::attempts(Some(after), shown.job.max_attempts)),
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
        jobs::column("rule", 0, None),
        jobs::column("result", 0, None),
        jobs::column("column", 3, Some(10)),
        jobs::column("value", 2, Some(12)),
        jobs::column("what it means", 0, Some(24)),
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

//! Who holds a claim, what shows its life, and the rules about trouble.

use super::fact::{PresetFact, fact, why};
use super::words::{code, column, option, quoted};
use crate::model::age;
use crate::preset::{
    Absence, By, Counted, Document, Exhausted, Fencing, Free, LivenessDoc, MaxCounts, MaxDoc, MaxRuntimeDoc, OwnerRows,
    SilentAfterDoc,
};

pub(super) fn liveness(document: &Document) -> Vec<PresetFact> {
    let sources = &document.claim.liveness;
    let owner = owner(document).unwrap_or_else(|| "the tables do not say who holds a claim".to_owned());
    let mut facts = vec![fact("owner", owner)];
    facts.extend(why("owner", &document.owner.why));
    for (n, source) in sources.iter().enumerate() {
        let label = format!("{}. {}", n + 1, source.by.name());
        facts.push(fact(label.as_str(), life_sign(document, source)));
        facts.extend(why(&label, &source.why));
    }
    let rest = match sources.len() {
        0 if !document.is_acted_on() => {
            "nothing here shows life: claims are listed, and no action is ever taken on them"
        }
        0 => "nothing here shows life: claims are unknown, and only a sweep with --restart acts on them",
        1 => "a claim without a value there is unknown, and skipped",
        _ => "the first that has a value decides; a claim for which none has one is unknown, and skipped",
    };
    facts.push(fact("order", rest));
    facts.extend(rules(document));
    facts
}

fn owner(document: &Document) -> Option<String> {
    let owner = &document.owner;
    let mut words = vec![format!("{} says who holds a claim", column(document, owner.id.as_ref()?))];
    words.extend(owner.name.as_ref().map(|name| format!("shown as {}", column(document, name))));
    let table = owner.table.as_ref().map(|table| quoted(document.table_name(&table.text)));
    words.extend(table.map(|table| format!("owners have rows in {table}")));
    words.push(match &owner.host {
        Some(host) => format!("the host, for --host, is {}", column(document, host)),
        None => "it names no host, so --host is refused".to_owned(),
    });
    Some(words.join("; "))
}

fn life_sign(document: &Document, source: &LivenessDoc) -> String {
    let column = source.column.as_ref().map(|written| column(document, written)).unwrap_or_default();
    let allowed = allowed(document, source);
    match source.by {
        By::Lease => {
            let plus = source.plus.as_ref().map(|plus| format!(" plus {} seconds", self::column(document, plus)));
            format!("alive until {column}{}, dead from then on", plus.unwrap_or_default())
        }
        By::Heartbeat => format!("alive while {column} is not older than {allowed}, dead after that"),
        By::Owner => {
            let owner = &document.owner;
            let beats = owner.heartbeat.as_ref().zip(owner.table.as_ref()).map(|(heartbeat, table)| {
                let (heartbeat, table) = (quoted(&heartbeat.text), quoted(document.table_name(&table.text)));
                let newest = if owner.rows == OwnerRows::Newest { "the newest " } else { "" };
                format!("alive while {newest}{heartbeat} of its owner in {table} is not older than {allowed}, dead after that")
            });
            let missing = format!("an owner without a row: {}", absence(owner.missing));
            let unset = format!("no owner named: {}", absence(owner.unset));
            beats.into_iter().chain([missing, unset]).collect::<Vec<_>>().join("; ")
        }
        By::Lock => {
            let held = source.held.as_ref().map(|held| document.sql_text(&held.sql)).unwrap_or_default();
            let free = if source.free == Some(Free::Dead) { "dead" } else { "the next source is asked" };
            format!("alive while its worker holds the lock: {}; a free lock: {free}", quoted(&held))
        }
        By::Age => format!(
            "age only: alive while {column} is not older than {allowed}, dead after that; a slow job looks the same"
        ),
    }
}

/// How long a silence is allowed.
fn allowed(document: &Document, source: &LivenessDoc) -> String {
    match &source.silent_after {
        Some(SilentAfterDoc::Span(span, written)) => option(written.as_written()).unwrap_or_else(|| age(*span)),
        Some(SilentAfterDoc::Column(written)) => format!("{} seconds, as the row says", column(document, written)),
        Some(SilentAfterDoc::Required) | None => "what --older says (there is no default)".to_owned(),
    }
}

fn absence(absence: Absence) -> &'static str {
    match absence {
        Absence::Dead => "dead",
        Absence::Next => "the next source is asked",
        Absence::Unknown => "unknown",
    }
}

fn rules(document: &Document) -> Vec<PresetFact> {
    let rules = &document.rules;
    let started = document.owner.started.as_ref().map(|started| {
        let detail = format!("dead: its owner started ({}) after the claim was made", column(document, started));
        fact("owner restarted", detail)
    });
    let deadline = rules.deadline.as_ref().map(|deadline| {
        fact("deadline passed", format!("trouble, not death: {} has passed", column(document, deadline)))
    });
    let max_runtime = rules.max_runtime.as_ref().map(|max| {
        let max = match max {
            MaxRuntimeDoc::Span(span, written) => option(written.as_written()).unwrap_or_else(|| quoted(&age(*span))),
            MaxRuntimeDoc::Column(written) => quoted(&written.text),
        };
        fact("max runtime", format!("trouble, not death: it runs for longer than {max}"))
    });
    let cancel = rules.cancel_requested.as_ref().map(|requested| {
        let detail = format!("a dead one is cancelled instead of put back: {}", column(document, requested));
        fact("cancel requested", detail)
    });
    let why = rules.why.as_deref().map(|why| fact("rules", why));
    [started, deadline, max_runtime, cancel, why].into_iter().flatten().collect()
}

pub(super) fn attempts(document: &Document) -> Vec<PresetFact> {
    if !document.is_acted_on() {
        return Vec::new();
    }
    let lost = match &document.attempts.stalls {
        Some(stalls) => {
            format!("{} counts how often a job was lost before, for --max-stalls", code(&document.column_text(stalls)))
        }
        None => "nothing in the tables counts how often a job was lost before".to_owned(),
    };
    let facts = [fact("counted", counted(document)), fact("used up", exhausted(document)), fact("lost", lost)];
    facts.into_iter().chain(why("why", &document.attempts.why)).collect()
}

fn counted(document: &Document) -> String {
    let attempts = &document.attempts;
    let Some(written) = &attempts.column else { return "not in the tables, so a reclaim counts nothing".to_owned() };
    let rule = match attempts.counted {
        Counted::AtClaim => "counts a run when it begins, so a lost run is counted already",
        Counted::AtNextClaim => "counts a run when the next one begins, which will count the lost one",
        Counted::AtEnd => "counts a run when it ends, which a lost one never does: a reclaim adds it",
        Counted::OnError => "counts a run when it ends badly: a reclaim adds the lost one",
        Counted::AtReclaim => "counts a lost run when it is reclaimed",
        Counted::NotInTheTable => "is not changed by a reclaim",
    };
    let left = if attempts.counts_down { "is what is left of the attempts: it " } else { "" };
    format!("{} {left}{rule}", column(document, written))
}

fn exhausted(document: &Document) -> String {
    let attempts = &document.attempts;
    if attempts.exhausted == Exhausted::Leave {
        return "the library itself decides: a reclaimed job goes back all the same".to_owned();
    }
    let max = match &attempts.max {
        None => return "there is no maximum that the tables know".to_owned(),
        Some(MaxDoc::Number(_, as_written)) => option(as_written).unwrap_or_else(|| quoted(as_written)),
        Some(MaxDoc::Column(written)) => column(document, written),
    };
    let used_up = match attempts.max_counts {
        MaxCounts::Runs => format!("reach {max}"),
        MaxCounts::Retries => format!("exceed {max}"),
    };
    format!("a job whose attempts {used_up} fails and is never put back")
}

/// What stops the write of a worker that comes back late, unless the preset's own words say more.
pub(super) fn fencing(fencing: Fencing) -> &'static str {
    match fencing {
        Fencing::Fenced => "it is stopped: the library compares who holds the job",
        Fencing::ByState => "it is stopped only if the job is in another state by then",
        Fencing::ById => "it overwrites what happened meanwhile",
        Fencing::Unknown => "not known: it may overwrite what happened meanwhile",
    }
}

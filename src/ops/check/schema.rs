//! Checks that the preset fits the tables: threshold, listing, key, ledger, and jobs that no listing shows.

use super::{Findings, role};
use crate::model::{Key, LockSign, Reading, overridden};
use crate::ops::OpsError;
use crate::ops::selection::Selection;
use crate::ops::session::Snapshot;
use crate::ops::survey::{Survey, Surveyed};
use crate::output::format::count;
use crate::output::{Severity, advice, sentence};
use crate::policy::{Check as RuleCheck, CheckResult, Policy, Value, Verdict};
use crate::preset::ident::qualified;
use crate::preset::{Jobs, LEDGER, LiveTable};
use crate::store::{Cutoffs, Detail, StoreErrorKind, Wanted};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

pub(super) fn preset(findings: &mut Findings, snapshot: &Snapshot) {
    let jobs = &snapshot.jobs;
    let variants = jobs.queue.variants.join("; ");
    let variants = if variants.is_empty() { variants } else { format!(", in the variants: {variants}") };
    let fits = format!("preset {} fits the tables as they are{variants}", jobs.queue.preset);
    let severity = if overridden(&jobs.queue.variants).is_some() { Severity::Warning } else { Severity::Ok };
    findings.add(severity, "preset", fits, None);
    if let Some((_, said)) = jobs.zone() {
        let fix = Some(advice::SAY_TIME_ZONE.to_owned());
        findings.add(Severity::Warning, "time_zone", said.caution().to_owned(), fix);
    }
    for (_, caution) in jobs.cautions.iter().filter(|(name, _)| snapshot.options.contains(name)) {
        findings.add(Severity::Warning, "option", caution.clone(), None);
    }
    if let Some(why) = jobs.advice_only() {
        let fix = format!("`jobdoctor presets show {}` says what to do instead", jobs.queue.preset);
        findings.add(Severity::Warning, "advice_only", format!("nothing can be reclaimed here: {why}"), Some(fix));
    } else if jobs.needs_threshold() {
        let detail = format!("preset {} has no threshold of its own for these tables", jobs.queue.preset);
        findings.add(Severity::Warning, "threshold", detail, Some(advice::SAY_THRESHOLD.to_owned()));
    } else if jobs.liveness.is_empty() {
        let detail = "nothing in these tables tells a dead worker from a slow one".to_owned();
        let fix = match jobs.missing_liveness() {
            Some(line) => advice::add_liveness(&jobs.queue.preset, &line),
            None if snapshot.mapping.is_some() => advice::NAME_CLAIM_TIME.to_owned(),
            None => advice::RESTART_ALL.to_owned(),
        };
        findings.add(Severity::Warning, "no_sign_of_life", detail, Some(fix));
    }
}

/// From so many claims on, it is the queue that cannot be judged.
const MANY: u64 = 3;

/// Runs the listing as `stale` would, and counts what it could not judge. Refuses a queue of which no claim can be
/// judged: its times or its tables are not what they look like.
pub(super) fn listing(findings: &mut Findings, snapshot: &mut Snapshot) -> Result<bool, OpsError> {
    // That the operator has to say a threshold is a finding of its own: here any will do.
    let older = snapshot.jobs.needs_threshold().then_some(Duration::from_secs(3600));
    let policy = Policy { older, ..Policy::default() };
    let (jobs, all) = (snapshot.jobs.clone(), Selection::default());
    let (mut unknown, mut example, mut causes) = (0_u64, None, Causes::default());
    let survey = Survey { detail: Detail::ForAction, with_waiting: true, ..Survey::of(&jobs, &all, &policy) };
    let seen = survey.run(snapshot, &mut |Surveyed { claim, judgement, .. }| {
        if let Verdict::Unknown(lacking) = judgement.verdict {
            unknown += 1;
            causes.add(&judgement.checks);
            example = example.take().or_else(|| lacking.first().map(|why| (claim.key.to_string(), sentence(why))));
        }
        ControlFlow::Continue(())
    });
    let in_flight = match seen {
        Ok(seen) => {
            for why in seen.unread() {
                let detail = format!("a part of the waiting side cannot be read: {why}");
                findings.add(Severity::Warning, "waiting", detail, None);
            }
            seen.claims()
        }
        Err(OpsError::Store(error)) if error.is_refusal() => {
            findings.denied |= error.kind == StoreErrorKind::Denied;
            findings.add(Severity::Error, "listing", format!("the listing fails: {error}"), error.hint);
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    findings.ok("listing", "the listing runs".to_owned());
    if let (Some((id, why)), false) = (example, snapshot.jobs.liveness.is_empty()) {
        let is_every = unknown >= MANY && unknown == in_flight;
        let (severity, all) = if is_every { (Severity::Error, ", all") } else { (Severity::Warning, "") };
        let detail = format!("claims that cannot be judged: {unknown}{all}; job {id}, for one: {why}");
        findings.add(severity, "unknown", detail, Some(causes.remedy(&snapshot.jobs)));
    }
    Ok(true)
}

/// Why claims are unknown, as far as there is something to do about it.
#[derive(Default)]
struct Causes {
    /// A time has no zone.
    has_zone: bool,
    /// A value cannot be used.
    has_value: bool,
    has_other: bool,
}

impl Causes {
    fn add(&mut self, checks: &[RuleCheck]) {
        let unusable = || checks.iter().filter(|check| check.result == CheckResult::Unusable);
        let is_none = |value: &Value| {
            matches!(value, Value::Time(Reading::Absent) | Value::Lock(LockSign::Absent | LockSign::OutOfSight))
        };
        let is_value = |check: &RuleCheck| !is_none(&check.value);
        match unusable().any(|check| check.rule == "time_zone") {
            true => self.has_zone = true,
            false if unusable().any(is_value) => self.has_value = true,
            false => self.has_other = true,
        }
    }

    /// What to do about these causes.
    fn remedy(&self, jobs: &Jobs) -> String {
        let has_no_zone = self.has_value || self.has_other;
        let options = advice::about_options(&jobs.cautions).filter(|_| has_no_zone);
        let options: Vec<&str> = options.map(|(_, caution)| caution.as_str()).collect();
        let zone = self.has_zone.then_some(advice::SAY_TIME_ZONE);
        let value = (self.has_value && options.is_empty()).then_some(advice::CORRECT_VALUES);
        let list = std::iter::once("`jobdoctor stale` lists them, each with its reason");
        list.chain(zone).chain(value).chain(options).collect::<Vec<_>>().join("; ")
    }
}

/// Refuses a key that each claim shares with another row, as a batch does; where two rows may share one, each batch
/// asks first.
pub(super) fn key(findings: &mut Findings, snapshot: &mut Snapshot) -> Result<(), OpsError> {
    let columns: Vec<&str> = snapshot.jobs.claim.key.iter().map(|column| column.name.as_str()).collect();
    let live = claims_table(snapshot).filter(|live| !live.is_view && !live.is_unique(&columns));
    let Some(live) = live else { return Ok(()) };
    let columns = columns.join(", ");
    let fix = match &live.partitions {
        Some(_) => "name a key that includes the partition key, if rows may share this one".to_owned(),
        None => "name a unique column as the key, or give the table a primary key".to_owned(),
    };
    let no_index = format!("no unique index of table {} covers the key {columns}", live.name);
    let mut keys = Vec::new();
    let wanted = Wanted::Suspects(Cutoffs::at(snapshot.now(), None));
    snapshot.reader.scan(&snapshot.jobs, &wanted, Detail::ForListing, &mut |claim| {
        keys.extend((keys.len() < KEYS_TRIED).then_some(claim.key));
    })?;
    keys.sort_by_key(Key::exact);
    keys.dedup_by_key(|key| key.exact());
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    for (row, _) in snapshot.reader.find_keys(&snapshot.jobs, &keys)? {
        *rows.entry(row.key.exact()).or_default() += 1;
    }
    let tried = rows.len();
    rows.retain(|_, rows| *rows > 1);
    let share = count(rows.values().sum(), "row", "rows");
    let asks = "each action asks first whether a key names one row, and skips the jobs whose key does not";
    let (severity, detail) = match rows.len() {
        0 => (Severity::Warning, format!("{no_index}: {asks}")),
        shared if shared == tried => {
            (Severity::Error, format!("{no_index}, and all claims that were tried share one with another row: {share}"))
        }
        _ => (Severity::Warning, format!("{no_index}, and {share} share one with another row: {asks}")),
    };
    findings.add(severity, "key", detail, Some(fix));
    Ok(())
}

/// The most keys of claims in flight that are looked up.
const KEYS_TRIED: usize = 1000;

/// True if rows can be written: through some views they cannot.
pub(super) fn view(findings: &mut Findings, snapshot: &Snapshot) -> bool {
    let fixed = claims_table(snapshot).filter(|live| live.is_fixed);
    if let Some(live) = fixed {
        let detail = format!("{} is not a table whose rows can be updated: nothing can be applied", live.name);
        findings.add(Severity::Error, "not_updatable", detail, Some(advice::NAME_TABLE_OR_SCHEMA.to_owned()));
    }
    fixed.is_none()
}

/// The live table whose rows the actions change.
pub(super) fn claims_table(snapshot: &Snapshot) -> Option<&LiveTable> {
    let table = snapshot.jobs.queue.tables.get(&snapshot.jobs.claim.lock_table)?;
    snapshot.live.table(Some(&table.schema), &table.name)
}

/// Names tables that do not count, and checks that the ledger takes rows, if there is one. A queue needs none.
pub(super) fn ledger(findings: &mut Findings, snapshot: &Snapshot) {
    for (name, why) in &snapshot.jobs.queue.ignored {
        findings.add(Severity::Warning, if name == LEDGER { "ledger" } else { "tables" }, why.clone(), None);
    }
    let Some(ledger) = &snapshot.jobs.queue.ledger else {
        if !snapshot.jobs.queue.ignored.contains_key(LEDGER) {
            findings
                .ok("ledger", snapshot.jobs.queue.no_ledger.clone().unwrap_or_else(|| advice::NO_LEDGER.to_owned()));
        }
        return;
    };
    let (schema, name) = (&ledger.table.schema, &ledger.table.name);
    if !ledger.lacks.is_empty() {
        let lacks = ledger.lacks.join(", ");
        let detail = format!("the ledger {schema}.{name} lacks columns, so jobdoctor can apply nothing: {lacks}");
        findings.add(Severity::Error, "ledger", detail, Some(advice::REPLACE_LEDGER.to_owned()));
    } else if snapshot.jobs.queue.engine.has_roles() && !(ledger.may_insert && ledger.may_read) {
        let detail = format!("an action adds rows to the ledger {schema}.{name}, and history reads them");
        let grant = format!("GRANT INSERT, SELECT ON {} TO {}", qualified(schema, name), role(snapshot));
        findings.denied("ledger", detail, grant);
    } else {
        findings.ok("ledger", format!("the ledger {schema}.{name} records each action"));
    }
}

/// Counts jobs that never run although no worker holds them, by the checks of the preset. Warns if there are any, and
/// if they cannot be counted: reclaiming does not need the count.
pub(super) fn unlisted(findings: &mut Findings, snapshot: &mut Snapshot) -> Result<(), OpsError> {
    for check in &snapshot.jobs.queue.checks {
        let (detail, fix) = match snapshot.reader.number(&snapshot.jobs, &check.sql) {
            Ok(0) => continue,
            Ok(jobs) => (format!("{}: {jobs}", check.finds), Some(check.remedy.clone())),
            // The check before it has ended the transaction.
            Err(error) if error.code.as_deref() == Some("25P02") => return Ok(()),
            Err(error) if error.is_refusal() => {
                let detail = format!("check.{} could not be counted: {} ({error})", check.name, check.finds);
                findings.add(Severity::Warning, &check.name, detail, error.hint);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        findings.add(Severity::Warning, &check.name, detail, fix);
    }
    Ok(())
}

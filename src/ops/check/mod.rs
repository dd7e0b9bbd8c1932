//! Checks whether jobdoctor can do its work on a queue, and what is missing.

mod index;
mod probes;
mod rights;
mod schema;

use super::OpsError;
use super::plan::cascades;
use super::session::{Session, Snapshot};
use crate::model::{Action, Engine};
use crate::output::{Check, CheckFinding, Severity, holds_locks, out_of_sight, remedy};
use crate::preset::ident::{qualified, quoted};
use crate::preset::{Jobs, LiveTable};
use crate::store::catalog::{self, Asked};
use crate::store::{Detail, Forbids, StoreErrorKind, Wanted};
use std::time::{Duration, Instant};

/// The findings, and whether a right or a fit is missing.
pub struct Checked {
    pub document: Check,
    /// True if jobdoctor can do everything that such a queue offers: list, and act if it has actions.
    pub is_fit: bool,
    /// True if a right is missing: the database's administrator must grant it.
    pub denied: bool,
}

/// Checks rights, encodings, indexes and triggers. `setup` holds warnings about the connection, `unfit` entries of the
/// config file that do not fit; `with_waiting` is true if the config file has actions for jobs that wait.
pub fn check(
    snapshot: &mut Snapshot,
    setup: &[String],
    unfit: &[(&str, String)],
    with_waiting: bool,
) -> Result<Checked, OpsError> {
    let mut findings = Findings { list: Vec::new(), denied: false };
    for warning in setup {
        findings.add(Severity::Warning, "setup", warning.clone(), None);
    }
    for (id, why) in unfit {
        findings.add(Severity::Error, id, why.clone(), None);
    }
    server(&mut findings, snapshot);
    findings.list.extend(unasked(std::env::consts::OS, snapshot.jobs.queue.engine));
    if snapshot.target.standby.is_some() {
        let fix = "name its primary, or several hosts and target_session_attrs=read-write".to_owned();
        let detail = "this is a standby: jobdoctor can list it and apply nothing".to_owned();
        findings.add(Severity::Error, "standby", detail, Some(fix));
    }
    let has_roles = snapshot.jobs.queue.engine.has_roles();
    probes::ask(&mut findings, snapshot, &probes::FIRST)?;
    schema::preset(&mut findings, snapshot);
    if let Some(found) = snapshot.unfamiliar_states()? {
        let (severity, place) = match &snapshot.states_at {
            // A mapping is the operator's own: each state of the table can be named in it.
            Some(at) if !found.are_unasked() => (Severity::Error, format!("{at}: ")),
            _ => (Severity::Warning, String::new()),
        };
        let fix = (!found.are_unasked()).then(|| found.remedy());
        findings.add(severity, "unfamiliar_states", format!("{place}{}", found.sentence()), fix);
    }
    // Rights first: they explain why a listing fails.
    rights::rights(&mut findings, snapshot, with_waiting);
    let can_list = schema::listing(&mut findings, snapshot)?;
    // A database in an unsafe place can be read; writing may be refused.
    if let Some(caution) = &snapshot.caution {
        let severity = if caution.forbids > Forbids::Nothing { Severity::Error } else { Severity::Warning };
        findings.add(severity, caution.id, caution.message.clone(), Some(remedy(caution.remedy).to_owned()));
    }
    if can_list {
        schema::key(&mut findings, snapshot)?;
    }
    if let Some(why) = &snapshot.jobs.unwritable {
        // SQLite alone has the clause, and Postgres alone foreign tables.
        let (id, fix) = match has_roles {
            true => ("foreign_table", "run jobdoctor on the server that holds the rows"),
            false => ("conflict_clause", "leave the clause out of the trigger, or take ON CONFLICT out of the table"),
        };
        findings.add(Severity::Error, id, why.clone(), Some(fix.to_owned()));
    }
    if can_list {
        probes::ask(&mut findings, snapshot, &probes::LISTED)?;
    }
    // Without listing or writing, every statement fails.
    if schema::view(&mut findings, snapshot) && can_list && snapshot.target.standby.is_none() {
        rights::actions(&mut findings, snapshot)?;
    }
    schema::ledger(&mut findings, snapshot);
    let counted = can_list.then(|| time_counting(snapshot)).transpose()?;
    index::index(&mut findings, snapshot, counted)?;
    followers(&mut findings, snapshot, can_list)?;
    if can_list && has_roles {
        locks(&mut findings, snapshot)?;
    }
    // Last: a failing statement ends the transaction of all reads.
    if can_list {
        schema::unlisted(&mut findings, snapshot)?;
    }
    findings.list.sort_by_key(|finding| finding.severity);
    let is_moved = snapshot.jobs.advice_only().is_none();
    // A queue that can only be listed fits as it is: there is nothing to fix.
    let is_fit = can_list && findings.list.iter().all(|finding| finding.severity != Severity::Error);
    Ok(Checked {
        document: Check {
            schema: "jobdoctor.check/v1",
            store_time: Some(snapshot.now()),
            target: Some(snapshot.target.clone()),
            // Every other command refuses a file under a second name.
            can_list: can_list && snapshot.caution.as_ref().is_none_or(|caution| caution.forbids < Forbids::Judging),
            can_reclaim: is_fit && is_moved,
            findings: findings.list,
            not_tried: if is_moved { not_tried(snapshot.jobs.queue.engine) } else { Vec::new() },
            try_with: None,
        },
        is_fit,
        denied: findings.denied,
    })
}

impl Checked {
    /// Adds what interrupted jobs lack to be listed and retried: warnings, or errors where a sweep is to retry them, which
    /// `misfit` may forbid. Reads none of them.
    pub fn add_interrupted(
        &mut self,
        session: &Session<'_>,
        is_swept: bool,
        misfit: Option<&str>,
    ) -> Result<(), OpsError> {
        let mut findings = Findings { list: Vec::new(), denied: false };
        let tried = session.snapshot_of_interrupted().and_then(|mut snapshot| {
            let is_retried = snapshot.jobs.library_command().is_none();
            is_retried.then(|| rights::rights(&mut findings, &snapshot, false));
            let none = Wanted::Since(snapshot.now());
            snapshot.reader.scan(&snapshot.jobs, &none, Detail::ForAction, &mut |_| {})?;
            snapshot.reader.ended(&snapshot.jobs, snapshot.reader.now())?;
            if is_retried { rights::actions(&mut findings, &mut snapshot) } else { Ok(()) }
        });
        match tried {
            Err(OpsError::Store(error)) if error.kind == StoreErrorKind::Interrupted => return Err(error.into()),
            Err(error) => findings.add(Severity::Error, "", error.to_string(), None),
            Ok(()) => misfit.iter().for_each(|why| findings.add(Severity::Error, "", (*why).to_owned(), None)),
        }
        // What claims lack too is said of them.
        findings.list.retain(|finding| self.document.findings.iter().all(|known| known.detail != finding.detail));
        let severity = if is_swept { Severity::Error } else { Severity::Warning };
        let missing = findings.list.into_iter().filter(|finding| finding.severity == Severity::Error);
        let missing = missing.map(|finding| CheckFinding {
            id: "interrupted".to_owned(),
            severity,
            detail: format!("interrupted jobs: {}", finding.detail),
            ..finding
        });
        let known = self.document.findings.len();
        self.document.findings.extend(missing);
        let is_missing = is_swept && self.document.findings.len() > known;
        self.is_fit &= !is_missing;
        self.denied |= is_missing && findings.denied;
        self.document.findings.sort_by_key(|finding| finding.severity);
        Ok(())
    }
}

struct Findings {
    list: Vec<CheckFinding>,
    denied: bool,
}

impl Findings {
    fn add(&mut self, severity: Severity, id: &str, detail: String, fix: Option<String>) {
        self.list.push(CheckFinding { id: id.to_owned(), severity, detail, fix, count_seconds: None });
    }

    /// A warning about what each snapshot costs, with how long the claims in flight were counted.
    fn costs(&mut self, id: &str, detail: String, fix: Option<String>, counted: Option<Duration>) {
        self.add(Severity::Warning, id, detail, fix);
        if let Some(finding) = self.list.last_mut() {
            finding.count_seconds = counted.map(|took| took.as_secs_f64());
        }
    }

    fn ok(&mut self, id: &str, detail: String) {
        self.add(Severity::Ok, id, detail, None);
    }

    /// A missing right, with the statement that grants it.
    fn denied(&mut self, id: &str, detail: String, grant: impl Into<Option<String>>) {
        self.denied = true;
        self.add(Severity::Error, id, detail, grant.into());
    }
}

/// What follows from a write of an action: triggers, rules and cascades.
fn followers(findings: &mut Findings, snapshot: &mut Snapshot, can_list: bool) -> Result<(), OpsError> {
    let is_moved = snapshot.jobs.advice_only().is_none();
    let has_roles = snapshot.jobs.queue.engine.has_roles();
    for table in snapshot.written_tables().into_iter().filter(|table| is_moved && !table.triggers.is_empty()) {
        let names = table.triggers.join(", ");
        let detail = format!("table {} has triggers, and an action may fire them: {names}", table.name);
        if !has_roles {
            findings.ok("triggers", detail);
            continue;
        }
        // The catalog does not tell which tables a trigger writes to.
        let detail = format!("{detail}. They run with this role's rights, which is not checked here");
        let fix = "grant the role what the triggers write; docs/rights.md shows it for procrastinate".to_owned();
        findings.add(Severity::Warning, "triggers", detail, Some(fix));
    }
    if is_moved && can_list {
        // Postgres alone has rules.
        let rules = catalog::rules(snapshot.jobs.queue.engine, &snapshot.written_tables());
        let rules = rules.map(|rules| snapshot.reader.texts(&rules)).transpose()?;
        for rule in rules.into_iter().flatten() {
            let detail = format!("rules rewrite what is written, on table {}", rule.join(": "));
            let fix = "an action whose statement a rule swallows is refused; a dry run on the server shows it";
            findings.add(Severity::Warning, "rules", detail, Some(fix.to_owned()));
        }
        for detail in cascades(snapshot, &snapshot.jobs.clone(), Action::ALL.iter(), true)? {
            findings.add(Severity::Warning, "cascades", detail, None);
        }
    }
    Ok(())
}

/// Transactions that have held locks on the queue's tables for long.
fn locks(findings: &mut Findings, snapshot: &mut Snapshot) -> Result<(), OpsError> {
    let holders = match snapshot.reader.long_locks(&snapshot.jobs) {
        Err(error) if error.spoils_the_snapshot() => return Err(error.into()),
        other => other.unwrap_or_default(),
    };
    let hidden = holders.iter().filter(|holder| holder.hidden).count();
    for holder in holders.iter().filter(|holder| !holder.hidden) {
        let fix = "let its client commit, or end it: pg_terminate_backend(PID), or ROLLBACK PREPARED".to_owned();
        findings.add(Severity::Warning, "long_transaction", holds_locks(holder), Some(fix));
    }
    let fix = format!("GRANT pg_read_all_stats TO {}", role(snapshot));
    if hidden > 0 {
        findings.add(Severity::Ok, "sessions", out_of_sight(hidden), Some(fix));
    } else if !snapshot.reader.ask(Asked::SeesSessions.sql())? {
        let detail = "this role does not see since when sessions of other roles hold a lock".to_owned();
        findings.add(Severity::Ok, "sessions", detail, Some(fix));
    }
    Ok(())
}

/// How long the statement takes that counts the claims in flight, which every plan sends too.
fn time_counting(snapshot: &mut Snapshot) -> Result<Duration, OpsError> {
    let begun = Instant::now();
    snapshot.reader.in_flight(&snapshot.jobs)?;
    Ok(begun.elapsed())
}

fn server(findings: &mut Findings, snapshot: &Snapshot) {
    let Some(version) = snapshot.reader.server().map(|server| &server.version) else { return };
    let (severity, what) = match version {
        _ if version.is_tested => (Severity::Ok, "a tested version"),
        _ if version.is_postgres => (Severity::Warning, "and jobdoctor is tested on Postgres 13 to 18"),
        _ => (Severity::Error, "which is not Postgres: jobdoctor lists it and applies nothing"),
    };
    findings.add(severity, "server", format!("{} answered, {what}", version.name), None);
}

/// What jobdoctor cannot ask this system, which Linux answers.
fn unasked(system: &str, engine: Engine) -> Option<CheckFinding> {
    let of_file = "whether the file is on a network file system, where locks are unreliable, who holds its locks, and ";
    let (severity, of_file) = if engine.is_file() { (Severity::Warning, of_file) } else { (Severity::Ok, "") };
    let detail = format!("on {system} jobdoctor cannot ask {of_file}when this host booted");
    let finding = CheckFinding { id: "system".to_owned(), severity, detail, fix: None, count_seconds: None };
    (system != "linux").then_some(finding)
}

/// What only a write can show.
fn not_tried(engine: Engine) -> Vec<&'static str> {
    let kinds = ["values", "triggers", "row security", "keys"];
    kinds.into_iter().filter(|kind| *kind != "row security" || engine.has_roles()).collect()
}

/// The role as a GRANT names it.
fn role(snapshot: &Snapshot) -> String {
    snapshot.live.role.as_deref().map_or_else(|| "(this role)".to_owned(), quoted)
}

/// A table's name as it stands in a statement.
fn name(jobs: &Jobs, table: &LiveTable) -> String {
    if jobs.queue.engine.has_schemas() { qualified(&table.schema, &table.name) } else { quoted(&table.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_systems_are_asked_less_than_linux() {
        let asked = |system, engine| unasked(system, engine).map(|finding| (finding.severity, finding.detail));
        assert_eq!(asked("linux", Engine::Sqlite), None);
        let (severity, detail) = asked("macos", Engine::Sqlite).unwrap();
        assert!(
            severity == Severity::Warning
                && detail.starts_with("on macos jobdoctor cannot ask whether the file is on a network")
        );
        assert_eq!(asked("macos", Engine::Postgres).unwrap().0, Severity::Ok);
    }
}

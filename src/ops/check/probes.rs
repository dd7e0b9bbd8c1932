//! What `check` asks of a server's settings.

use super::Findings;
use crate::ops::OpsError;
use crate::ops::session::Snapshot;
use crate::output::Severity;
use crate::store::catalog::Asked;

/// When a probe is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    First,
    /// Once the listing has run.
    Listed,
}

/// A setting that stands in the way, or that a reader should know of.
struct Probe {
    id: &'static str,
    when: When,
    ask: Asked,
    /// True if it does not matter on a standby.
    of_primary: bool,
    severity: Severity,
    detail: &'static str,
    fix: &'static str,
}

const PROBES: [Probe; 3] = [
    Probe {
        id: "read_only",
        when: When::First,
        ask: Asked::IsReadOnly,
        of_primary: true,
        severity: Severity::Error,
        detail: "default_transaction_read_only is on for this role or database: nothing can be applied",
        fix: "ALTER ROLE ... or ALTER DATABASE ... RESET default_transaction_read_only",
    },
    Probe {
        id: "superuser",
        when: When::First,
        ask: Asked::IsSuperuser,
        of_primary: false,
        severity: Severity::Ok,
        detail: "this role is a superuser: no missing right holds jobdoctor back",
        fix: "connect as a role that has only the rights of docs/rights.md",
    },
    Probe {
        id: "replication_role",
        when: When::Listed,
        ask: Asked::IsReplica,
        of_primary: false,
        severity: Severity::Error,
        detail: "session_replication_role is replica, so that no trigger fires: nothing can be applied",
        fix: "ALTER ROLE or ALTER DATABASE ... RESET session_replication_role",
    },
];

/// Asks what is to be asked then; nothing of an engine without roles.
pub(super) fn ask(findings: &mut Findings, snapshot: &mut Snapshot, when: When) -> Result<(), OpsError> {
    let (has_roles, is_standby) = (snapshot.jobs.queue.engine.has_roles(), snapshot.target.standby.is_some());
    let is_due = |probe: &&Probe| has_roles && probe.when == when && !(probe.of_primary && is_standby);
    for probe in PROBES.iter().filter(is_due) {
        if snapshot.reader.ask(probe.ask.sql())? {
            findings.add(probe.severity, probe.id, probe.detail.to_owned(), Some(probe.fix.to_owned()));
        }
    }
    Ok(())
}

//! What `check` asks of a server's settings.

use super::Findings;
use crate::ops::OpsError;
use crate::ops::session::Snapshot;
use crate::output::Severity;
use crate::store::catalog::Asked;

/// A setting that stands in the way, or that a reader should know of.
pub(super) struct Probe {
    id: &'static str,
    ask: Asked,
    /// True if it does not matter on a standby.
    of_primary: bool,
    severity: Severity,
    detail: &'static str,
    fix: &'static str,
}

pub(super) const FIRST: [Probe; 2] = [
    Probe {
        id: "read_only",
        ask: Asked::IsReadOnly,
        of_primary: true,
        severity: Severity::Error,
        detail: "default_transaction_read_only is on for this role or database: nothing can be applied",
        fix: "ALTER ROLE ... or ALTER DATABASE ... RESET default_transaction_read_only",
    },
    Probe {
        id: "superuser",
        ask: Asked::IsSuperuser,
        of_primary: false,
        severity: Severity::Ok,
        detail: "this role is a superuser: no missing right holds jobdoctor back",
        fix: "connect as a role that has only the rights of docs/rights.md",
    },
];

/// Asked once the listing has run.
pub(super) const LISTED: [Probe; 1] = [Probe {
    id: "replication_role",
    ask: Asked::IsReplica,
    of_primary: false,
    severity: Severity::Error,
    detail: "session_replication_role is replica, so that no trigger fires: nothing can be applied",
    fix: "ALTER ROLE or ALTER DATABASE ... RESET session_replication_role",
}];

/// Asks these; nothing of an engine without roles.
pub(super) fn ask(findings: &mut Findings, snapshot: &mut Snapshot, probes: &[Probe]) -> Result<(), OpsError> {
    let (has_roles, is_standby) = (snapshot.jobs.queue.engine.has_roles(), snapshot.target.standby.is_some());
    let is_due = |probe: &&Probe| has_roles && !(probe.of_primary && is_standby);
    for probe in probes.iter().filter(is_due) {
        if snapshot.reader.ask(probe.ask.sql())? {
            findings.add(probe.severity, probe.id, probe.detail.to_owned(), Some(probe.fix.to_owned()));
        }
    }
    Ok(())
}

//! Jobs that never run although no worker holds them: each library has its own, which its preset tells.

use super::Findings;
use crate::ops::OpsError;
use crate::ops::session::Snapshot;
use crate::output::Severity;
use crate::store::StoreErrorKind;

/// Counts them, and warns where there are any. Where they cannot be counted that is a warning too: reclaiming does not need them.
///
/// # Errors
/// When the connection is lost or the time is up.
pub(super) fn unlisted(findings: &mut Findings, snapshot: &mut Snapshot) -> Result<(), OpsError> {
    for check in &snapshot.spec.checks {
        let (detail, fix) = match snapshot.reader.number(&snapshot.spec, &check.sql) {
            Ok(0) => continue,
            Ok(jobs) => (format!("{}: {jobs}", check.finds), Some(check.remedy.clone())),
            Err(error) if matches!(error.kind, StoreErrorKind::Denied | StoreErrorKind::Unfit) => {
                let detail = format!("could not be counted: {} ({error})", check.finds);
                findings.add(Severity::Warning, &check.name, detail, error.hint);
                // The transaction is over with it.
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        findings.add(Severity::Warning, &check.name, detail, fix);
    }
    Ok(())
}

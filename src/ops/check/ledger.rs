use super::{Findings, Severity};
use crate::model::Engine;
use crate::ops::session::Snapshot;
use crate::preset::ident::{qualified, quoted};

/// Whether there is a ledger, and whether it can be used. Without one nothing is missing; one that is there is written to, so
/// it must take what is written.
pub(super) fn ledger(findings: &mut Findings, snapshot: &Snapshot) {
    let Some(ledger) = &snapshot.spec.ledger else {
        return findings.ok("ledger", "there is no ledger here; `jobdoctor init --ledger` would make one".to_owned());
    };
    let (schema, name) = (&ledger.table.schema, &ledger.table.name);
    if !ledger.lacks.is_empty() {
        return findings.add(
            Severity::Error,
            "ledger",
            format!(
                "the ledger {schema}.{name} lacks columns, so that nothing can be applied: {}",
                ledger.lacks.join(", ")
            ),
            Some("rename or drop that table, and make the ledger with `jobdoctor init --ledger`".to_owned()),
        );
    }
    if snapshot.spec.engine == Engine::Postgres && !(ledger.may_insert && ledger.may_read) {
        let role = snapshot.live.role.as_deref().map_or_else(|| "(this role)".to_owned(), quoted);
        return findings.denied(
            "ledger",
            format!("an action adds rows to the ledger {schema}.{name}, and history reads them"),
            format!("GRANT INSERT, SELECT ON {} TO {role}", qualified(schema, name)),
        );
    }
    findings.ok("ledger", format!("the ledger {schema}.{name} records each action"));
}

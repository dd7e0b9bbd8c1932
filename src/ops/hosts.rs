//! Names of a restart sweep that no owner of a job in flight has, and who does hold jobs, for an operator who misspelt one.

use super::OpsError;
use super::session::Snapshot;
use crate::policy::{RestartScope, may_be_one_host};
use std::collections::BTreeMap;

/// Names that cover no job in flight.
#[derive(Debug)]
pub struct Unheard {
    /// Those names, as they were given.
    pub names: Vec<String>,
    /// The hosts that hold jobs in flight, those with the most first. An owner whose host is not known goes by its own name.
    pub hosts: Vec<String>,
    /// True if a host that the sweep does not cover goes by nearly the same name.
    pub is_near: bool,
}

/// The names of the scope that cover no job in flight; `None` if there is none.
///
/// # Errors
/// When the store cannot be read.
pub fn unheard(snapshot: &mut Snapshot, scope: &RestartScope) -> Result<Option<Unheard>, OpsError> {
    let mut named = scope.single();
    if named.is_empty() {
        return Ok(None);
    }
    let mut claims: BTreeMap<String, (u64, bool)> = BTreeMap::new();
    snapshot.reader.count_by_owner(&snapshot.spec, &mut |owner, count| {
        named.retain(|(_, one)| !one.covers_owner(owner.as_ref()));
        if let Some(owner) = owner {
            let is_covered = scope.covers_owner(Some(&owner));
            let host = claims.entry(owner.host.unwrap_or(owner.name)).or_default();
            *host = (host.0 + count, host.1 || is_covered);
        }
    })?;
    if named.is_empty() {
        return Ok(None);
    }
    let mut claims: Vec<(String, (u64, bool))> = claims.into_iter().collect();
    claims.sort_by_key(|(host, (count, _))| (std::cmp::Reverse(*count), host.clone()));
    let is_near = claims
        .iter()
        .filter(|(_, (_, is_covered))| !is_covered)
        .any(|(host, _)| named.iter().any(|(name, _)| may_be_one_host(name, host)));
    let names = named.into_iter().map(|(name, _)| name).collect();
    Ok(Some(Unheard { names, hosts: claims.into_iter().map(|(host, _)| host).collect(), is_near }))
}

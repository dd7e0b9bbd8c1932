//! Which hosts hold jobs in flight, for an operator who named owners that hold none.

use super::OpsError;
use super::session::Look;
use crate::policy::RestartScope;
use crate::store::Wanted;
use std::collections::BTreeMap;

/// The hosts that hold jobs in flight, those with the most first, if the scope covers no claim; else `None`. An owner whose
/// host is not known goes by its own name.
///
/// # Errors
/// When the store cannot be read.
pub fn other_hosts(look: &mut Look, scope: &RestartScope) -> Result<Option<Vec<String>>, OpsError> {
    let mut claims: BTreeMap<String, u64> = BTreeMap::new();
    let mut is_there = false;
    look.reader.scan(&look.spec, &Wanted::All, &mut |claim| {
        is_there |= scope.covers(&claim);
        if let Some(owner) = claim.owner {
            *claims.entry(owner.host.unwrap_or(owner.name)).or_default() += 1;
        }
    })?;
    let mut claims: Vec<(String, u64)> = claims.into_iter().collect();
    claims.sort_by_key(|(host, claims)| (std::cmp::Reverse(*claims), host.clone()));
    Ok((!is_there).then(|| claims.into_iter().map(|(host, _)| host).collect()))
}

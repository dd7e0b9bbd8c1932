//! Refuses actions, delays, stall budgets and restart scopes that do not fit the queue, and finds names of a scope that
//! match no owner.

use crate::model::Action;
use crate::ops::OpsError;
use crate::ops::selection::require_hosts;
use crate::ops::session::Snapshot;
use crate::ops::sweep_lock::ignored_ledger;
use crate::output::Request;
use crate::policy::{Delay, Globs, Policy, RestartScope, differ_by_a_number, may_be_one_host};
use crate::preset::{ActionSpec, Jobs, SpecError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Refuses an action that the preset does not have, and tables on which no statement does just what it says.
fn require_offered_action(jobs: &Jobs, policy: &Policy) -> Result<(), OpsError> {
    require_writable(jobs)?;
    let is_offered = |action| jobs.actions.get(&action).is_some_and(|action| action.refused.is_none());
    let asked = match policy.to {
        Some(to) => Some(to).filter(|to| !jobs.actions.contains_key(to)),
        // `--if-refused` and `if_refused` promise a fail.
        None => Some(Action::Fail).filter(|fail| policy.fails_refused && !is_offered(*fail)),
    };
    let Some(to) = asked else { return Ok(()) };
    let offered = jobs.actions.keys().copied().filter(|action| is_offered(*action)).map(Action::name).collect();
    Err(OpsError::unsupported(jobs, &Request::Action { to, offered }))
}

/// Refuses tables on which no statement does just what it says.
pub(in crate::ops) fn require_writable(jobs: &Jobs) -> Result<(), OpsError> {
    match &jobs.unwritable {
        Some(why) => Err(SpecError::whole(&format!("preset {}", jobs.queue.preset), why.clone()).into()),
        None => Ok(()),
    }
}

impl Snapshot {
    /// Plans of this snapshot requeue jobs for later: the plan says which state they come to then.
    pub fn return_later(&mut self, later: &Delay) -> Result<(), OpsError> {
        if let Some(delayed) = can_return_later(&self.jobs, later)? {
            Arc::make_mut(&mut self.jobs).actions.insert(Action::Requeue, delayed);
        }
        Ok(())
    }
}

/// The requeue that waits, where one is asked for.
fn can_return_later(jobs: &Jobs, later: &Delay) -> Result<Option<ActionSpec>, OpsError> {
    if !later.is_asked() {
        return Ok(None);
    }
    jobs.delayed_requeue().map(Some).map_err(|why| {
        let request = Request::Delay { is_jitter: later.delay.is_none(), why };
        OpsError::unsupported(jobs, &request)
    })
}

/// Refuses a stall budget where nothing counts stalls: it would never be spent.
fn require_counted_losses(snapshot: &Snapshot, max_stalls: Option<u32>) -> Result<(), OpsError> {
    match (max_stalls, ignored_ledger(snapshot)) {
        (Some(_), Some(error)) if snapshot.jobs.attempts.stalls.is_none() => Err(error.into()),
        (Some(_), _) if !snapshot.counts_stalls(&snapshot.jobs) => {
            Err(OpsError::unsupported(&snapshot.jobs, &Request::Stalls))
        }
        _ => Ok(()),
    }
}

/// Refuses a plan that these jobs cannot serve, whatever is selected.
pub(super) fn require_sound_scope(snapshot: &mut Snapshot, policy: &Policy) -> Result<(), OpsError> {
    if let Some(restart) = &policy.restart {
        require_sound_restart(snapshot, &restart.scope)?;
        // There must be claim times to compare the instant with.
        if restart.before.is_some() && snapshot.jobs.claim.claimed_at.is_none() {
            return Err(OpsError::unsupported(&snapshot.jobs, &Request::StartedBefore));
        }
    }
    require_offered_action(&snapshot.jobs, policy)?;
    require_counted_losses(snapshot, policy.max_stalls)
}

/// The settings of the target that this queue cannot serve, so that every run would be refused; each under the id that
/// `check` gives the finding.
pub fn unfit_for_target(snapshot: &Snapshot, max_stalls: Option<u32>, delay: &Delay) -> Vec<(&'static str, String)> {
    let budget = require_counted_losses(snapshot, max_stalls).err().map(|error| ("max_stalls", error.to_string()));
    let delay = can_return_later(&snapshot.jobs, delay).err().map(|error| ("delay", error.to_string()));
    budget.into_iter().chain(delay).collect()
}

/// Refuses a scope that this queue cannot serve, or that probably matches more than it is meant to.
fn require_sound_restart(snapshot: &mut Snapshot, scope: &RestartScope) -> Result<(), OpsError> {
    match scope {
        RestartScope::AllOwners | RestartScope::NotListed(_) => Ok(()),
        RestartScope::Hosts(hosts) => {
            require_hosts(&snapshot.jobs)?;
            require_distinct_hosts(&snapshot.jobs, hosts)
        }
        RestartScope::Owners(_) if snapshot.jobs.owner.id.is_none() => {
            Err(OpsError::unsupported(&snapshot.jobs, &Request::RestartByOwner))
        }
        RestartScope::Owners(globs) => {
            let wildcard = |pattern: &str| pattern.find(['*', '?', '[', '{']);
            // True if it begins within a word: `web*` and `*:1` are of several hosts, `web1:*` is of one.
            let begins_in_word = |pattern: &str| {
                let before = wildcard(pattern).map(|at| pattern[..at].chars().last());
                before.is_some_and(|before| before.is_none_or(char::is_alphanumeric))
            };
            // A name without a wildcard means its owner alone.
            let wild = globs.single().filter(|(pattern, _)| wildcard(pattern).is_some());
            let mut hosts: Vec<(&str, Globs, BTreeSet<String>)> =
                wild.map(|(pattern, glob)| (pattern, glob, BTreeSet::new())).collect();
            if hosts.is_empty() {
                return Ok(());
            }
            snapshot.reader.count_by_owner(&snapshot.jobs, &mut |owner, _| {
                let Some(owner) = owner else { return };
                for (pattern, glob, hosts) in &mut hosts {
                    if glob.admits(Some(&owner.id)) || glob.admits(Some(&owner.name)) {
                        // Where owners name no host, their names stand for it.
                        let name = begins_in_word(pattern).then(|| owner.name.clone());
                        hosts.extend(owner.host.clone().or(name));
                    }
                }
            })?;
            let Some((pattern, _, hosts)) = hosts.into_iter().find(|(_, _, hosts)| hosts.len() > 1) else {
                return Ok(());
            };
            let hosts = hosts.into_iter().take(20).collect();
            Err(OpsError::unsupported(&snapshot.jobs, &Request::OneHost { pattern: pattern.to_owned(), hosts }))
        }
    }
}

/// Refuses a host whose name its owners cut: owners on another host with the same beginning would be declared dead too.
fn require_distinct_hosts(jobs: &Jobs, hosts: &[String]) -> Result<(), OpsError> {
    let spelling = jobs.owner.host_spelling;
    let Some(host) = hosts.iter().find(|host| spelling.cuts(host)) else { return Ok(()) };
    let longest = spelling.longest.unwrap_or_default();
    Err(OpsError::unsupported(jobs, &Request::WholeHostName { host: host.clone(), longest }))
}

/// Names of a restart scope that no owner of a job in flight has: the operator may have misspelt them.
#[derive(Debug)]
pub struct UnmatchedNames {
    /// The names, as they were given.
    pub names: Vec<String>,
    /// The hosts that hold jobs in flight, most jobs first; an owner without a host stands under its own name.
    pub hosts: Vec<String>,
    /// True if a host outside the scope has nearly the same name, or owners name no host.
    pub is_near: bool,
}

/// Finds the names of the scope that match no owner of a job in flight; `None` if all match.
pub fn unmatched_names(snapshot: &mut Snapshot, scope: &RestartScope) -> Result<Option<UnmatchedNames>, OpsError> {
    let mut named = scope.single();
    if named.is_empty() {
        return Ok(None);
    }
    let mut claims: BTreeMap<String, (u64, bool)> = BTreeMap::new();
    snapshot.reader.count_by_owner(&snapshot.jobs, &mut |owner, count| {
        named.retain(|(_, one)| !one.covers_owner(owner));
        if let Some(owner) = owner {
            let is_covered = scope.covers_owner(Some(owner));
            let host = claims.entry(owner.host.as_ref().unwrap_or(&owner.name).clone()).or_default();
            *host = (host.0 + count, host.1 || is_covered);
        }
    })?;
    if named.is_empty() || claims.is_empty() {
        return Ok(None);
    }
    let mut claims: Vec<(String, (u64, bool))> = claims.into_iter().collect();
    claims.sort_by_key(|(host, (count, _))| (std::cmp::Reverse(*count), host.clone()));
    let is_near = claims
        .iter()
        .filter(|(_, (_, is_covered))| !is_covered)
        .any(|(host, _)| named.iter().any(|(name, _)| may_be_one_host(name, host) || differ_by_a_number(name, host)));
    Ok(Some(UnmatchedNames {
        names: named.into_iter().map(|(name, _)| name).collect(),
        hosts: claims.into_iter().map(|(host, _)| host).collect(),
        is_near: is_near || snapshot.jobs.owner.host.is_none(),
    }))
}

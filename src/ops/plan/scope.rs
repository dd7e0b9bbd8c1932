//! What is refused before anything is drafted.

use crate::ops::OpsError;
use crate::ops::selection::hosts_are_named;
use crate::ops::session::Snapshot;
use crate::policy::{Globs, Policy, Restart, RestartScope};
use crate::preset::QueueSpec;
use std::collections::BTreeSet;

/// Refuses an action that this queue does not have at all.
pub(super) fn action_is_offered(spec: &QueueSpec, policy: &Policy) -> Result<(), OpsError> {
    match policy.to {
        Some(to) if !spec.actions.contains_key(&to) => {
            let known: Vec<&str> = spec.actions.keys().map(|known| known.name()).collect();
            Err(OpsError::usage(
                format!("--to {to}: preset {} has no such action", spec.preset),
                format!("it has {}", known.join(", ")),
            ))
        }
        _ => Ok(()),
    }
}

/// Refuses an instant that no claim of this queue could be compared with.
pub(super) fn claims_have_times(spec: &QueueSpec, restart: &Restart) -> Result<(), OpsError> {
    if restart.before.is_none() || spec.claim.claimed_at.is_some() {
        return Ok(());
    }
    Err(OpsError::usage(
        format!("--started-before: preset {} does not say when a job was claimed", spec.preset),
        "say who is dead instead, with --host, --owner, --alive-from or --all-owners",
    ))
}

/// Refuses a scope that this queue cannot answer or that is likely to mean less than it matches.
pub(super) fn scope_is_sound(snapshot: &mut Snapshot, scope: &RestartScope) -> Result<(), OpsError> {
    match scope {
        RestartScope::AllOwners => Ok(()),
        RestartScope::Hosts(hosts) => {
            hosts_are_named(&snapshot.spec)?;
            hosts_are_told_apart(&snapshot.spec, hosts)
        }
        RestartScope::NotListed(_) => Ok(()),
        RestartScope::Owners(_) if snapshot.spec.owner.id.is_none() => Err(OpsError::usage(
            format!("--owner: preset {} does not say who holds a job", snapshot.spec.preset),
            "stop every worker and sweep with --all-owners",
        )),
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
            snapshot.reader.count_by_owner(&snapshot.spec, &mut |owner, _| {
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
            let seen: Vec<String> = hosts.into_iter().take(20).collect();
            Err(OpsError::usage(
                format!("--owner {pattern} covers more than one host: {}", seen.join(", ")),
                "name each host with --host or a pattern of its own, as in 'web1:*'; for all of them there is --all-owners",
            ))
        }
    }
}

/// Refuses a host whose name its owners cut: those on another host that begins alike would be declared dead with them.
fn hosts_are_told_apart(spec: &QueueSpec, hosts: &[String]) -> Result<(), OpsError> {
    let spelling = spec.owner.host_spelling;
    match hosts.iter().find(|host| spelling.cuts(host)) {
        None => Ok(()),
        Some(host) => Err(OpsError::usage(
            format!(
                "--host {host}: owners of preset {} keep only the first {} bytes of a host's name, so another host may look \
                 the same",
                spec.preset,
                spelling.longest.unwrap_or_default()
            ),
            "name the owners with --owner instead; `jobdoctor owners` lists them",
        )),
    }
}

//! The scope of a restart sweep: which owners are dead, and since when.

use super::Args;
use crate::cli::args::UnattendedArgs;
use crate::cli::boot_time::Boot;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::live_owner_list::LiveOwnerList;
use crate::model::Timestamp;
use crate::ops::{Selection, Snapshot};
use crate::policy::{EarlierSnapshot, Policy, Restart, RestartScope};
use std::sync::Arc;

/// Whom a sweep takes for dead.
pub(super) enum Scope {
    /// The owners that the judge does: no restart sweep.
    Judged,
    /// These owners, if they made their claim before the sweep began, or before this.
    Dead(RestartScope, Started),
    /// The owners that are not on the list of living ones.
    NotListed(Started),
}

/// The bound of `--started-before`.
#[derive(Clone, Copy)]
pub(super) enum Started {
    /// None.
    Any,
    /// Before this instant.
    Before(Timestamp),
    /// Before this host's boot.
    BeforeBoot(Boot),
}

/// Before when a claim must have been made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Before {
    Instant(Timestamp),
    Boot,
}

pub(super) fn parse_before(text: &str) -> Result<Before, String> {
    match (text, Timestamp::parse(text)) {
        ("boot", _) => Ok(Before::Boot),
        (_, Some(instant)) => Ok(Before::Instant(instant)),
        _ => Err("it is `boot`, or an instant with its zone, as in 2026-11-20T10:00:00Z".to_owned()),
    }
}

impl Scope {
    /// The scope that the arguments name. `--host` and `--owner` leave the selection: they are the scope, and no filter on it.
    ///
    /// # Errors
    /// When they name none, or name one that `--started-before boot` says nothing about.
    pub(super) fn of(args: &Args, selection: &mut Selection) -> Result<Scope, CliError> {
        if !args.restart {
            return Ok(Scope::Judged);
        }
        // With a list, the list is the scope; hosts and owners narrow it down.
        let dead = if args.beside.alive_from.is_some() { None } else { Some(dead_owners(args, selection)?) };
        let is_scoped = dead.as_ref().is_none_or(|scope| !matches!(scope, RestartScope::AllOwners));
        let started = match args.started_before {
            None => Started::Any,
            Some(Before::Instant(instant)) => Started::Before(instant),
            Some(Before::Boot) if is_scoped => Started::BeforeBoot(Boot::of_this_host()?),
            Some(Before::Boot) => return Err(boot_of_others()),
        };
        Ok(dead.map_or(Scope::NotListed(started), |dead| Scope::Dead(dead, started)))
    }

    /// True for a restart sweep of some owners only.
    pub(super) fn is_of_some_owners(&self) -> bool {
        matches!(self, Scope::NotListed(_) | Scope::Dead(RestartScope::Hosts(_) | RestartScope::Owners(_), _))
    }

    /// The policy with the restart of these owners. A restart sweep that began before it waited counts from `began`; `first` is
    /// what was in flight then, where no column tells when a claim was made.
    pub(super) fn policy(
        &self,
        policy: Policy,
        snapshot: &Snapshot,
        list: Option<&LiveOwnerList>,
        began: Timestamp,
        first: Option<Arc<EarlierSnapshot>>,
    ) -> Policy {
        let (scope, list_made_at, started) = match (self, list) {
            (Scope::Dead(dead, started), _) => (dead.clone(), None, started),
            (Scope::NotListed(started), Some(list)) => {
                let living = list.living(snapshot);
                let made_at = living.made_at;
                (RestartScope::NotListed(living), Some(made_at), started)
            }
            (Scope::Judged, _) | (Scope::NotListed(_), None) => return policy,
        };
        let before = match started {
            Started::Any => None,
            Started::Before(instant) => Some(*instant),
            Started::BeforeBoot(boot) => Some(boot.by(snapshot.now())),
        };
        let own = list_made_at.unwrap_or(snapshot.now());
        let began = Timestamp::oldest(Some(own), Some(began)).unwrap_or(began);
        Policy { older: None, restart: Some(Restart { scope, before, began, first }), ..policy }
    }
}

/// A restart sweep of some owners takes no lock and is never called off, because workers wait for it.
pub(super) fn waits_for_nobody(args: &UnattendedArgs) -> Result<(), CliError> {
    let said = [("--min-interval", args.min_interval.is_some()), ("--lock-wait", args.lock_wait.is_some())];
    let Some((flag, _)) = said.into_iter().find(|(_, is_said)| *is_said) else { return Ok(()) };
    let message = format!("{flag}: a restart sweep of some owners waits for nobody, because workers wait for it");
    Err(CliError::new(Exit::Usage, message).hint(format!("leave out {flag}")))
}

fn boot_of_others() -> CliError {
    CliError::new(Exit::Usage, "--started-before boot: the boot of this host says nothing of workers on other ones")
        .hint("add --host \"$(hostname)\", --owner GLOB or --alive-from FILE, to say whose claims are this host's")
}

/// Which owners are dead. `--host` and `--owner` are that scope, and leave the selection.
fn dead_owners(args: &Args, selection: &mut Selection) -> Result<RestartScope, CliError> {
    if args.all_owners {
        return Ok(RestartScope::AllOwners);
    }
    let hosts = std::mem::take(&mut selection.hosts);
    let owners = std::mem::take(&mut selection.owners);
    match (hosts.is_empty(), owners.patterns()) {
        (true, []) if matches!(args.started_before, Some(Before::Boot)) => Err(boot_of_others()),
        (true, []) if matches!(args.started_before, Some(Before::Instant(_))) => Ok(RestartScope::AllOwners),
        (true, []) => Err(CliError::new(Exit::Usage, "--restart needs to know which owners are dead").hint(
            "add --host \"$(hostname)\" for this host's workers, --owner GLOB for owners by name, --alive-from FILE for \
             owners that are not on a list of living ones, or --all-owners while every worker is stopped",
        )),
        (false, []) => Ok(RestartScope::Hosts(hosts)),
        (true, patterns) if patterns == ["*"] && matches!(args.started_before, Some(Before::Boot)) => Err(boot_of_others()),
        (true, _) => Ok(RestartScope::Owners(owners)),
        (false, _) => Err(CliError::new(Exit::Usage, "--restart takes --host or --owner, not both")
            .hint("run two sweeps, one for each")),
    }
}

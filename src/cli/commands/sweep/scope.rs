//! The scope of a restart sweep: which owners are dead, and since when.

use super::Args;
use crate::cli::CliError;
use crate::cli::args::UnattendedArgs;
use crate::cli::evidence_files::LiveOwnerList;
use crate::model::Timestamp;
use crate::ops::{Selection, Snapshot};
use crate::policy::{EarlierSnapshot, Restart, RestartScope};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The owners that a sweep takes for dead.
pub(super) enum Scope {
    /// Those that the judge finds dead: no restart sweep.
    Judged,
    /// These owners, if they claimed the job before the sweep began and within this bound.
    Dead(RestartScope, Option<Before>),
    /// The owners that are not on the live-owner list.
    NotListed(Option<Before>),
}

/// The bound of `--started-before`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Before {
    Instant(Timestamp),
    Boot(Boot),
}

pub(super) fn parse_before(text: &str) -> Result<Before, String> {
    match (text, Timestamp::parse(text)) {
        ("boot", _) => Boot::of_this_host().map(Before::Boot),
        (_, Some(instant)) => Ok(Before::Instant(instant)),
        _ => Err("expected `boot`, or an instant with its zone, as in 2026-11-20T10:00:00Z".to_owned()),
    }
}

impl Scope {
    /// The scope that the arguments name. `--host` and `--owner` leave the selection: they are the scope, not a filter.
    pub(super) fn of(args: &Args, selection: &mut Selection) -> Result<Scope, CliError> {
        if !args.restart {
            return Ok(Scope::Judged);
        }
        // With a live-owner list the list is the scope; hosts and owners stay a filter.
        let dead = if args.evidence.alive_from.is_some() { None } else { Some(dead_owners(args, selection)?) };
        if matches!((&dead, args.started_before), (Some(RestartScope::AllOwners), Some(Before::Boot(_)))) {
            return Err(boot_of_others());
        }
        let before = args.started_before;
        Ok(dead.map_or(Scope::NotListed(before), |dead| Scope::Dead(dead, before)))
    }

    pub(super) fn is_of_some_owners(&self) -> bool {
        matches!(self, Scope::NotListed(_) | Scope::Dead(RestartScope::Hosts(_) | RestartScope::Owners(_), _))
    }

    /// Gives the restart of these owners, if it is one. `began` is the sweep's first `now`, before it waited; `first`
    /// is what was in flight then, where the queue has no claim time.
    pub(super) fn restart(
        &self,
        snapshot: &Snapshot,
        list: Option<&LiveOwnerList>,
        began: Timestamp,
        first: Option<Arc<EarlierSnapshot>>,
    ) -> Option<Restart> {
        let (scope, list_made_at, before) = match (self, list) {
            (Scope::Dead(dead, before), _) => (dead.clone(), None, before),
            (Scope::NotListed(before), Some(list)) => {
                let living = list.living(snapshot);
                let made_at = living.made_at;
                (RestartScope::NotListed(living), Some(made_at), before)
            }
            (Scope::Judged, _) | (Scope::NotListed(_), None) => return None,
        };
        let before = before.map(|before| match before {
            Before::Instant(instant) => instant,
            Before::Boot(boot) => boot.by(snapshot.now()),
        });
        let own = list_made_at.unwrap_or(snapshot.now());
        let began = Timestamp::oldest(Some(own), Some(began)).unwrap_or(began);
        Some(Restart { scope, before, began, first })
    }
}

/// Refuses options about other sweeps: workers wait for a restart sweep of some owners, so it takes no lock.
pub(super) fn refuse_waiting(args: &UnattendedArgs) -> Result<(), CliError> {
    let flags = [("--min-interval", args.min_interval.is_some()), ("--lock-wait", args.lock_wait.is_some())];
    let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message =
        format!("{flag}: a restart sweep of some owners does not wait for other sweeps, because workers wait for it");
    Err(CliError::usage(message).hint(format!("leave out {flag}")))
}

fn boot_of_others() -> CliError {
    CliError::usage("--started-before boot: the boot of this host says nothing about workers on other hosts")
        .hint("add --host \"$(hostname)\", --owner GLOB or --alive-from FILE, to say whose claims are this host's")
}

/// The dead owners by `--host`, `--owner` or `--all-owners`.
fn dead_owners(args: &Args, selection: &mut Selection) -> Result<RestartScope, CliError> {
    if args.all_owners {
        return Ok(RestartScope::AllOwners);
    }
    let hosts = std::mem::take(&mut selection.hosts);
    let owners = std::mem::take(&mut selection.owners);
    match (hosts.is_empty(), owners.patterns()) {
        (true, []) if matches!(args.started_before, Some(Before::Boot(_))) => Err(boot_of_others()),
        (true, []) if matches!(args.started_before, Some(Before::Instant(_))) => Ok(RestartScope::AllOwners),
        (true, []) => Err(CliError::usage("--restart needs to know which owners are dead").hint(
            "add --host \"$(hostname)\" for this host's workers, --owner GLOB for owners by name, --alive-from FILE for \
             owners that are not on a live-owner list, or --all-owners while every worker is stopped",
        )),
        (false, []) => Ok(RestartScope::Hosts(hosts)),
        (true, patterns) if patterns == ["*"] && matches!(args.started_before, Some(Before::Boot(_))) => Err(boot_of_others()),
        (true, _) => Ok(RestartScope::Owners(owners)),
        (false, _) => Err(CliError::usage("--restart takes --host or --owner, not both")
            .hint("run two sweeps, one for each")),
    }
}

/// This host's uptime and a second more: the system counts whole seconds, and too early a boot time only spares claims.
#[derive(Debug, Clone, Copy)]
pub(super) struct Boot {
    up: Duration,
    read: Instant,
}

impl Boot {
    /// Asks the system. In a Linux container the uptime is that of the host.
    fn of_this_host() -> Result<Boot, String> {
        let up =
            uptime().ok_or("the uptime of this system is unknown; name the instant, as in 2026-11-20T10:00:00Z")?;
        Ok(Boot { up: up + Duration::from_secs(1), read: Instant::now() })
    }

    /// The boot by the clock of `now`, the database's, because claim times are by that clock. This host's own clock may
    /// differ from it, or have been set since the boot, but both run at the same speed.
    fn by(&self, now: Timestamp) -> Timestamp {
        now.minus(self.up + self.read.elapsed())
    }
}

#[cfg(target_os = "linux")]
fn uptime() -> Option<Duration> {
    u64::try_from(rustix::system::sysinfo().uptime).ok().map(Duration::from_secs)
}

#[cfg(not(target_os = "linux"))]
fn uptime() -> Option<Duration> {
    None
}

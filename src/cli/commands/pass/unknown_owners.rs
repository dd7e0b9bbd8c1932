//! The warning that the owners which a restart sweep names hold no job.

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::ops::{self, Plan, Snapshot};
use crate::output::format::grouped;
use crate::policy::{Policy, RestartScope};

/// Hosts named in a warning.
const SHOWN: usize = 5;

/// Adds a warning to the plan if the named owners hold no job: a short host name where owners use the long one, for
/// example. Most restarts find nothing: stderr gets a plain line, and a warning at a terminal, with `--verbose`, and
/// where a host in flight has nearly the same name.
pub(super) fn warn_of_unknown_owners(
    context: &Context,
    snapshot: &mut Snapshot,
    policy: &Policy,
    plan: &mut Plan,
    applies: bool,
) -> Result<(), CliError> {
    let Some(restart) = &policy.restart else { return Ok(()) };
    let Some(unmatched) = ops::unmatched_names(snapshot, &restart.scope)? else { return Ok(()) };
    let warning = unknown_owners(matches!(restart.scope, RestartScope::Hosts(_)), &unmatched.names, &unmatched.hosts);
    // A plan that is shown prints its own warnings.
    let is_shown = context.ui.is_watched() && !applies;
    match unmatched.is_near || context.ui.shows_details() {
        _ if is_shown => {}
        true => context.ui.warn(&warning),
        false => context.ui.note(&warning),
    }
    plan.warn(warning);
    Ok(())
}

fn unknown_owners(are_hosts: bool, named: &[String], others: &[String]) -> String {
    let more = others.len().saturating_sub(SHOWN) as u64;
    let more = if more > 0 { format!(" ({} more)", grouped(more)) } else { String::new() };
    let shown = others.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let others = match others {
        [] => "no owner does".to_owned(),
        _ => format!("hosts in flight: {shown}{more}"),
    };
    let who = if are_hosts { "no owner on host" } else { "no owner like" };
    format!("{who} {} holds a job in flight; {others}", named.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hosts_are_named() {
        let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let warning = unknown_owners(true, &hosts(&["a.b"]), &hosts(&["1", "2", "3", "4", "5", "6", "7"]));
        assert_eq!(warning, "no owner on host a.b holds a job in flight; hosts in flight: 1, 2, 3, 4, 5 (2 more)");
        let warning = unknown_owners(false, &hosts(&["a:*", "b:*"]), &[]);
        assert_eq!(warning, "no owner like a:* or b:* holds a job in flight; no owner does");
    }
}

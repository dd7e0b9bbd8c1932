//! The warning that a restart sweep names owners that hold nothing: a short host name where owners use the long one, for example.

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::ops::{self, Plan, Snapshot};
use crate::output::format::grouped;
use crate::policy::{Policy, RestartScope};

/// Hosts named.
const SHOWN: usize = 5;

/// Adds it to the plan's warnings. Most starts of a worker's unit find nothing, and cron must not mail that: stderr gets it for a
/// person, for `--verbose`, and where a host in flight has nearly the same name.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn warn(
    context: &Context,
    snapshot: &mut Snapshot,
    policy: &Policy,
    plan: &mut Plan,
    applies: bool,
) -> Result<(), CliError> {
    let Some(restart) = &policy.restart else { return Ok(()) };
    let Some(unheard) = ops::unheard(snapshot, &restart.scope)? else { return Ok(()) };
    let warning = in_words(matches!(restart.scope, RestartScope::Hosts(_)), &unheard.names, &unheard.hosts);
    // The warnings of a plan that is shown are printed with it.
    let is_shown = context.ui.is_watched() && !applies;
    if !is_shown && (unheard.is_near || context.ui.tells_details()) {
        context.ui.warn(&warning);
    }
    plan.warn(warning);
    Ok(())
}

fn in_words(are_hosts: bool, named: &[String], others: &[String]) -> String {
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
    fn five_are_named() {
        let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let said = in_words(true, &hosts(&["a.b"]), &hosts(&["1", "2", "3", "4", "5", "6", "7"]));
        assert_eq!(said, "no owner on host a.b holds a job in flight; hosts in flight: 1, 2, 3, 4, 5 (2 more)");
        let said = in_words(false, &hosts(&["a:*", "b:*"]), &[]);
        assert_eq!(said, "no owner like a:* or b:* holds a job in flight; no owner does");
    }
}

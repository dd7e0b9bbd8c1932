//! That a restart sweep is about a host which nobody has heard of: a short name where owners say the long one, for example.

use super::Reclaiming;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::ops::{self, Look, Plan};
use crate::policy::{Policy, RestartScope};
use crate::render::grouped;

/// Hosts named.
const SHOWN: usize = 5;

impl Reclaiming<'_> {
    /// Says so to a person, and to who asked for details. To a worker's unit it is no news: most starts find nothing.
    pub(super) fn say_unheard(
        &self,
        context: &Context,
        look: &mut Look,
        policy: &Policy,
        plan: &Plan,
    ) -> Result<(), CliError> {
        let Some(RestartScope::Hosts(named)) = policy.restart.as_ref().map(|restart| &restart.scope) else {
            return Ok(());
        };
        if !plan.is_empty() || !context.ui.tells_details() {
            return Ok(());
        }
        if let Some(others) = ops::other_hosts(look, named)? {
            context.ui.warn_about_setup(&in_words(named, &others));
        }
        Ok(())
    }
}

fn in_words(named: &[String], others: &[String]) -> String {
    let more = others.len().saturating_sub(SHOWN) as u64;
    let more = if more > 0 { format!(" ({} more)", grouped(more)) } else { String::new() };
    let shown = others.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let others = match others {
        [] => "no owner does".to_owned(),
        _ => format!("hosts in flight: {shown}{more}"),
    };
    format!("no owner on host {} holds a job in flight; {others}", named.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_are_named() {
        let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let said = in_words(&hosts(&["a.b"]), &hosts(&["1", "2", "3", "4", "5", "6", "7"]));
        assert_eq!(said, "no owner on host a.b holds a job in flight; hosts in flight: 1, 2, 3, 4, 5 (2 more)");
        let said = in_words(&hosts(&["a", "b"]), &[]);
        assert_eq!(said, "no owner on host a or b holds a job in flight; no owner does");
    }
}

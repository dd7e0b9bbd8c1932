use crate::cli::args::{ClaimArgs, IdArgs, SelectArgs};
use crate::cli::error::CliError;
use crate::ops::{OpsError, Selection};
use crate::policy::Globs;

/// What the arguments select.
///
/// # Errors
/// When a pattern cannot be read.
pub(super) fn selection(args: &SelectArgs, ids: &IdArgs) -> Result<Selection, CliError> {
    let limit = args.limit.map(|limit| limit as usize);
    Ok(Selection { ids: ids.id.clone(), limit, ..claims(&args.claims)? })
}

/// The same of commands that take no limit and no names.
///
/// # Errors
/// When a pattern cannot be read.
pub(super) fn claims(args: &ClaimArgs) -> Result<Selection, CliError> {
    let globs = |patterns: &[String]| Globs::new(patterns).map_err(OpsError::from);
    Ok(Selection {
        queues: globs(&args.queue)?,
        kinds: globs(&args.kind)?,
        owners: globs(&args.owner)?,
        hosts: args.host.clone(),
        states: args.state.clone(),
        ..Selection::default()
    })
}

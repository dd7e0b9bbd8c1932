use crate::cli::args::{IdArgs, SelectArgs};
use crate::cli::error::CliError;
use crate::ops::{OpsError, Selection};
use crate::policy::Globs;

/// What the arguments select.
///
/// # Errors
/// When a pattern cannot be read.
pub(super) fn selection(args: &SelectArgs, ids: &IdArgs) -> Result<Selection, CliError> {
    let globs = |patterns: &[String]| Globs::new(patterns).map_err(OpsError::from);
    Ok(Selection {
        queues: globs(&args.queue)?,
        kinds: globs(&args.kind)?,
        owners: globs(&args.owner)?,
        hosts: args.host.clone(),
        states: args.state.clone(),
        ids: ids.id.clone(),
        from_list: false,
        limit: args.limit.map(|limit| limit as usize),
    })
}

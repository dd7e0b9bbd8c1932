//! The claims that the arguments select.

use crate::cli::args::{ClaimArgs, IdArgs, SelectArgs};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::ops::{OpsError, Selection};
use crate::output::no_such_job;
use crate::policy::Globs;

/// The selection of the arguments, with limit and ids.
pub(super) fn selection(args: &SelectArgs, ids: &IdArgs) -> Result<Selection, CliError> {
    let limit = args.limit.map(|limit| limit as usize);
    Ok(Selection { ids: ids.id.clone(), limit, ..claims(&args.claims)? })
}

/// The error for ids that name no job; `None` if each of them names one.
pub(super) fn missing(table: &str, ids: &[String]) -> Option<CliError> {
    (!ids.is_empty()).then(|| CliError::new(Exit::NoInput, no_such_job(table, ids)))
}

/// The selection of a command without limit and ids.
pub(super) fn claims(args: &ClaimArgs) -> Result<Selection, CliError> {
    Ok(Selection {
        queues: globs(&args.queue)?,
        kinds: globs(&args.kind)?,
        owners: globs(&args.owner)?,
        hosts: args.host.clone(),
        states: args.state.clone(),
        ..Selection::default()
    })
}

/// Reads the patterns of one option.
pub(super) fn globs(patterns: &[String]) -> Result<Globs, CliError> {
    Ok(Globs::new(patterns).map_err(OpsError::from)?)
}

//! Saved plans as files; they are read as untrusted input.

use super::error::{CliError, OrEnd};
use super::exit::Exit;
use crate::output::format::json;
use crate::output::{FileMode, SavedPlan, replace_file};
use anyhow::Context;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A larger file is no plan: a step takes about 400 bytes.
const LARGEST: u64 = 1 << 30;
/// How much of a file shows whether it is a plan.
const BEGINNING: u64 = 256;

/// Reads a plan. Whether it fits the queue is checked later.
///
/// # Errors
/// When there is no such file, or it is not a plan of this format.
pub(super) fn read(path: &Path) -> Result<SavedPlan, CliError> {
    let name = name(path);
    let opened = open(path);
    let is_missing = opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let exit = if is_missing { Exit::NoInput } else { Exit::Config };
    let (file, metadata) = opened.with_context(|| format!("{name} cannot be read")).or_end(exit)?;
    if !metadata.is_file() {
        return Err(CliError::new(Exit::Config, format!("{name} is not a file")));
    }
    if metadata.len() > LARGEST {
        return Err(CliError::new(Exit::Config, format!("{name} is too large to be a plan: {} bytes", metadata.len())));
    }
    let plan: SavedPlan = serde_json::from_reader(BufReader::new(file)).map_err(|error| {
        CliError::new(Exit::Config, format!("{name} is not a plan: {error}"))
            .hint("make one with `jobdoctor reclaim --save-plan FILE`")
    })?;
    if plan.schema != SavedPlan::SCHEMA {
        let message = format!("{name} is not a plan: its schema is `{}`, not `{}`", plan.schema, SavedPlan::SCHEMA);
        return Err(CliError::new(Exit::Config, message));
    }
    Ok(plan)
}

/// Writes a plan as a whole. Only its user may read it, because preconditions hold lease tokens; it replaces only another plan.
///
/// # Errors
/// When it cannot be written, or a file that is no plan has that name.
pub(super) fn write(path: &Path, plan: &SavedPlan) -> Result<(), CliError> {
    if path.symlink_metadata().is_ok() && !is_plan(path) {
        return Err(CliError::new(Exit::Usage, format!("--save-plan {}: another file has that name", path.display()))
            .hint("name a file that does not exist; jobdoctor replaces only another plan"));
    }
    let replaced = replace_file(path, FileMode::PRIVATE, |out| json(plan, out));
    replaced.with_context(|| format!("{} cannot be written", name(path))).or_end(Exit::Config)
}

/// Opens a file without waiting for the writer of a pipe.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// Its name in messages.
pub(super) fn name(path: &Path) -> String {
    format!("plan {}", path.display())
}

fn is_plan(path: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let mut beginning = Vec::new();
    let read = || File::open(path)?.take(BEGINNING).read_to_end(&mut beginning);
    is_file && { read }().is_ok() && String::from_utf8_lossy(&beginning).contains(SavedPlan::SCHEMA)
}

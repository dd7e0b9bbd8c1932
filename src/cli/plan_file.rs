//! Saved plans as files; they are read as untrusted input.

use super::atomic_file::{AtomicFile, FileKind};
use super::error::{CliError, OrEnd};
use super::exit::Exit;
use crate::output::format::json;
use crate::output::{FileMode, SavedPlan};
use anyhow::Context;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A larger file is no plan: a step takes about 400 bytes.
const LARGEST: u64 = 1 << 30;

/// Only its user may read it, because preconditions hold lease tokens.
static PLAN: FileKind = FileKind {
    flag: "--save-plan",
    name: "plan",
    holds: "plans",
    mode: FileMode::PRIVATE,
    recognize: |text| text.contains(SavedPlan::SCHEMA),
};

/// Reads a plan. Whether it fits the queue is checked later.
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

/// Writes a plan; it replaces only another plan.
pub(super) fn write(path: &Path, plan: &SavedPlan) -> Result<(), CliError> {
    AtomicFile::at(path, &PLAN)?.write(|out| json(plan, out))
}

/// Opens a file without waiting for the writer of a pipe.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

pub(super) fn name(path: &Path) -> String {
    format!("plan {}", path.display())
}

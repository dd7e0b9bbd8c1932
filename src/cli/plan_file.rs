//! Saved plans as files. A plan may come from anywhere, so it is read as carefully as any foreign input.

use super::error::CliError;
use super::exit::Exit;
use crate::output::SavedPlan;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// A larger file is no plan: a step takes some 400 bytes.
const LARGEST: u64 = 1 << 30;
/// How much of a file is looked at to tell whether it is a plan.
const BEGINNING: u64 = 256;

/// Reads one.
///
/// # Errors
/// When there is none, or it is not a plan of this format; whether it is one for this queue is found out later.
pub(super) fn read(path: &Path) -> Result<SavedPlan, CliError> {
    let name = name(path);
    let cannot = |error: io::Error| {
        let exit = if error.kind() == io::ErrorKind::NotFound { Exit::NoInput } else { Exit::Config };
        CliError::new(exit, format!("{name} cannot be read: {error}"))
    };
    // A fifo without a writer would otherwise be waited for.
    let file = OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path);
    let file = file.map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
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
        let message = format!("{name} is not a plan: it calls itself `{}`, not `{}`", plan.schema, SavedPlan::SCHEMA);
        return Err(CliError::new(Exit::Config, message));
    }
    Ok(plan)
}

/// Writes one, whole or not at all. It is for its user alone, because preconditions hold the tokens of leases; and it replaces nothing
/// but another plan.
///
/// # Errors
/// When it cannot be written, or something else is there.
pub(super) fn write(path: &Path, plan: &SavedPlan) -> Result<(), CliError> {
    let cannot = |error: io::Error| CliError::new(Exit::Config, format!("{} cannot be written: {error}", name(path)));
    if path.symlink_metadata().is_ok() && !is_plan(path) {
        return Err(CliError::new(Exit::Usage, format!("--save-plan {}: something else is there", path.display()))
            .hint("name a file that is not there yet; only another plan is replaced"));
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Its mode is 0600 from the beginning.
    let mut file = NamedTempFile::new_in(directory).map_err(cannot)?;
    let mut out = BufWriter::new(file.as_file_mut());
    serde_json::to_writer_pretty(&mut out, plan).map_err(|error| cannot(error.into()))?;
    out.write_all(b"\n").and_then(|()| out.flush()).map_err(cannot)?;
    drop(out);
    file.as_file().sync_all().map_err(cannot)?;
    file.persist(path).map_err(|error| cannot(error.error))?;
    Ok(())
}

/// What to call it in messages.
pub(super) fn name(path: &Path) -> String {
    format!("plan {}", path.display())
}

fn is_plan(path: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let mut beginning = Vec::new();
    let read = || File::open(path)?.take(BEGINNING).read_to_end(&mut beginning);
    is_file && { read }().is_ok() && String::from_utf8_lossy(&beginning).contains(SavedPlan::SCHEMA)
}

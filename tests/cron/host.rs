//! Hosts of a test: each has a state directory of its own, and so its own locks and journals.

use crate::support::shop::Shop;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub fn on_host(shop: &Shop, host: usize, arguments: &[&str]) -> Command {
    let mut command = shop.doctor.command(&shop.with_db(arguments));
    command.env("JOBDOCTOR_STATE_DIR", state(shop, host)).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn state(shop: &Shop, host: usize) -> PathBuf {
    shop.doctor.home(&format!("host-{host}"))
}

pub fn locks(shop: &Shop, host: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(state(shop, host).join("locks"));
    entries.map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

/// The number of the lock on Postgres, as docs/cron.md says it is made.
pub const KEY: &str =
    "('x' || left(encode(sha256(convert_to('jobdoctor sweep public.jobs', 'UTF8')), 'hex'), 16))::bit(64)::bigint";

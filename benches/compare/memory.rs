//! Peak memory of commands on a million stuck jobs.

use crate::report::{Goal, Report, progress};
use crate::tables::{Kind, Tables};
use anyhow::{Context, Result, bail};
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The most that a command may take, in MiB.
const MOST: f64 = 64.0;

/// Reading, printing, planning and acting; the last changes the table.
///
/// # Errors
/// When a command fails.
pub fn measure(tables: &mut Tables<'_>, report: &mut Report) -> Result<()> {
    let every = ["--max-jobs", "1000000", "--timeout", "1h", "-q", "-o", "none"];
    let dry = [&["reclaim"][..], &every].concat();
    let apply = [&["reclaim", "--apply"][..], &every].concat();
    let commands: [(&str, &[&str]); 4] = [
        ("stale -o none", &["stale", "--timeout", "1h", "-o", "none"]),
        ("stale -o jsonl", &["stale", "--timeout", "1h", "-o", "jsonl"]),
        ("dry reclaim", &dry),
        ("applied reclaim", &apply),
    ];
    for (name, arguments) in commands {
        let what = format!("{}, a million stuck: peak memory of {name}", tables.engine.name());
        if report.wants(&what) {
            let place = tables.get(Kind::Million)?;
            progress(&what);
            let peak = peak(tables.doctor.on(&place, arguments))?;
            report.add(&what, "MiB", None, peak, Goal::AtMost(MOST));
        }
    }
    Ok(())
}

/// The peak of a command's resident memory in MiB, as Linux last told it before the command ended.
fn peak(mut command: Command) -> Result<f64> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut kib = None;
    loop {
        if let Ok(text) = fs::read_to_string(&status) {
            kib = high_water(&text).or(kib);
        }
        if let Some(ended) = child.try_wait()? {
            if !ended.success() {
                bail!("{command:?} ended with {ended}");
            }
            return Ok(kib.context("no /proc/PID/status: memory is measured on Linux alone")? / 1024.0);
        }
        sleep(Duration::from_millis(2));
    }
}

fn high_water(status: &str) -> Option<f64> {
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

//! Runs whole commands and takes their times.

use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a command to its end, with its output thrown away.
///
/// # Errors
/// When it fails: a figure of a command that failed would be worse than none.
pub fn timed(mut command: Command) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let begun = Instant::now();
    let child = command.spawn().with_context(|| format!("{} does not start", command.get_program().display()))?;
    let ended = child.wait_with_output()?;
    let took = begun.elapsed();
    if !ended.status.success() {
        bail!("{command:?} ended with {}: {}", ended.status, String::from_utf8_lossy(&ended.stderr));
    }
    Ok(took)
}

/// What a command prints.
///
/// # Errors
/// When it fails.
pub fn printed(mut command: Command) -> Result<String> {
    let ended = command.stdin(Stdio::null()).output()?;
    if !ended.status.success() {
        bail!("{command:?} ended with {}: {}", ended.status, String::from_utf8_lossy(&ended.stderr));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

/// The median times in milliseconds of several commands that are taken in turns. A first turn only warms the caches.
///
/// # Errors
/// When one of them fails.
pub fn in_turns<const N: usize>(turns: usize, commands: [&dyn Fn() -> Command; N]) -> Result<[f64; N]> {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::with_capacity(turns));
    for turn in 0..=turns {
        for (times, command) in times.iter_mut().zip(commands) {
            let took = timed(command())?;
            if turn > 0 {
                times.push(took);
            }
        }
    }
    Ok(times.map(median))
}

/// The median in milliseconds.
pub fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

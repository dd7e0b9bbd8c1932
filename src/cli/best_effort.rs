//! `--best-effort`: a sweep before workers start neither fails nor delays their start.

use super::ui::Ui;
use super::{Context, Exit};
use crate::model::age;
use crate::output::format::{count, grouped};
use crate::store::Interrupt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// How long such a sweep takes at most in all, unless `--timeout` says otherwise.
pub const LONGEST: Duration = Duration::from_secs(30);

/// How long its work may take: the rest is for what no timeout of the database ends, and for the report.
pub fn working_time(longest: Duration) -> Duration {
    longest.mul_f64(0.8)
}

/// Runs a sweep and ends with 0, unless the command line makes no sense or a signal came; stderr says how it ended.
pub fn run(longest: Duration, context: &Context, sweep: impl FnOnce() -> Exit) -> Exit {
    let (interrupt, ui) = (context.interrupt.clone(), context.ui.clone());
    std::thread::spawn(move || end_after(longest, &interrupt, &ui));
    let exit = std::panic::catch_unwind(AssertUnwindSafe(sweep)).unwrap_or(Exit::Internal);
    let exit = match exit {
        Exit::Usage => return exit,
        _ if context.caught.signal().is_some() => return exit,
        // No signal came: the time was over.
        Exit::Signal(_) => when_time_is_over(&context.interrupt),
        _ => exit,
    };
    context.ui.insist(&would_have_ended(exit));
    Exit::Done
}

/// The end of a run that has no report, by what was committed.
fn when_time_is_over(interrupt: &Interrupt) -> Exit {
    match (interrupt.unknown(), interrupt.moved()) {
        (0, 0) => Exit::TryAgain,
        (0, _) => Exit::Partial,
        _ => Exit::Unknown,
    }
}

/// What a run without a report did: `; run R moved 3,000 jobs, and 20 are of unknown outcome`.
fn committed(interrupt: &Interrupt, run: Option<&str>) -> String {
    let (moved, unknown) = (interrupt.moved() as u64, interrupt.unknown() as u64);
    if moved + unknown == 0 {
        return String::new();
    }
    let run = run.map_or_else(|| "it".to_owned(), |run| format!("run {run}"));
    let unknown =
        if unknown == 0 { String::new() } else { format!(", and {} are of unknown outcome", grouped(unknown)) };
    format!("; {run} moved {}{unknown}", count(moved, "job", "jobs"))
}

fn would_have_ended(exit: Exit) -> String {
    format!("--best-effort: would have ended with {} ({}) without it", exit.code(), exit.of_target())
}

/// Interrupts the work, then ends the process: what waits for a name server, a disk or a pipe may hear no interrupt.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "the thread that would return from main is what hangs")]
fn end_after(longest: Duration, interrupt: &Interrupt, ui: &Ui) {
    let part = |share: f64| std::thread::sleep(longest.mul_f64(share));
    part(0.9);
    interrupt.raise();
    part(0.05);
    interrupt.roll_back();
    part(0.05);
    let (what, exit) = (committed(interrupt, ui.run().as_deref()), when_time_is_over(interrupt));
    let (ui, text) = (ui.clone(), format!("ended after {}{what}; {}", age(longest), would_have_ended(exit)));
    // A stderr that takes nothing must not hold it up either.
    std::thread::spawn(move || ui.insist(&text));
    std::thread::sleep(Duration::from_millis(100));
    std::process::exit(Exit::Done.code().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_committed_decides_how_it_ends() {
        let interrupt = Interrupt::default();
        let said = || (when_time_is_over(&interrupt), committed(&interrupt, Some("r")));
        assert_eq!(said(), (Exit::TryAgain, String::new()));
        let in_hand = interrupt.begin_batch(20);
        assert_eq!(said(), (Exit::Unknown, "; run r moved 0 jobs, and 20 are of unknown outcome".to_owned()));
        interrupt.end_batch(20, 0);
        drop(in_hand);
        assert_eq!(said(), (Exit::Partial, "; run r moved 20 jobs".to_owned()));
        interrupt.end_batch(0, 5);
        assert_eq!(said(), (Exit::Unknown, "; run r moved 20 jobs, and 5 are of unknown outcome".to_owned()));
    }
}

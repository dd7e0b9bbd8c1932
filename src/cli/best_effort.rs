//! `--best-effort`: a sweep before workers start neither fails nor delays their start.

use super::signal::Caught;
use super::ui::Ui;
use super::{Context, Exit};
use crate::model::age;
use crate::store::Interrupt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// How long such a sweep takes at most in all, unless `--timeout` says otherwise.
pub const LONGEST: Duration = Duration::from_secs(30);

/// How long its work may take: the rest is for what no timeout of the database ends, and for the report.
pub fn working_time(longest: Duration) -> Duration {
    longest.mul_f64(0.8)
}

/// Runs a sweep and ends with 0 whatever became of it, which one line on stderr tells; but not where the command line makes
/// no sense, or a signal ended it.
pub fn run(longest: Duration, context: &Context, sweep: impl FnOnce() -> Exit) -> Exit {
    let (interrupt, ui) = (context.interrupt.clone(), context.ui.clone());
    std::thread::spawn(move || end_after(longest, &interrupt, &ui));
    let exit = std::panic::catch_unwind(AssertUnwindSafe(sweep)).unwrap_or(Exit::Internal);
    end(exit, &context.caught, &context.ui)
}

fn end(exit: Exit, caught: &Caught, ui: &Ui) -> Exit {
    let exit = match exit {
        Exit::Usage => return exit,
        _ if caught.signal().is_some() => return exit,
        // No signal came: the time was over.
        Exit::Signal(_) => Exit::TryAgain,
        _ => exit,
    };
    ui.insist(&would_have_ended(exit));
    Exit::Done
}

fn would_have_ended(exit: Exit) -> String {
    format!("--best-effort: would have ended with {} ({}) without it", exit.code(), exit.of_target())
}

/// Interrupts the work shortly before the time is over, and then ends the process, as a SIGKILL would: what waits for a name
/// server, a disk or a pipe may not hear an interrupt.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "the thread that would return from main is what hangs")]
fn end_after(longest: Duration, interrupt: &Interrupt, ui: &Ui) {
    let part = |share: f64| std::thread::sleep(longest.mul_f64(share));
    part(0.9);
    interrupt.raise();
    part(0.05);
    interrupt.roll_back();
    part(0.05);
    let exit = if interrupt.in_hand() > 0 { Exit::Unknown } else { Exit::TryAgain };
    let (ui, text) = (ui.clone(), format!("ended after {}; {}", age(longest), would_have_ended(exit)));
    // A stderr that takes nothing must not hold it up either.
    std::thread::spawn(move || ui.insist(&text));
    std::thread::sleep(Duration::from_millis(100));
    std::process::exit(Exit::Done.code().into());
}

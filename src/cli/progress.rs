//! Progress of work that takes longer than a second; and questions to a person, during which signals are still noticed.

use super::input::unless_interrupted;
use super::ui::Ui;
use super::{CliError, Exit};
use crate::model::age;
use crate::ops::{Progress, Work};
use crate::output::format::{count, grouped};
use crate::store::Interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The bar appears after this time.
const DELAY: Duration = Duration::from_secs(1);
/// How often it is redrawn.
const TICK: Duration = Duration::from_millis(120);

/// The least time of an apply that is announced.
const LONG: Duration = Duration::from_secs(5);

/// A bar that appears after a delay and is cleared at the end, where a person watches; and a line before a long apply.
pub struct Shown {
    ui: Ui,
    draws: bool,
    /// Whether the operator has said that workers are stopped.
    are_stopped: bool,
    drawn: RefCell<Option<Bar>>,
}

impl Shown {
    pub fn new(ui: Ui, draws: bool, are_stopped: bool) -> Shown {
        Shown { ui, draws, are_stopped, drawn: RefCell::default() }
    }

    fn announce(&self, jobs: u64, least: Duration, most: Duration) {
        let fast = if self.are_stopped { "; with --fast it would not wait for any" } else { "" };
        self.ui.note(&format!(
            "{} take about {}, or up to {} while workers write, which get their turn in between{fast}",
            count(jobs, "job", "jobs"),
            age(least.max(Duration::from_secs(1))),
            age(most)
        ));
    }
}

struct Bar {
    bar: ProgressBar,
    work: Work,
    /// Dropping it ends the drawing thread.
    ended: Option<Sender<()>>,
    draws: Option<JoinHandle<()>>,
}

impl Progress for Shown {
    fn begin(&self, work: Work) {
        if let Work::Applying(jobs, Some((least, most))) = work
            && most >= LONG
        {
            self.announce(jobs, least, most);
        }
        if !self.draws {
            return;
        }
        let bar = bar(work);
        let (ended, wait) = channel::<()>();
        let late = bar.clone();
        let draws = std::thread::spawn(move || {
            if wait.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(TICK);
            }
        });
        self.drawn.replace(Some(Bar { bar, work, ended: Some(ended), draws: Some(draws) }));
    }

    fn reached(&self, done: u64, moved: u64) {
        if let Some(Bar { bar, work, .. }) = self.drawn.borrow().as_ref() {
            bar.set_position(done);
            match work {
                Work::Reading => bar.set_message(format!("{} read", grouped(done))),
                Work::Applying(..) => bar.set_message(format!("{} moved", grouped(moved))),
            }
        }
    }

    fn end(&self) {
        self.drawn.replace(None);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.ended.take());
        // The thread may be about to draw; the bar is cleared after that.
        if let Some(draws) = self.draws.take() {
            let _ = draws.join();
        }
        self.bar.finish_and_clear();
    }
}

fn bar(work: Work) -> ProgressBar {
    let hidden = ProgressDrawTarget::hidden();
    let (bar, template) = match work {
        Work::Reading => {
            let bar = ProgressBar::with_draw_target(None, hidden);
            bar.set_message("0 read");
            (bar, "{spinner} reading claims: {msg}, {elapsed}")
        }
        Work::Applying(steps, _) => {
            let bar = ProgressBar::with_draw_target(Some(steps), hidden);
            bar.set_message("0 moved");
            (bar, "[{bar:30}] {human_pos} of {human_len} tried, {msg}, {elapsed}")
        }
    };
    // A bad template is a defect; the default bar still shows progress.
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("=> ").tick_chars("|/-\\ ")),
        Err(_) => bar,
    }
}

pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The next line that the person types, without blanks around it; `None` at the end of the input.
pub(super) fn read_line(interrupt: &Interrupt) -> Result<Option<String>, CliError> {
    let read = || {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|bytes| (bytes > 0).then(|| line.trim().to_owned()))
    };
    let line = unless_interrupted(read, interrupt, Duration::MAX)?.transpose();
    let unreadable = |error| CliError::new(Exit::NoInput, format!("the terminal cannot be read: {error}"));
    Ok(line.map_err(unreadable)?.flatten())
}

//! How far it is: on stderr, on a terminal alone, and only where it takes longer than a second.

use crate::ops::{Progress, Work};
use crate::output::format::grouped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Nothing is drawn before.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the picture changes.
const TICK: Duration = Duration::from_millis(120);

/// A bar that comes late and leaves no trace.
#[derive(Default)]
pub struct Drawn(RefCell<Option<Bar>>);

struct Bar {
    bar: ProgressBar,
    work: Work,
    /// Dropped, it tells the thread that there is nothing to draw any more.
    ended: Option<Sender<()>>,
    draws: Option<JoinHandle<()>>,
}

impl Progress for Drawn {
    fn begin(&self, work: Work) {
        let bar = bar(work);
        let (ended, wait) = channel::<()>();
        let late = bar.clone();
        let draws = std::thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(TICK);
            }
        });
        self.0.replace(Some(Bar { bar, work, ended: Some(ended), draws: Some(draws) }));
    }

    fn reached(&self, done: u64, moved: u64) {
        if let Some(Bar { bar, work, .. }) = self.0.borrow().as_ref() {
            bar.set_position(done);
            match work {
                Work::Looking => bar.set_message(format!("{} looked at", grouped(done))),
                Work::Applying(_) => bar.set_message(format!("{} moved", grouped(moved))),
            }
        }
    }

    fn end(&self) {
        self.0.replace(None);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.ended.take());
        // Whatever it was about to draw must be drawn before it is taken away.
        if let Some(draws) = self.draws.take() {
            let _ = draws.join();
        }
        self.bar.finish_and_clear();
    }
}

fn bar(work: Work) -> ProgressBar {
    let hidden = ProgressDrawTarget::hidden();
    let (bar, template) = match work {
        Work::Looking => {
            let bar = ProgressBar::with_draw_target(None, hidden);
            bar.set_message("reading");
            (bar, "{spinner} looking for claims: {msg}, {elapsed}")
        }
        Work::Applying(steps) => {
            let bar = ProgressBar::with_draw_target(Some(steps), hidden);
            bar.set_message("0 moved");
            (bar, "[{bar:30}] {human_pos} of {human_len} tried, {msg}, {elapsed}")
        }
    };
    // A template that cannot be read is a defect, and a plain bar still a bar.
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("=> ").tick_chars("|/-\\ ")),
        Err(_) => bar,
    }
}

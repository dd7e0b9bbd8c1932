//! A program that is struck at one of its calls of the system: those that change a file or a lock on one, counted from 1. It is
//! how SQLite itself tests what a crash leaves behind.

use super::cli::{Doctor, Ran};
use super::shim::Shim;
use rustix::process::Signal;
use std::fs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strike {
    /// The signal comes ahead of it. If it kills, the call is not made.
    Ahead(Signal),
    /// It is killed, and of what it was about to write the first half is written. Of calls that write nothing, as above.
    Torn,
}

pub struct Calls(Shim);

/// In the home of the program: what it called, of which file, as `lock queue.db`.
const LOG: &str = "calls";

impl Calls {
    pub fn new() -> Calls {
        Calls(Shim::of(include_str!("calls.c")))
    }

    /// A place of its own for a program whose calls can be counted.
    pub fn doctor(&self) -> Doctor {
        Doctor::new().env("LD_PRELOAD", self.0.library().display().to_string())
    }

    /// Runs the program to its end; gives the calls too.
    pub fn of(&self, doctor: &Doctor, arguments: &[&str]) -> (Ran, Vec<String>) {
        let log = doctor.home(LOG);
        let _ = fs::remove_file(&log);
        let ran = Ran::of(doctor.command(arguments).env("CALLS_LOG", &log).output().expect("run the program"));
        let calls = fs::read_to_string(&log).expect("the calls");
        (ran, calls.lines().map(str::to_owned).collect())
    }

    pub fn struck(&self, doctor: &Doctor, arguments: &[&str], at: usize, strike: Strike) -> Ran {
        let (signal, torn) = match strike {
            Strike::Ahead(signal) => (signal, "0"),
            Strike::Torn => (Signal::KILL, "1"),
        };
        let mut command = doctor.command(arguments);
        command.env("CALLS_AT", at.to_string()).env("CALLS_TORN", torn);
        command.env("CALLS_SIGNAL", signal.as_raw().to_string());
        Ran::of(command.output().expect("run the program"))
    }
}

//! The exit codes.

use crate::policy::State;
use signal_hook::consts::{SIGINT, SIGTERM};

/// How the program ends: [`ENDS`] says what each means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Found,
    Usage,
    Partial,
    Refused,
    Unknown,
    NoInput,
    Unavailable,
    Internal,
    TryAgain,
    NoPermission,
    Config,
    /// Ended by a signal, after the batch in hand.
    Signal(i32),
    /// The state that the monitoring plugin found; `health` has no other exit.
    Health(State),
}

pub struct End {
    exit: Exit,
    pub code: u8,
    /// How bad it is; the worst has the highest number.
    severity: u8,
    name: &'static str,
    /// The end of a target, in a summary of several: "3 done, 1 unreachable".
    of_target: &'static str,
    pub meaning: &'static str,
}

/// Every exit but those of `health`. The codes are a contract; `help exit-codes` lists them.
pub static ENDS: [End; 14] = [
    end(Exit::Done, 0, 0, "done", "done").meaning("success; says nothing about whether jobs are stuck"),
    end(Exit::Found, 1, 1, "found", "with findings")
        .meaning("found: stuck or unknown claims, a cause, a filter that matches nothing, or a side that could not be read; only \
                  with --exit-code or --wait"),
    end(Exit::Usage, 2, 5, "usage", "with a usage error").meaning("the command line makes no sense"),
    end(Exit::Partial, 3, 2, "partial", "done in part").meaning(
        "some planned jobs are still as they were: locked, refused, not_tried; where jobs were named (--id, \
         --from-file, --plan) also changed, gone and ids that do not exist",
    ),
    end(Exit::Refused, 4, 3, "refused", "refused by a guard")
        .meaning("refused by a guard (the brake, --max-jobs, --expect, read_only); nothing was written"),
    end(Exit::Unknown, 5, 11, "unknown", "of unknown outcome")
        .meaning("the outcome of a write is unknown; the report names the jobs"),
    end(Exit::NoInput, 66, 6, "no_input", "not found")
        .meaning("no such SQLite file, or not a database; no such job (show, stale --id)"),
    end(Exit::Unavailable, 69, 9, "unavailable", "unreachable")
        .meaning("the database cannot be reached, or the connection was lost"),
    end(Exit::Internal, 70, 10, "internal", "ended by a defect").meaning("an internal error: please report it"),
    end(Exit::TryAgain, 75, 4, "try_again", "busy or out of time")
        .meaning("busy or timed out before anything was written, or another sweep runs or has just run; try again"),
    end(Exit::NoPermission, 77, 8, "no_permission", "without permission").meaning("authentication or privileges"),
    end(Exit::Config, 78, 7, "config", "misconfigured").meaning("configuration, preset or schema does not fit"),
    end(Exit::Signal(SIGINT), 130, 12, "signal", "interrupted")
        .meaning("ended by SIGINT, after the batch in hand; a second SIGINT rolls it back"),
    end(Exit::Signal(SIGTERM), 143, 12, "signal", "interrupted")
        .meaning("ended by SIGTERM, after the batch in hand; a second SIGTERM rolls it back"),
];

/// The exits of `health`. Among them a known problem is worse than an unknown state.
static HEALTH_ENDS: [End; 4] = [
    end(Exit::Health(State::Ok), 0, 0, "ok", "ok"),
    end(Exit::Health(State::Unknown), 3, 1, "unknown", "unknown"),
    end(Exit::Health(State::Warning), 1, 2, "warning", "warning"),
    end(Exit::Health(State::Critical), 2, 3, "critical", "critical"),
];

const fn end(exit: Exit, code: u8, severity: u8, name: &'static str, of_target: &'static str) -> End {
    End { exit, code, severity, name, of_target, meaning: "" }
}

impl End {
    const fn meaning(self, meaning: &'static str) -> End {
        End { meaning, ..self }
    }
}

impl Exit {
    /// Its row in the tables. Of signals, no others are caught than those that have one.
    fn end(self) -> &'static End {
        ENDS.iter().chain(&HEALTH_ENDS).find(|end| end.exit == self).unwrap_or(&ENDS[13])
    }

    pub fn code(self) -> u8 {
        self.end().code
    }

    pub fn name(self) -> &'static str {
        self.end().name
    }

    pub fn of_target(self) -> &'static str {
        self.end().of_target
    }

    pub fn state(self) -> State {
        match self {
            Exit::Health(state) => state,
            Exit::Done => State::Ok,
            _ => State::Unknown,
        }
    }

    /// The worse of two exits; a signal is the worst.
    pub fn worse(self, other: Exit) -> Exit {
        if self.severity() >= other.severity() { self } else { other }
    }

    pub(super) fn severity(self) -> u8 {
        self.end().severity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts() {
        let order = [5, 70, 69, 77, 78, 66, 2, 75, 4, 3, 1, 0];
        let all = ENDS[..12].iter().map(|end| end.exit);
        for a in all.clone() {
            assert_eq!(a.worse(Exit::Signal(2)), Exit::Signal(2));
            for b in all.clone() {
                let rank = |exit: Exit| order.iter().position(|code| *code == exit.code()).unwrap();
                let worse = if rank(a) <= rank(b) { a } else { b };
                assert_eq!(a.worse(b), worse, "{a:?} and {b:?}");
            }
        }
        assert_eq!((Exit::Signal(2).code(), Exit::Signal(15).code()), (130, 143));
    }
}

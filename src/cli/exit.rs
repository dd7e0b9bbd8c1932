//! The exit codes.

use crate::policy::State;

/// How the program ends. The codes are a contract; `help exit-codes` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: success; says nothing about whether jobs are stuck.
    Done,
    /// 1: stuck or unknown claims exist; only with `--exit-code` or `--wait`.
    Found,
    /// 2: the command line makes no sense.
    Usage,
    /// 3: some planned jobs are still as they were.
    Partial,
    /// 4: refused by a guard; nothing was written.
    Refused,
    /// 5: the outcome of a write is unknown.
    Unknown,
    /// 66: no such SQLite file, not a database, or no such job.
    NoInput,
    /// 69: the database cannot be reached, or the connection was lost.
    Unavailable,
    /// 70: an internal error.
    Internal,
    /// 75: busy or timed out before anything was written; try again.
    TryAgain,
    /// 77: authentication or privileges.
    NoPermission,
    /// 78: configuration, preset or schema does not fit.
    Config,
    /// Ended by a signal, after the batch in hand: 130 for SIGINT, 143 for SIGTERM.
    Signal(i32),
    /// 0 to 3: the state that the monitoring plugin found; `health` has no other exit.
    Health(State),
}

impl Exit {
    /// Every exit but those of `health`.
    pub const ALL: [Exit; 14] = [
        Exit::Done,
        Exit::Found,
        Exit::Usage,
        Exit::Partial,
        Exit::Refused,
        Exit::Unknown,
        Exit::NoInput,
        Exit::Unavailable,
        Exit::Internal,
        Exit::TryAgain,
        Exit::NoPermission,
        Exit::Config,
        Exit::Signal(signal_hook::consts::SIGINT),
        Exit::Signal(signal_hook::consts::SIGTERM),
    ];

    /// Its meaning, for `help exit-codes`.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Done => "success; says nothing about whether jobs are stuck",
            Exit::Found => "stuck or unknown claims exist; only with --exit-code or --wait",
            Exit::Usage => "the command line makes no sense",
            Exit::Partial => {
                "some planned jobs are still as they were: locked, refused, not_tried; where jobs were named (--id, \
                 --from-file, --plan) also changed, gone and ids that do not exist"
            }
            Exit::Refused => "refused by a guard (the brake, --max-jobs, --expect, read_only); nothing was written",
            Exit::Unknown => "the outcome of a write is unknown; the report names the jobs",
            Exit::NoInput => "no such SQLite file, or not a database; no such job (show, stale --id)",
            Exit::Unavailable => "the database cannot be reached, or the connection was lost",
            Exit::Internal => "an internal error: please report it",
            Exit::TryAgain => {
                "busy or timed out before anything was written, or another sweep runs or has just run; try again"
            }
            Exit::NoPermission => "authentication or privileges",
            Exit::Config => "configuration, preset or schema does not fit",
            Exit::Signal(signal_hook::consts::SIGINT) => {
                "ended by SIGINT, after the batch in hand; a second SIGINT rolls it back"
            }
            Exit::Signal(_) => "ended by SIGTERM, after the batch in hand; a second SIGTERM rolls it back",
            Exit::Health(State::Ok) => "health: ok",
            Exit::Health(State::Warning) => "health: a warning",
            Exit::Health(State::Critical) => "health: critical",
            Exit::Health(State::Unknown) => "health: the queue could not be read, or its state is unknown",
        }
    }

    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Found => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
            Exit::Refused => 4,
            Exit::Unknown => 5,
            Exit::NoInput => 66,
            Exit::Unavailable => 69,
            Exit::Internal => 70,
            Exit::TryAgain => 75,
            Exit::NoPermission => 77,
            Exit::Config => 78,
            Exit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
            Exit::Health(State::Ok) => 0,
            Exit::Health(State::Warning) => 1,
            Exit::Health(State::Critical) => 2,
            Exit::Health(State::Unknown) => 3,
        }
    }

    /// Its name in error documents.
    pub fn name(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Found => "found",
            Exit::Usage => "usage",
            Exit::Partial => "partial",
            Exit::Refused => "refused",
            Exit::Unknown => "unknown",
            Exit::NoInput => "no_input",
            Exit::Unavailable => "unavailable",
            Exit::Internal => "internal",
            Exit::TryAgain => "try_again",
            Exit::NoPermission => "no_permission",
            Exit::Config => "config",
            Exit::Signal(_) => "signal",
            Exit::Health(state) => state.name(),
        }
    }

    /// The exit of a target, in a summary of several: "3 done, 1 unreachable".
    pub fn of_target(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Found => "with findings",
            Exit::Usage => "with a usage error",
            Exit::Partial => "done in part",
            Exit::Refused => "refused by a guard",
            Exit::Unknown => "of unknown outcome",
            Exit::NoInput => "not found",
            Exit::Unavailable => "unreachable",
            Exit::Internal => "ended by a defect",
            Exit::TryAgain => "busy or out of time",
            Exit::NoPermission => "without permission",
            Exit::Config => "misconfigured",
            Exit::Signal(_) => "interrupted",
            Exit::Health(state) => state.name(),
        }
    }

    /// The state of a monitoring plugin.
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

    /// How bad it is; the worst has the highest number.
    pub(super) fn severity(self) -> u8 {
        match self {
            Exit::Done | Exit::Health(State::Ok) => 0,
            // Among states of a plugin, a known problem is worse than an unknown state.
            Exit::Found | Exit::Health(State::Unknown) => 1,
            Exit::Partial | Exit::Health(State::Warning) => 2,
            Exit::Refused | Exit::Health(State::Critical) => 3,
            Exit::TryAgain => 4,
            Exit::Usage => 5,
            Exit::NoInput => 6,
            Exit::Config => 7,
            Exit::NoPermission => 8,
            Exit::Unavailable => 9,
            Exit::Internal => 10,
            Exit::Unknown => 11,
            Exit::Signal(_) => 12,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts() {
        let order = [5, 70, 69, 77, 78, 66, 2, 75, 4, 3, 1, 0];
        let all = &Exit::ALL[..12];
        for &a in all {
            assert_eq!(a.worse(Exit::Signal(2)), Exit::Signal(2));
            for &b in all {
                let rank = |exit: Exit| order.iter().position(|code| *code == exit.code()).unwrap();
                let worse = if rank(a) <= rank(b) { a } else { b };
                assert_eq!(a.worse(b), worse, "{a:?} and {b:?}");
            }
        }
        assert_eq!((Exit::Signal(2).code(), Exit::Signal(15).code()), (130, 143));
    }
}

//! Pure judgement: a claim and a policy in, a verdict out; findings in, steps out. No clock, no I/O.

mod brake;
mod digest;
mod judge;
mod plan;
mod rules;
mod scope;
mod verdict;

pub use brake::{Brake, Circumstances, FREE, Gauge, Lifted, Up};
pub use digest::Digest;
pub use judge::judge;
pub use plan::{Draft, Held, HeldReason, draft};
pub use rules::{Policy, Restart};
pub use scope::{Globs, RestartScope, ScopeError};
pub use verdict::{Check, CheckResult, Judgement, Proves, Reason, Rule, Verdict};

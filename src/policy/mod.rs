//! Pure judgement: a claim and a policy in, a verdict out; findings in, steps out. No clock, no I/O.

mod afterwards;
mod brake;
mod digest;
mod diagnosis;
mod health;
mod judge;
mod later;
mod inconsistencies;
mod plan;
mod range;
mod live_owners;
mod rules;
mod scope;
mod stalls;
mod stillness;
mod thresholds;
mod too_long;
mod verdict;

pub use afterwards::{Afterwards, afterwards};
pub use brake::{Brake, Circumstances, FREE, Gauge, Lifted, Up};
pub use digest::Digest;
pub use diagnosis::{Diagnosis, DiagnosisKind, Diagnoses, Grouped};
pub use health::{Alerts, Measure, State};
pub use judge::judge;
pub use later::Later;
pub use inconsistencies::{Inconsistency, Inconsistencies};
pub use plan::{Draft, Skipped, SkipReason, draft};
pub use range::Range;
pub use live_owners::{Living, LiveOwners, LiveOwnersError, Standing, may_be_one_host};
pub use rules::{Policy, Restart};
pub use scope::{Globs, RestartScope, ScopeError};
pub use stalls::why_failed;
pub use stillness::{EarlierSnapshot, Print, Seen, Stood, key_print, seen};
pub use thresholds::{Allowed, SetBy, Threshold, Thresholds};
pub use too_long::{StateLimit, TooLong};
pub use verdict::{Check, CheckResult, Judgement, Proves, Reason, Rule, Verdict};

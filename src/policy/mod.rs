//! Pure judgement: a claim and a policy in, a verdict out; findings in, steps out. No clock, no I/O.

mod brake;
mod delay;
mod diagnosis;
mod digest;
mod follow_up;
mod health;
mod inconsistencies;
mod judge;
mod live_owners;
mod plan;
mod range;
mod rules;
mod scope;
mod stalls;
mod thresholds;
mod too_long;
mod unchanged;
mod verdict;

pub use brake::{Brake, Circumstances, FREE, Gauge, Lifted, Up};
pub use delay::Delay;
pub use diagnosis::{Diagnoses, Diagnosis, DiagnosisKind, Grouped};
pub use digest::Digest;
pub use follow_up::{Afterwards, afterwards};
pub use health::{Alerts, Measure, State};
pub use inconsistencies::{Inconsistencies, Inconsistency};
pub use judge::judge;
pub use live_owners::{LiveOwners, LiveOwnersError, Living, Standing, may_be_one_host};
pub use plan::{Draft, SkipReason, Skipped, draft};
pub use range::Range;
pub use rules::{Policy, Restart};
pub use scope::{Globs, RestartScope, ScopeError};
pub use stalls::why_failed;
pub use thresholds::{Allowed, SetBy, Threshold, Thresholds};
pub use too_long::{StateLimit, TooLong};
pub use unchanged::{EarlierSnapshot, Print, SeenClaim, Unchanged, key_print, seen};
pub use verdict::{Check, CheckResult, Judgement, Proves, Reason, Rule, Verdict, VerdictKind};

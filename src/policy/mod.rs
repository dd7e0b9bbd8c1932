//! Pure judgement: a claim and a policy in, a verdict out; findings in, steps out. No clock, no I/O.

mod alerts;
mod brake;
mod diagnosis;
mod finding;
mod follow_up;
mod inconsistencies;
mod judge;
mod live_owners;
mod plan;
mod resemblance;
mod scope;
mod thresholds;
mod unchanged;
mod verdict;

pub use alerts::{Alerts, Measure, Range, State};
pub use brake::{Brake, Circumstances, FREE, Gauge, Override, Up};
pub use diagnosis::{Diagnoses, Diagnosis, DiagnosisKind, Doubt, Grouped};
pub(crate) use finding::{Finding, Limit};
pub use finding::{SkipReason, Skipped};
pub use follow_up::{Afterwards, afterwards};
pub use inconsistencies::{Inconsistencies, Inconsistency};
pub use judge::judge;
pub use live_owners::{LiveOwners, LiveOwnersError, Living, Standing};
pub use plan::{Delay, Draft, draft, why_failed};
pub use resemblance::may_be_one_host;
pub use scope::{Globs, Restart, RestartScope, ScopeError, exactly};
pub use thresholds::{Allowed, Policy, SetBy, StateLimit, Threshold, Thresholds, TooLong};
pub use unchanged::{Digest, EarlierSnapshot, Print, SeenClaim, Unchanged, key_print, seen};
pub use verdict::{Check, CheckResult, Judgement, Proves, Reason, Rule, Value, Verdict, VerdictKind};

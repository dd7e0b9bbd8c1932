//! The documents that scripts rely on: one file a command. This is the only place where a JSON field name is spelled.
//!
//! Rules for all of them: ids are texts; times are RFC 3339 in UTC and end in `_at` (or are `store_time`); durations are
//! numbers of seconds and end in `_seconds`; what is not known is `null` and never absent; within v1 fields are only added.

mod brake;
mod check;
mod env;
mod error;
mod init;
mod job;
mod lines;
mod owners;
mod presets;
mod presets_show;
mod reclaim;
mod saved_plan;
mod schemas;
mod show;
mod spool;
mod stale;
mod target;

pub use brake::Brake;
pub use check::{Check, CheckFinding, Severity};
pub use env::{Env, EnvSetting};
pub use error::ErrorDocument;
pub use init::Init;
pub use job::{Held, HeldJob, Job, Reason, RowError, StepJob};
pub use lines::Lines;
pub use owners::{OwnerEntry, Owners, OwnersSummary};
pub use presets::{PresetEntry, PresetVariantLiveness, Presets};
pub use presets_show::{
    PresetAdvice, PresetAttempts, PresetCaution, PresetChange, PresetHold, PresetInFlight, PresetLiveness, PresetMove,
    PresetOption, PresetOwner, PresetQueue, PresetRule, PresetShape, PresetStates, PresetStep, PresetTable, PresetTime,
    PresetWakeUp, PresetsShow,
};
pub use reclaim::{Outcomes, Reclaim, ReclaimSummary};
pub use saved_plan::{SavedPlan, SavedPolicy, SavedStep, SavedTarget};
pub use schemas::{NAMES as SCHEMA_NAMES, schema};
pub use show::{RuleCheck, Show, ShownJob, Would};
pub use spool::Spool;
pub use stale::{Stale, StaleSummary};
pub use target::{Filter, Standby, Target};

//! The documents that scripts rely on: one file a command. This is the only place where a JSON field name is spelled.
//!
//! Rules for all of them: ids are texts; times are RFC 3339 in UTC and end in `_at` (or are `store_time`); durations are
//! numbers of seconds and end in `_seconds`; what is not known is `null` and never absent; within v1 fields are only added.

mod brake;
mod check;
mod diagnosis;
mod env;
mod error;
mod health;
mod history;
mod init;
mod job;
mod lines;
mod log;
mod measured;
mod owners;
mod presets;
mod presets_show;
mod reclaim;
mod saved_plan;
mod schemas;
mod show;
mod snapshot;
mod spool;
mod stale;
mod stats;
mod stats_runtimes;
mod target;
mod targets;
mod undo;
mod verified;
mod watch;

pub use brake::Brake;
pub use check::{Check, CheckFinding, Severity};
pub use diagnosis::Diagnosis;
pub use env::{Env, EnvSetting};
pub use error::ErrorDocument;
pub use health::{Health, HealthCheck, HealthError, HealthQueue, HealthReason, HealthSummary};
pub use history::{
    History, HistoryChange, HistoryOne, HistoryOneSummary, HistoryRun, HistoryStep, HistorySummary, HistoryTarget,
    HistoryUnsure,
};
pub use init::Init;
pub use job::{Job, Reason, RowError, Skipped, SkippedJob, StepJob};
pub use lines::Lines;
pub use log::LogLine;
pub use measured::{Measured, MeasuredQueue, MeasuredState};
pub use owners::{OwnerEntry, Owners, OwnersSummary};
pub use presets::{PresetEntry, PresetVariantLiveness, Presets};
pub use presets_show::{
    PresetAction, PresetAdvice, PresetAttempts, PresetCaution, PresetChange, PresetCheck, PresetDelayed,
    PresetFinished, PresetInFlight, PresetLiveness, PresetOption, PresetOwner, PresetQueue, PresetRule, PresetShape,
    PresetSkip, PresetStates, PresetStep, PresetTable, PresetTime, PresetWakeUp, PresetsShow,
};
pub use reclaim::{Outcomes, Reclaim, ReclaimSummary};
pub use saved_plan::{SavedPlan, SavedPolicy, SavedStep, SavedTarget};
pub use schemas::{NAMES as SCHEMA_NAMES, schema};
pub use show::{RuleCheck, Show, ShownJob, Would};
pub use snapshot::{Fingerprint, SNAPSHOT_SCHEMA, SavedClaim, SavedSnapshot, SnapshotTarget};
pub use spool::Spool;
pub use stale::{Stale, StaleSummary};
pub use stats::{QueueStats, StateCount, Stats, StatsSummary};
pub use stats_runtimes::{KindRuntimes, RuntimeBucket, StatsRuntimes, StatsRuntimesSummary};
pub use target::{Filter, FilterThreshold, Standby, Target};
pub use targets::{TargetEnd, Targets, TargetsEnding, TargetsSummary, TargetsWriter};
pub use undo::{Undo, UndoLeft, UndoStep, UndoSummary};
pub use verified::Verified;
pub use watch::{WatchFailed, WatchHead, WatchLine, WatchSnapshot};

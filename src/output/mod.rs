//! Every document that the program prints: one file each holds its fields, its columns, its table and its JSON lines.
//! JSON field names are spelled here, or at the types of `model` and `policy` that a document holds as they are.
//!
//! Rules for all of them: ids are texts; times are RFC 3339 in UTC and end in `_at` (or are `store_time`); durations
//! are numbers of seconds and end in `_seconds`; what is not known is `null` and never absent; within v1 fields are
//! only added.

mod adopt;
pub mod advice;
mod causes;
mod columns;
mod diagnosis;
mod document;
mod errors;
mod filter;
mod findings;
pub mod format;
mod handover;
mod health;
mod history;
mod job;
mod listing;
mod locks;
pub mod metrics;
mod owners;
pub mod presets;
mod reclaim;
mod replace_file;
mod saved;
mod schemas;
mod setup;
mod show;
mod stale;
mod stats;
mod status;
mod targets;
mod waiting;

pub use crate::model::{Standby, Target};
pub use adopt::{Adopt, AdoptTables, DraftKey, Grade, Lookalike, Proof, Question, mapping_toml, target_toml};
pub use causes::{Causes, Row};
pub use diagnosis::{Diagnosis, diagnoses};
pub use document::{Document, List, ROWS, write};
pub use errors::{ErrorDocument, LogLine, Message, Refusal, Request, no_such_job, remedy};
pub use filter::{Field, Filter, FilterThreshold};
pub use findings::sentence;
pub use health::{Health, HealthCheck, HealthError, HealthQueue, HealthReason, HealthSummary};
pub use history::{
    History, HistoryHead, HistoryOne, HistoryOneHead, HistoryOneSummary, HistoryRun, HistoryStep, HistorySummary,
    HistoryUnsure,
};
pub use job::{Job, Reason, SkippedJob, StepJob, WhySkipped, order};
pub use listing::{Collector, First, LISTED, Listing, LongList};
pub use locks::{holds_locks, locked_by, out_of_sight, statements};
pub use metrics::{Measured, MeasuredQueue, MeasuredState};
pub use owners::{OwnerEntry, Owners, OwnersHead, OwnersSummary};
pub use reclaim::{
    ActionCount, Brake, Closing, NextCommands, Outcomes, Reclaim, ReclaimHead, ReclaimSummary, Undoes, WarnAbove,
    closing, left_behind, paragraph, place, skipped_by_reason,
};
pub use replace_file::{FileMode, directory_of, replace_file, temporary_beside};
pub use saved::{SNAPSHOT_SCHEMA, SavedPlan, SavedPolicy, SavedSnapshot};
pub use schemas::{schema, schema_names};
pub use setup::{Check, CheckFinding, ConfigCheck, Env, EnvSetting, Init, Severity};
pub use show::{MovedBy, RuleCheck, Show, ShownJob, Waits, Would, show};
pub use stale::{JobGroup, Stale, StaleHead, StaleSummary};
pub use stats::{
    JobCounts, KindRuntimes, QueueStats, RuntimeBucket, StateCount, Stats, StatsHead, StatsRuntimes, StatsRuntimesHead,
    StatsRuntimesSummary, StatsSummary,
};
pub use status::{Status, StatusHead, StatusSummary};
pub use targets::{TargetEnd, TargetExit, Targets, TargetsEnding, TargetsSummary, TargetsWriter};
pub use waiting::Waiting;

//! Sentences of the use cases that name options or commands.

use crate::model::age;
use crate::policy::{Allowed, Policy, SetBy};

/// For a ledger that jobdoctor has not made.
pub const REPLACE_LEDGER: &str = "rename or drop that table, and make the ledger with `jobdoctor init --ledger`";
/// For a queue without a ledger.
pub const NO_LEDGER: &str = "there is no ledger here; `jobdoctor init --ledger` would make one";
/// For a queue without a threshold.
pub const SAY_THRESHOLD: &str = "say it with --older, or with `older` of the target in the config file";
/// For a queue without a sign of life.
pub const RESTART_ALL: &str = "stop every worker and use `jobdoctor sweep --restart --all-owners`";
/// For a view that SQLite cannot write to.
pub const NAME_TABLE: &str = "name the table behind the view with --table";
/// For a relation whose rows cannot be updated.
pub const NAME_TABLE_OR_SCHEMA: &str = "name the table behind it with --table or --schema";
/// For a run that waited for another sweep until its time was up.
pub const WAITED: &str = "this one has waited for it until --lock-wait or --timeout was over; it does the same work, so that the \
                          next run has less to do";
/// For a run that nothing here records.
pub const WHERE_RUNS_ARE: &str =
    "`jobdoctor history` lists the runs; a run of another host is known there, or in the ledger (--db)";
/// For a run whose journal is empty.
pub const NO_JOURNAL_OF_RUN: &str = "look at the jobs themselves; a ledger has the run, if the queue has one (--db)";
/// For a ledger table that lacks columns.
pub const FOREIGN_LEDGER: &str =
    "it was made by something else: rename it, and make the ledger with `jobdoctor init --ledger`";
/// For an undo without a database.
pub const NAME_DATABASE: &str = "name it with --db";
/// The options that name the queue of a run.
pub const QUEUE_OPTIONS: &str = "--db, --target, --preset, --table";

/// Why a preset is not detected: checking the states would read a large table without an index.
pub fn detection_needs_index(preset: &str, table: &str, rows: u64, state: &str) -> String {
    format!(
        "the tables look like those of preset {preset}, and whether it is that one would show in the states of the rows; but \
         {table} has more than {rows} rows and no index that begins with {state}. If it is, name it with --preset {preset}"
    )
}

/// Why a preset is not detected: rows are in these states, which it does not have.
pub fn detection_finds_states(preset: &str, states: &[String]) -> String {
    let states = states.join(", ");
    format!(
        "the tables look like those of preset {preset}, but rows are in states it does not have: {states}. If it is this preset \
         all the same, name it with --preset {preset}; for a table of your own write a mapping"
    )
}

/// The warning of a dry run about a live-owner list that may be that of another queue.
pub fn wrong_list(why: &str) -> String {
    format!("{why}. It is applied only with --max-jobs")
}

/// The warning of a script whose plan the brake would refuse.
pub fn braked_script(why: &[String]) -> String {
    format!("--apply would be refused by the brake: {}", why.join("; "))
}

/// The end of a list of warnings about run times, of which `more` are left out.
pub fn more_run_times(more: usize) -> String {
    format!("the same holds for {more} more; `jobdoctor stats --runtimes` shows run times")
}

/// What to call a limit of this policy in a sentence; `key` is its name in the config file.
pub fn limit_name(policy: &Policy, preset: &str, allowed: Allowed, key: &str) -> String {
    let (span, target) = (age(allowed.span), &policy.thresholds.target);
    match allowed.set_by {
        SetBy::Flag => format!("--{key} {span}"),
        SetBy::Target => format!("{key} {span} of target {target}"),
        SetBy::Entry(n) => format!("{key} {span} of threshold {n} of target {target}"),
        SetBy::Row => format!("the {span} of the row"),
        SetBy::Preset => format!("the {span} of preset {preset}"),
    }
}

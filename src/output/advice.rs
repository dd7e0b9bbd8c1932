//! Sentences of the use cases that name options or commands.

use super::Field;
use super::format::{count, first_few, grouped};
use crate::model::{Action, WaitingSide, age};
use crate::policy::{Allowed, Policy, SetBy, UnfamiliarStates};
use crate::preset::{Jobs, did_you_mean};

pub const REPLACE_LEDGER: &str = "rename or drop that table, and create the ledger with `jobdoctor init --ledger`";
pub const NO_LEDGER: &str = "there is no ledger here; `jobdoctor init --ledger` would create one";
/// For a ledger that was made on Postgres.
pub const LEDGER_COUNTS: &str = "jobdoctor uses it only if its owner is a superuser, owns the queue's table or the \
                                 database, or is a role that one of these owners or the applying role is a member of";
pub const SAY_THRESHOLD: &str = "set it with --older, or with `older` of the target in the config file";
/// For claims with values that do not fit their declaration.
pub const CORRECT_VALUES: &str = "set the clock that wrote these values, or correct their columns in the mapping ([time], `time_zone`, \
                                  `silent_after`); if all of them are right, another library made the tables";
pub const SAY_TIME_ZONE: &str =
    "name their zone with --option time_zone=..., with `options` of the target, or with `time_zone` in a mapping";
pub const ZONE_UNDECLARED: &str = "its times may have no zone, and none is declared";
/// For a queue without a sign of life.
pub const RESTART_ALL: &str = "stop every worker and use `jobdoctor sweep --restart --all-owners`";
/// For a mapping without a sign of life and without a claim time.
pub const NAME_CLAIM_TIME: &str = "name the column that says when a job was claimed in the mapping's [claim]: claimed_at = \"...\", and \
                                   liveness, which `jobdoctor adopt TABLE` proposes; without one, stop every worker and use \
                                   `jobdoctor sweep --restart --all-owners`";
pub const NAME_TABLE: &str = "name the table behind the view with --table";
pub const NAME_TABLE_OR_SCHEMA: &str = "name the table behind it with --table or --schema";
/// For a run that waited for another sweep until its time was up.
pub const WAITED: &str = "gave up waiting for the other sweep (--lock-wait, --timeout); it does the same \
                          work, so the next run has less to do";
/// For a run that nothing here records.
pub const WHERE_RUNS_ARE: &str =
    "`jobdoctor history` lists the runs; another host's run is in the journal there, or in the ledger (--db)";
pub const WHOSE_RUNS: &str =
    "`jobdoctor history` lists the runs and who made them; --by USER takes the latest of another user";
pub const NO_JOURNAL_OF_RUN: &str = "look at the jobs themselves; if the queue has a ledger, the run is in it (--db)";
pub const FOREIGN_LEDGER: &str =
    "something else created it: rename it, and create the ledger with `jobdoctor init --ledger`";
pub const NAME_DATABASE: &str = "name it with --db";
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

/// Why the ages of due jobs are not believed.
pub fn due_in_doubt(column: &str) -> String {
    format!("nothing shows in which zone {column} is: {SAY_TIME_ZONE}")
}

/// What is not known where more jobs are due than are read.
pub fn more_due() -> String {
    format!("no more than {} are read, and other queues may have older ones", grouped(WaitingSide::MOST))
}

/// What is not known of queues with so many due jobs, where a time of one cannot be read.
pub fn unfit_due(jobs: u64) -> String {
    format!("some time of {} cannot be read", count(jobs, "due job", "due jobs"))
}

pub fn add_liveness(mapping: &str, line: &str) -> String {
    format!("add to [mapping.{mapping}.claim]: {line}")
}

/// The warning that claims cannot be judged, because the mapping declares no liveness.
pub fn no_liveness(mapping: &str, line: &str) -> String {
    let add = add_liveness(mapping, line);
    format!("mapping {mapping} declares no liveness, so that nothing tells a dead worker's job from a slow one; {add}")
}

impl UnfamiliarStates {
    fn rows(&self) -> String {
        match self.rows {
            0 => "rows".to_owned(),
            UnfamiliarStates::MOST => format!("{} rows or more", grouped(self.rows)),
            rows => count(rows, "row", "rows"),
        }
    }

    /// What there is, where: `12 rows are in states that preset river does not declare: paused`.
    pub fn sentence(&self) -> String {
        let UnfamiliarStates { table, preset, .. } = self;
        if self.are_unasked() {
            return format!(
                "rows of {table} that {preset} does not declare are not counted: no index leads to them, and there are many"
            );
        }
        let are = if self.rows == 1 { "is" } else { "are" };
        if self.states.is_empty() {
            return format!("{} of {table} {are} neither in flight nor waiting nor ended by {preset}", self.rows());
        }
        format!("{} of {table} {are} in states that {preset} does not declare: {}", self.rows(), self.states.join(", "))
    }

    /// How to declare them.
    pub fn remedy(&self) -> String {
        let preset = &self.preset;
        match self.is_mapping {
            true if self.states.is_empty() => {
                format!("widen `is` in [mapping.{preset}.waiting], or `where` in [mapping.{preset}.ended]")
            }
            true => format!("name each of them in [mapping.{preset}.states], or under `ignored` there"),
            false => format!(
                "if none of them means that a worker holds the job: --option ignored_states={}",
                self.states.join(",")
            ),
        }
    }
}

/// The warning about a filter that matches no claim, or no interrupted job, with the names that there are.
pub fn unmatched_filter(field: Field, written: &str, names: &[&str], of_interrupted: bool) -> String {
    let field = field.name();
    let (no_job, there) =
        if of_interrupted { ("no interrupted job", "of such") } else { ("no job in flight", "in flight") };
    let more = names.len().saturating_sub(NAMES) as u64;
    let more = if more > 0 { format!(" ({} more)", grouped(more)) } else { String::new() };
    let shown = names.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ");
    let there = if shown.is_empty() { "no job has one".to_owned() } else { format!("{field}s {there}: {shown}{more}") };
    let is_plain = !written.contains(['*', '?', '[', '{']);
    let similar = if is_plain { did_you_mean(written, names.iter().copied()) } else { String::new() };
    let similar = if similar.is_empty() { ";" } else { &similar };
    format!("--{field} {written} matches {no_job}{similar} {there}")
}

/// The warning of a dry run about a live-owner list that may be that of another queue.
pub fn wrong_list(why: &str) -> String {
    format!("{why}. jobdoctor applies it only with --max-jobs")
}

/// The error for a reason that the database cannot store, and what to do.
pub fn unstorable_reason(error: &str) -> (String, &'static str) {
    let message = format!("--reason cannot be written to this database: {error}");
    (message, "word it in characters that the encoding of the database has")
}

/// Why a sweep with `--to` leaves interrupted jobs alone.
pub const TO_IS_ABOUT_CLAIMS: &str = "--to is about claims: no interrupted job is brought back in this run";

/// What is left to do for jobs whose requeue a unique key refuses; empty where they are failed instead.
pub fn unique_key(policy: &Policy, jobs: &Jobs) -> &'static str {
    match (policy.instead_of_requeue(jobs), jobs.actions.get(&Action::Fail)) {
        (Some(_), _) => "",
        (None, Some(fail)) if fail.refused.is_none() => {
            "fail them with --to fail --id ID; if other jobs hold the keys, --if-refused fail does so, or let those \
             run first"
        }
        _ => "if other jobs hold the keys, let those run first",
    }
}

/// The warning of a plan that a unique key will refuse the requeue of these jobs, or that they will be failed for it.
pub fn refused_beforehand(constraint: &str, ids: &[String], policy: &Policy, jobs: &Jobs) -> String {
    let shown = first_few(ids, NAMES, ids.len() as u64);
    let what = match unique_key(policy, jobs) {
        "" => "jobdoctor fails these instead",
        left => left,
    };
    format!("{constraint} will refuse to requeue {shown}: {what}")
}

/// What is wrong with an action after which `[interrupted]` selects a job that was ended by decision.
pub const ENDS_AS_INTERRUPTED: &str = "`interrupted.where` may select a job that a rule or the operator ended by this action, and a retry would bring it \
     back: set a column to :fail_code here and have `where` ask for 'WORKER_LOST', or choose a state that is not among its `states`";

/// The cautions of a preset that name an option: what they say may explain why a claim is unknown.
pub fn about_options(cautions: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    cautions.iter().filter(|(_, text)| is_about_option(text))
}

fn is_about_option(text: &str) -> bool {
    text.contains("--option")
}

/// The line of a plan about what is true of every job of this library; its command prints it. What an option would
/// settle is said in full.
pub fn cautions(jobs: &Jobs) -> Option<String> {
    let others = jobs.cautions.iter().filter(|(_, text)| !is_about_option(text));
    let names: Vec<&str> = others.map(|(name, _)| name.as_str()).collect();
    let (all, preset) = (count(names.len() as u64, "caution", "cautions"), &jobs.queue.preset);
    (!names.is_empty()).then(|| format!("{all} about {preset} ({}): jobdoctor presets show {preset}", names.join(", ")))
}

/// A command of the library's for these jobs: `{ids}` stands for all of them, `{id}` for one in a command of its own. An
/// id that is more than letters, digits and dashes could be more than an id there, and is left out; `None` without one.
pub fn filled_in(command: &str, ids: &[String]) -> Option<String> {
    let is_plain = |id: &&str| id.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let ids: Vec<&str> = ids.iter().map(String::as_str).filter(is_plain).collect();
    let each = || ids.iter().map(|id| command.replace("{id}", id)).collect::<Vec<_>>().join("\n");
    let filled = if command.contains("{id}") { each() } else { command.replace("{ids}", &ids.join(", ")) };
    (!ids.is_empty()).then_some(filled)
}

/// Why jobs are not retried unattended: nothing brings them back, the target sets no stall budget, or nothing counts.
pub fn interrupted_without_budget(is_retried: bool, is_set: bool) -> &'static str {
    match is_set {
        _ if !is_retried => {
            "jobdoctor brings back no interrupted job of this preset: take `interrupted` out of the target"
        }
        false => "needs `max_stalls` in the target: a job that kills its worker would come back for ever",
        true => {
            "nothing counts how often a job was lost, so that one that kills its worker would come back for ever: \
             `jobdoctor init --ledger` makes a table that counts"
        }
    }
}

/// The warning about jobs that were lost before, most often first.
pub fn lost_before(lost: &[(i64, &String)], policy: &Policy) -> String {
    let named = |(times, id): &(i64, &String)| match times {
        1 => format!("{id} (once)"),
        times => format!("{id} ({times} times)"),
    };
    let all: Vec<String> = lost.iter().map(named).collect();
    // What was lost once may have met a deploy.
    let again = lost.iter().take(NAMES).map(|(times, _)| times).filter(|times| **times > 1).min();
    let again = again.filter(|_| policy.max_stalls.is_none());
    let fails = if policy.interrupted.is_some() { "leaves" } else { "fails" };
    let fails =
        again.map_or_else(String::new, |least| format!("; --max-stalls {least} {fails} what was lost so often"));
    format!("lost before: {}{fails}", first_few(&all, NAMES, all.len() as u64))
}

/// The end of a list of warnings about run times, of which `more` are left out.
pub fn more_run_times(more: usize) -> String {
    format!("the same holds for {more} more; `jobdoctor stats --runtimes` shows run times")
}

const NAMES: usize = 5;

/// What to call a limit of this policy in a sentence; `key` is its name in the config file.
pub fn limit_name(policy: &Policy, preset: &str, allowed: Allowed, key: &str) -> String {
    let (span, target) = (age(allowed.span), &policy.thresholds.target);
    match allowed.set_by {
        SetBy::Flag => format!("--{key} {span}"),
        SetBy::Target => format!("{key} {span} of target {target}"),
        SetBy::Entry(n) => format!("{key} {span} of threshold {n} of target {target}"),
        SetBy::TooLong(n) => format!("{span} of too_long {n} of target {target}"),
        SetBy::Row => format!("the {span} of the row"),
        SetBy::Preset => format!("the {span} of preset {preset}"),
    }
}

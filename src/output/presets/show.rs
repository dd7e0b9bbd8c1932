use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.presets-show/v1`: all that is known of one queue, without a database.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetsShow {
    /// `jobdoctor.presets-show/v1`.
    pub schema: &'static str,
    /// Its name, for `--preset`.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The engines it knows.
    pub engines: Vec<String>,
    /// The versions of the library it was checked against.
    pub checked: Vec<String>,
    /// How it was checked: `live`, `schema` or `facts`.
    pub proof: String,
    /// The same in words.
    pub proof_detail: String,
    /// True if it came with the program; false for a mapping of the config file.
    pub built_in: bool,
    /// True if it is recognised without being named.
    pub detected: bool,
    /// What only the operator knows: said with `--option`, or with `options` of a target.
    pub options: Vec<PresetOption>,
    /// Variants of which exactly one must be recognised; a queue with none or several is refused.
    pub exactly_one: Vec<String>,
    /// What it says on each engine: first as it is, then with each of its variants.
    pub shapes: Vec<PresetShape>,
}

/// A preset on one engine, as it is or with one variant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetShape {
    /// The engine.
    pub engine: String,
    /// The variant; `null` for the preset as it is.
    pub variant: Option<String>,
    /// How the variant is recognised: conditions that must all hold, in words.
    pub recognised_by: Vec<String>,
    /// Why a queue of this variant is refused, if it is; there is no `queue` then.
    pub refused: Option<String>,
    /// What is known of the queue.
    pub queue: Option<PresetQueue>,
}

/// What a preset knows of a queue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetQueue {
    /// The schema that the library uses unless told otherwise.
    pub default_schema: Option<String>,
    /// The tables.
    pub tables: Vec<PresetTable>,
    /// What counts as in flight.
    pub in_flight: PresetInFlight,
    /// What the states mean, by their names.
    pub states: PresetStates,
    /// How times are spelled.
    pub times: Vec<PresetTime>,
    /// Who holds a claim; `null` where the tables do not say.
    pub owner: Option<PresetOwner>,
    /// What tells life from death, in the order in which it is asked.
    pub liveness: Vec<PresetLiveness>,
    /// Further rules: of trouble, and of requests to cancel.
    pub rules: Vec<PresetRule>,
    /// How attempts are counted.
    pub attempts: PresetAttempts,
    /// What the tables keep of jobs that have ended well, for `stats --runtimes`.
    pub finished: PresetFinished,
    /// What may be done to a job.
    pub actions: Vec<PresetAction>,
    /// What a sweep may do to a job that waits for too long, where the config file says so.
    pub waiting: Vec<PresetAction>,
    /// What keeps a step back.
    pub skips: Vec<PresetSkip>,
    /// Jobs that never run although no worker holds them: `check` counts them and warns.
    pub checks: Vec<PresetCheck>,
    /// How workers are woken after a commit.
    pub wake_ups: Vec<PresetWakeUp>,
    /// What must come true for a row once it is locked, as SQL; else its job is skipped.
    pub guard: Option<String>,
    /// What the dry run prints.
    pub cautions: Vec<PresetCaution>,
    /// What a worker that comes back late does: `fenced`, `by_state`, `by_id` or `unknown`.
    pub fencing: String,
    /// The same in words.
    pub fencing_detail: String,
    /// The library's own remedy.
    pub advice: Option<PresetAdvice>,
}

/// A table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetTable {
    /// The name that the preset gives it.
    pub name: String,
    /// Its name in the database.
    pub table: String,
    /// What it is for, in words.
    pub detail: String,
}

/// What counts as in flight.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetInFlight {
    /// The table whose rows are claims.
    pub table: String,
    /// What identifies a job.
    pub key: Vec<String>,
    /// The column with the state; `null` where a row's place is its state.
    pub state: Option<String>,
    /// A further condition, as SQL.
    pub condition: Option<String>,
    /// What is read, where that is more than one table, as SQL.
    pub from: Option<String>,
    /// Where the queue's name is.
    pub queue: Option<String>,
    /// Where the kind of work is.
    pub kind: Option<String>,
    /// Where the time of the claim is.
    pub claimed_at: Option<String>,
    /// What changes while a job is worked on, beside its signs of life.
    pub progress: Vec<String>,
    /// In words.
    pub detail: String,
}

/// The states by their meaning, as they are stored.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetStates {
    /// Not claimed yet.
    pub waiting: Vec<String>,
    /// Held by some owner.
    pub in_flight: Vec<String>,
    /// Ended well.
    pub done: Vec<String>,
    /// Ended badly, for good.
    pub failed: Vec<String>,
    /// Ended because somebody asked.
    pub cancelled: Vec<String>,
}

/// How times are spelled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetTime {
    /// In this column; `null` for all that are not named.
    pub column: Option<String>,
    /// The encodings, in the words of the preset format: any is read, the first is written.
    pub encodings: Vec<String>,
}

/// Who holds a claim.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetOwner {
    /// The column or expression that says who.
    pub id: String,
    /// The name that people know the owner by, where it is another one.
    pub name: Option<String>,
    /// Where the owner's host is.
    pub host: Option<String>,
    /// The table of owners.
    pub table: Option<String>,
    /// In words.
    pub detail: String,
}

/// A source of liveness.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetLiveness {
    /// `lease`, `heartbeat`, `owner`, `lock` or `age`.
    pub by: String,
    /// The column it reads.
    pub column: Option<String>,
    /// The preset's threshold, where it is a fixed one.
    pub threshold_seconds: Option<f64>,
    /// In words.
    pub detail: String,
}

/// A rule beside liveness.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetRule {
    /// `deadline_passed`, `max_runtime`, `owner_restarted` or `cancel_requested`.
    pub rule: String,
    /// In words.
    pub detail: String,
}

/// How attempts are counted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetAttempts {
    /// The counter.
    pub column: Option<String>,
    /// The most there may be: a number, a column or an expression.
    pub max: Option<String>,
    /// How often a job was lost before: a column or an expression; `null` where nothing tells.
    pub stalls: Option<String>,
    /// How, in words.
    pub counted: String,
    /// What becomes of a job that has used them up, in words.
    pub exhausted: String,
}

/// What the tables keep of jobs that have ended well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetFinished {
    /// True if it is told when their last run began and ended.
    pub told: bool,
    /// The column with its beginning.
    pub started: Option<String>,
    /// The column with its end.
    pub at: Option<String>,
    /// In words.
    pub detail: String,
}

/// What may be done to a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetAction {
    /// `requeue`, `fail` or `cancel`.
    pub action: String,
    /// The state it leads to.
    pub to: Option<String>,
    /// Why it is never done, if so.
    pub refused: Option<String>,
    /// The statements, in order.
    pub steps: Vec<PresetStep>,
    /// What is otherwise with `--delay`; `null` for other actions than a requeue, and where that is refused altogether.
    pub delayed: Option<PresetDelayed>,
}

/// How a requeue is otherwise with `--delay`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetDelayed {
    /// Why there is no such thing, if so.
    pub refused: Option<String>,
    /// The state it leads to instead.
    pub to: Option<String>,
    /// What becomes of columns beside, or instead.
    pub changes: Vec<PresetChange>,
}

/// One statement of an action: either changes to the claim's row, or a statement of the preset's own.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetStep {
    /// Column by column. Columns that are not here stay as they are.
    pub changes: Vec<PresetChange>,
    /// What the statement does, in words.
    pub does: Option<String>,
    /// The statement.
    pub sql: Option<String>,
}

/// What becomes of a column.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetChange {
    /// The column.
    pub column: String,
    /// True if a table of this kind may lack it; it is left out there.
    pub optional: bool,
    /// In words.
    pub detail: String,
    /// The expression, where it is one.
    pub sql: Option<String>,
}

/// Jobs that never run although no worker holds them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetCheck {
    /// Its name, which is the finding's id in `check`.
    pub name: String,
    /// What is counted.
    pub finds: String,
    /// What the library offers against it.
    pub remedy: String,
    /// The query that counts them, as SQL.
    pub sql: String,
}

/// What keeps a step back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetSkip {
    /// Its name.
    pub name: String,
    /// The actions it keeps back.
    pub actions: Vec<String>,
    /// The condition, as SQL.
    pub condition: String,
    /// Why.
    pub reason: String,
}

/// How workers are woken.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetWakeUp {
    /// The channel of a notification, as SQL.
    pub channel: Option<String>,
    /// What is sent there, as SQL.
    pub payload: Option<String>,
    /// A statement, where it is none.
    pub sql: Option<String>,
}

/// What only the operator knows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetOption {
    /// Its name.
    pub name: String,
    /// `integer`, `duration` or `word`.
    pub kind: String,
    /// Its value unless told otherwise; `null` if it must be said.
    pub default: Option<String>,
    /// The words it may be.
    pub values: Vec<String>,
    /// What it is.
    pub help: String,
}

/// What the dry run prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetCaution {
    /// Its name.
    pub name: String,
    /// The caution.
    pub text: String,
}

/// The library's own remedy. It is printed and never run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetAdvice {
    /// In words.
    pub text: Option<String>,
    /// As SQL.
    pub sql: Option<String>,
}

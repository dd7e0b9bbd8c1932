//! What is said where a request fails, with what to do about it.

use super::Field;
use crate::model::{Action, Remedy, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// A request that some queues cannot serve; [`Request::unsupported`] says what each is.
pub enum Request {
    LiveOwners,
    RestartByOwner,
    StartedBefore,
    OneHost { pattern: String, hosts: Vec<String> },
    WholeHostName { host: String, longest: usize },
    Hosts { has_owners: bool },
    Pattern(Field),
    Payload,
    GroupBy(Field),
    State { state: String, similar: String, in_flight: Vec<String> },
    Threshold,
    Action { to: Action, offered: Vec<&'static str> },
    Delay { is_jitter: bool, why: String },
    Stalls,
    RunTimes(String),
}

impl Request {
    /// What to say where a queue of that preset cannot serve the request, and what to do about it.
    pub fn unsupported(&self, preset: &str) -> (String, String) {
        let (message, hint) = match self {
            Request::LiveOwners => (
                format!("--alive-from: preset {preset} does not say who holds a job"),
                "stop every worker and sweep with --restart --all-owners",
            ),
            Request::RestartByOwner => (
                format!("--owner: preset {preset} does not say who holds a job"),
                "stop every worker and sweep with --all-owners",
            ),
            Request::StartedBefore => (
                format!("--started-before: preset {preset} does not say when a job was claimed"),
                "name the dead owners, with --host, --owner, --alive-from or --all-owners",
            ),
            Request::OneHost { pattern, hosts } => (
                format!("--owner {pattern} covers more than one host: {}", hosts.join(", ")),
                "name each host with --host or a pattern of its own, as in 'web1:*'; for all of them there is --all-owners",
            ),
            Request::WholeHostName { host, longest } => (
                format!(
                    "--host {host}: owners of preset {preset} keep only the first {longest} bytes of a host's name, so \
                     another host may look the same"
                ),
                "name the owners with --owner instead; `jobdoctor owners` lists them",
            ),
            Request::Hosts { has_owners } => (
                format!("--host: owners of preset {preset} do not name their host"),
                match has_owners {
                    true => "select by --owner instead; `jobdoctor owners` lists them",
                    false => "this table records no owner of a job",
                },
            ),
            Request::Pattern(field) => {
                let field = field.name();
                let hint = format!(
                    "leave --{field} out; `jobdoctor presets show {preset}` lists what the preset knows of a job"
                );
                return (format!("--{field}: preset {preset} has no {field} column, so it would match nothing"), hint);
            }
            Request::Payload => (
                format!("--payload: preset {preset} has no payload column, or this role may not read it"),
                "a mapping names the column: `payload` in [claim]; a role needs SELECT on it: see docs/rights.md",
            ),
            Request::GroupBy(field) => {
                let field = field.name();
                let hint = format!("`jobdoctor presets show {preset}` lists what the preset knows of a job");
                return (format!("--by {field}: preset {preset} has no {field} column"), hint);
            }
            Request::State { state, similar, in_flight } => {
                let message =
                    format!("--state {state}: jobs of preset {preset} are not in flight in that state{similar}");
                return (message, format!("states in flight are: {}", in_flight.join(", ")));
            }
            Request::Threshold => (
                format!("preset {preset} has no threshold of its own: how long must a claim be silent?"),
                "set it with --older 5m, or with `older` of the target in the config file",
            ),
            Request::Action { to, offered } => {
                return (format!("preset {preset} has no {to}"), format!("it has {}", offered.join(", ")));
            }
            Request::Delay { is_jitter, why } => {
                let flag = if *is_jitter { "--jitter" } else { "--delay" };
                (
                    format!("{flag}: a job of preset {preset} cannot be requeued for later: {why}"),
                    "leave --delay and --jitter out, in the config file too; --limit N requeues a few at a time",
                )
            }
            Request::Stalls => (
                format!("--max-stalls: nothing counts how often a job of preset {preset} was lost before"),
                "`jobdoctor init --ledger` makes a table that counts, where the queue's library takes one; or a mapping \
                 names a column that its requeue counts up, `stalls` in [attempts]. On SQLite a ledger counts only where \
                 attempts are counted or the key is AUTOINCREMENT",
            ),
            Request::RunTimes(why) => (
                format!("--runtimes: {why}"),
                "run times need a start and a finish time for completed jobs; this table does not keep them",
            ),
        };
        (message, hint.to_owned())
    }
}

/// Why a plan is not executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("target {0} is read-only in the config file")]
    ReadOnly(String),
    #[error("this is a standby; apply on its primary")]
    Standby,
    #[error("the plan is no longer the expected one: its digest is {digest} now, not {expected}")]
    OtherPlan { expected: String, digest: String },
    #[error("the plan has {steps} steps and --max-jobs allows {max}")]
    TooLarge { steps: u64, max: u64 },
    #[error("{0}. If that is right, say with --max-jobs how many jobs may move")]
    WrongList(String),
    #[error("the brake: {}", .0.join("; "))]
    Brake(Vec<String>),
}

/// The hint that names the option or the command.
pub fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::GivePassword => "PGPASSWORD, a password file (~/.pgpass) or --password-file can give one",
        Remedy::AllowMoreTime => "allow more time with --timeout, or narrow the selection",
        Remedy::LimitJobs => "try again, perhaps with --limit",
        Remedy::AllowNetworkFiles => {
            "run it on the host that has the disk, or add --network-files if every process that opens the \
             file runs on this host"
        }
        Remedy::AllowSecondName { is_mount: true } => {
            "mount the directory instead of the file; or add --second-name if every process that uses the file opens it \
             by this path"
        }
        Remedy::AllowSecondName { is_mount: false } => {
            "remove the other name; or add --second-name if every process that uses the file opens it by this path"
        }
        Remedy::Write => "or run `jobdoctor reclaim --apply`",
        Remedy::WaitForSweepLock => "or let this one wait with --lock-wait 30s",
        // The nearest preset refuses these tables when it is named, too.
        Remedy::NameOrMap { has_nearest: true } => {
            "draft a mapping of your own table with `jobdoctor adopt TABLE` (`jobdoctor help mapping`), or change the nearest \
             preset to fit (`jobdoctor presets show NAME` prints it in the format of a mapping)"
        }
        Remedy::NameOrMap { has_nearest: false } => {
            "draft a mapping of your own table: `jobdoctor adopt` lists those that may be a queue (`jobdoctor help mapping`); or \
             name a preset with --preset (`jobdoctor presets` lists them)"
        }
        Remedy::MakeLedger => "then create the ledger again with `jobdoctor init --ledger`",
    }
}

/// A sentence for a person, by how much it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Something an operator must know before going on.
    Warn(String),
    /// What the run did or would do.
    Note(String),
    /// The command to type next.
    Hint(String),
}

/// The sentence about ids that name no job.
pub fn no_such_job(table: &str, ids: &[String]) -> String {
    format!("no such job in {table}: {}", ids.join(", "))
}

/// `jobdoctor.log/v1`: a line of stderr with `--log-format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogLine {
    /// `jobdoctor.log/v1`.
    pub schema: &'static str,
    /// When the line was written, by this host's clock; null if that is out of range.
    #[schemars(with = "Option<String>")]
    pub time: Option<Timestamp>,
    /// `debug`, `info`, `warning` or `error`.
    pub level: &'static str,
    /// The sentence.
    pub message: String,
    /// The target, where it is one of several; null for one alone.
    pub target: Option<String>,
    /// The run; null before it has read the queue.
    pub run: Option<String>,
    /// The exit code; null unless this is the error that ended the run.
    pub code: Option<u8>,
    /// The name of the exit code; null unless this is the error that ended the run.
    pub kind: Option<&'static str>,
    /// What to try.
    pub hints: Vec<String>,
}

/// `jobdoctor.error/v1`: on stderr instead of a document on stdout.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDocument {
    /// `jobdoctor.error/v1`.
    pub schema: &'static str,
    /// The exit code.
    pub code: u8,
    /// The name of the exit code.
    pub kind: String,
    /// What went wrong.
    pub message: String,
    /// What to try.
    pub hints: Vec<String>,
}

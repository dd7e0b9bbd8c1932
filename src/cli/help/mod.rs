//! Topics of help, each a text file whose tables come from the code or a page of the documentation, and the examples on top of every command's help.

mod examples;
mod markdown;
mod page;

pub use examples::{Examples, Form, dressed};
pub use page::{Block, Page};

use super::environment::VARIABLES;
use super::exit::Exit;
use crate::output::SCHEMA_NAMES;

/// A page of help that belongs to no single command.
pub struct Topic {
    /// Its name, as after `jobdoctor help`.
    pub name: &'static str,
    /// Its subject, for the list of topics.
    pub about: &'static str,
    text: &'static str,
}

/// Every topic. `presets` also ends the help of the command of that name.
pub const TOPICS: [Topic; 7] = [
    Topic { name: "config", about: "keys of the config file", text: include_str!("config.txt") },
    Topic { name: "environment", about: "environment variables", text: include_str!("environment.txt") },
    Topic { name: "exit-codes", about: "what each exit code means", text: include_str!("exit-codes.txt") },
    Topic { name: "json", about: "JSON documents and their schemas", text: include_str!("json.txt") },
    Topic {
        name: "mapping",
        about: "keys and examples of a mapping, for your own table",
        text: include_str!("../../../docs/mapping.md"),
    },
    Topic {
        name: "presets",
        about: "known queues, and mappings of your own tables",
        text: include_str!("presets.txt"),
    },
    Topic { name: "recipes", about: "commands to copy", text: include_str!("recipes.txt") },
];

impl Topic {
    /// The topic of that name.
    pub fn find(name: &str) -> Option<&'static Topic> {
        TOPICS.iter().find(|topic| topic.name == name)
    }

    /// Its page, tables filled in.
    pub fn page(&self) -> Page {
        if self.name == "mapping" {
            return Page::markdown(self.text);
        }
        Page::parse(self.text, |table| match table {
            "exit-codes" => Exit::ALL.iter().map(|exit| (exit.code().to_string(), exit.meaning().to_owned())).collect(),
            "environment" => pairs(&VARIABLES),
            "config-keys" => pairs(&KEYS),
            "documents" => SCHEMA_NAMES.iter().map(|name| (format!("jobdoctor.{name}/v1"), String::new())).collect(),
            _ => Vec::new(),
        })
    }
}

fn pairs(table: &[(&str, &str)]) -> Vec<(String, String)> {
    table.iter().map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned())).collect()
}

/// Every key of the config file outside of mappings. A test compares it with what the parser reads.
const KEYS: [(&str, &str); 37] = [
    ("default_target", "target used when none is named"),
    ("[target.NAME]", "a named queue, with the keys below"),
    ("db", "address of its database, as for --db"),
    ("preset", "its preset or mapping, as for --preset"),
    ("schema", "schema of its tables, as for --schema"),
    ("table", "its table of jobs, as for --table"),
    ("options", "a table of options of the preset, as for --option"),
    ("older", "silence after which a claim is stuck, unless --older is given"),
    ("max_runtime", "how long a job may run if its row has no limit of its own; longer is trouble"),
    ("[[target.NAME.threshold]]", "the two keys above for single queues or kinds; the first entry that matches counts"),
    (
        "[[target.NAME.too_long]]",
        "a limit: how long a job may be in a state, and the action then; has the six keys below",
    ),
    ("state", "of a limit: the state, as the queue names it"),
    ("after", "of a limit: how long a job may be in the state"),
    ("since", "of a limit for waiting jobs: the column with the time since when they wait"),
    ("action", "of a limit or a rule: requeue, fail, cancel or time_out; of a limit for waiting jobs also wake"),
    ("queue", "of a threshold or a limit: a pattern of queues"),
    ("kind", "of a threshold or a limit: a pattern of kinds"),
    ("confirm_after", "time until a second snapshot, unless --confirm-after is given"),
    ("rules", "rules about trouble to act on, as for --rule; a table of name and action sets the action of one"),
    ("name", "of a rule with an action: its name"),
    ("max_jobs", "most steps of one plan, unless --max-jobs is given; as a key it does not override the brake"),
    ("brake", "false disables the brake for this target"),
    ("delay", "time after which requeued jobs may run, unless --delay is given"),
    ("jitter", "time over which requeued jobs are spread, unless --jitter is given"),
    ("if_refused", "fail: fail a job whose requeue a unique key refuses"),
    ("max_stalls", "losses after which a job is failed, unless --max-stalls is given"),
    ("journal", "on, off or required; required refuses a run without a journal"),
    ("min_interval", "least time between two sweeps, unless --min-interval is given"),
    ("lock_wait", "how long a sweep waits for another one, unless --lock-wait is given"),
    ("warn_above", "warn if a run moved more jobs than this, unless --warn-above is given"),
    ("read_only", "true refuses --apply and init with exit code 4"),
    ("timeout", "how long a command may take, unless --timeout is given"),
    ("network_files", "true allows writing to a SQLite file on a network file system"),
    ("second_name", "true allows the use of a SQLite file that has a second name"),
    ("foreign_keys", "false does not enforce foreign keys of a SQLite file, for declarations that cannot be enforced"),
    ("password_file", "file whose first line is the password, unless --password-file is given"),
    ("[mapping.NAME]", "a home-made table: jobdoctor help mapping"),
];

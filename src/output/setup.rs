//! Documents about the setup: what `check` finds of a queue and of the config file, what `env` shows, what `init` made.

use super::columns::{Columns, column};
use super::format::{Cell, Facts, Table, Tone};
use super::stats::run_time;
use super::{ErrorDocument, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.check/v1`: whether jobdoctor can do its work here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Check {
    /// `jobdoctor.check/v1`.
    pub schema: &'static str,
    /// The database's time of this snapshot; null where none could be made.
    #[schemars(with = "Option<String>")]
    pub store_time: Option<Timestamp>,
    /// Which queue; null where none could be opened.
    pub target: Option<Target>,
    /// True if listing would work.
    pub can_list: bool,
    /// True if reclaiming would work.
    pub can_reclaim: bool,
    /// What was checked, the worst first.
    pub findings: Vec<CheckFinding>,
    /// What only a write can show, so it was not checked. Empty where nothing can be reclaimed.
    pub not_tried: Vec<&'static str>,
    /// The command that tries it, in transactions that are rolled back; null where it cannot be tried.
    pub try_with: Option<String>,
}

impl Check {
    /// The document where nothing could be examined: the queue cannot be opened or read, or no preset fits it.
    pub fn failed(error: ErrorDocument) -> Check {
        let fix = Some(error.hints.join("; ")).filter(|fix| !fix.is_empty());
        let (id, severity, detail) = (error.kind, Severity::Error, error.message);
        Check {
            schema: "jobdoctor.check/v1",
            store_time: None,
            target: None,
            can_list: false,
            can_reclaim: false,
            findings: vec![CheckFinding { id, severity, detail, fix, count_seconds: None }],
            not_tried: Vec::new(),
            try_with: None,
        }
    }

    /// The findings as lines for people.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        findings(&self.findings, &mut facts);
        if !self.not_tried.is_empty() {
            let how = self.try_with.as_deref().unwrap_or("cannot be tried here");
            facts.add("not tried", format!("{}: {how}", self.not_tried.join(", ")));
        }
        facts
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckFinding {
    /// A word for programs.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was seen.
    pub detail: String,
    /// What to do about it.
    pub fix: Option<String>,
    /// For how long the count of the claims in flight ran, if the finding is about the cost of a snapshot; else null.
    pub count_seconds: Option<f64>,
}

/// How bad a finding of `check` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// jobdoctor cannot do its work.
    Error,
    /// jobdoctor can do its work, with a drawback.
    Warning,
    /// As it should be.
    Ok,
}

/// Adds findings as lines for people.
pub(super) fn findings(findings: &[CheckFinding], facts: &mut Facts) {
    for finding in findings {
        let (word, tone) = match finding.severity {
            Severity::Error => ("error", Tone::Bad),
            Severity::Warning => ("warning", Tone::Warn),
            Severity::Ok => ("ok", Tone::Plain),
        };
        let cost = finding.count_seconds.map(run_time);
        let cost = cost.map(|time| format!(" (counting the claims took {time})")).unwrap_or_default();
        facts.add(word, Cell::new(format!("{}: {}{cost}", finding.id, finding.detail), tone));
        if let Some(fix) = &finding.fix {
            facts.add("", format!("to fix it: {fix}"));
        }
    }
}

/// `jobdoctor.config-check/v1`: whether the config file can be used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigCheck {
    /// `jobdoctor.config-check/v1`.
    pub schema: &'static str,
    /// The file.
    pub path: String,
    /// The targets and mappings, in the order of the file; or why the file cannot be read.
    pub findings: Vec<CheckFinding>,
}

impl ConfigCheck {
    /// The document as lines for people.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        facts.add("config", self.path.as_str());
        findings(&self.findings, &mut facts);
        facts
    }
}

/// `jobdoctor.env/v1`: every setting in force and where it came from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Env {
    /// `jobdoctor.env/v1`.
    pub schema: &'static str,
    /// `postgres` or `sqlite`; null where no database is named.
    pub engine: Option<String>,
    /// The database, without its secrets; null where none is named.
    pub database: Option<String>,
    /// The settings: this program's own first, then those of the connection.
    pub settings: Vec<EnvSetting>,
    /// What is wrong with the setup, though it stops nothing.
    pub warnings: Vec<String>,
}

/// One setting.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EnvSetting {
    /// Its name: as in the config file, or as libpq has it, with `postgres.` before it.
    pub name: String,
    /// Its value; `(hidden)` if it is a secret, null if it is not set.
    pub value: Option<String>,
    /// What set it: a flag, a variable, a file and line, or `default`.
    pub origin: String,
}

impl Env {
    /// The settings as a table for people.
    pub fn table(&self) -> Table {
        let columns = Columns::<EnvSetting>::new()
            .add(column("setting", 0, None), "name", |setting| setting.name.as_str().into())
            .add(column("value", 0, Some(24)), "value", |setting| setting.value.as_deref().unwrap_or("-").into())
            .add(column("from", 0, Some(24)), "origin", |setting| setting.origin.as_str().into());
        columns.table(self.settings.iter())
    }
}

/// `jobdoctor.init/v1`: what `init` made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Init {
    /// `jobdoctor.init/v1`.
    pub schema: &'static str,
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The database, without its secrets.
    pub database: String,
    /// The statements that were run, in one transaction.
    pub statements: Vec<String>,
    /// False if they were only printed.
    pub created: bool,
}

//! A preset or mapping as its author wrote it, for one engine and one set of variants: typed, and not yet compared with
//! live tables.

mod actions;
mod claim;
mod text;
mod values;

pub(crate) use actions::{ActionDoc, CheckDoc, NotifyDoc, SkipDoc, StepDoc, WakeUpDoc};
pub(crate) use claim::{By, ClaimDoc, ClaimFrom, LivenessDoc, OwnerDoc, OwnerRows, SilentAfterDoc};
pub(crate) use values::{AttemptsDoc, FinishedDoc, MaxDoc, MaxRuntimeDoc, RulesDoc, Times};

use super::SpecError;
use super::encoding::Zone;
use super::fields::{Field, Fields, Fragment, Read, Word, Written};
use super::node::Node;
use super::queue::{Fencing, States};
use super::template::Template;
use crate::model::{Action, Engine};
use std::collections::BTreeMap;

/// What a preset says on one engine, with its variants laid over it.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) fencing: Fencing,
    pub(crate) schema: Option<String>,
    /// Logical names, and names in the database.
    pub(crate) tables: Vec<(String, String)>,
    pub(crate) time: Times,
    /// The zone of times that name none.
    pub(crate) time_zone: Option<Zone>,
    pub(crate) states: States,
    pub(crate) claim: ClaimDoc,
    pub(crate) owner: OwnerDoc,
    pub(crate) attempts: AttemptsDoc,
    pub(crate) rules: RulesDoc,
    pub(crate) finished: Option<FinishedDoc>,
    pub(crate) sql: BTreeMap<String, Template>,
    pub(crate) actions: Vec<(Action, ActionDoc)>,
    /// What is done to jobs that wait.
    pub(crate) waiting: Vec<(Action, ActionDoc)>,
    pub(crate) skips: Vec<(String, SkipDoc)>,
    pub(crate) checks: Vec<(String, CheckDoc)>,
    pub(crate) notify: Vec<NotifyDoc>,
    pub(crate) cautions: Vec<(String, String)>,
    pub(crate) show: Vec<(String, Written)>,
    pub(crate) advice: Option<AdviceDoc>,
    /// Why there can be no ledger beside these tables.
    pub(crate) no_ledger: Option<String>,
}

/// The library's own remedy, which is printed and never run.
#[derive(Debug, Clone)]
pub(crate) struct AdviceDoc {
    pub(crate) text: Option<String>,
    pub(crate) sql: Option<String>,
}

impl Document {
    /// Types a document whose engine leaves are picked and whose variants are laid over it.
    pub(in crate::preset) fn of(document: &str, name: &str, node: Node, engine: Engine) -> Result<Document, SpecError> {
        let mut root = Fields::of(document, "", node)?;
        for key in ["format", "title", "home", "engines", "checked", "proof", "live", "detect", "variant", "options"] {
            // Read by the preset itself, before the engine and the variants are known.
            root.take(key);
        }
        let claim: ClaimDoc = root.must("claim")?;
        let mut tables = root.named("tables")?;
        let owner: OwnerDoc = root.get_or_default("owner")?;
        let of_claim = if let ClaimFrom::Table(table) = &claim.from { Some(table) } else { None };
        for table in of_claim.into_iter().chain(&owner.table) {
            // A table that [tables] does not name goes by its own name.
            if !tables.iter().any(|(logical, _)| *logical == table.text) {
                tables.push((table.text.clone(), table.text.clone()));
            }
        }
        let states = root.take("states").map(|field| States::read(field, engine)).transpose()?.unwrap_or_default();
        let document = Document {
            name: root.text("name")?.unwrap_or_else(|| name.to_owned()),
            fencing: root.get("fencing")?.unwrap_or(Fencing::Unknown),
            schema: root.text("schema")?,
            tables,
            time: root.get_or_default("time")?,
            time_zone: root.get("time_zone")?,
            finished: root.take("finished").map(|field| FinishedDoc::read(field, &states)).transpose()?,
            states,
            claim,
            owner,
            attempts: root.get_or_default("attempts")?,
            rules: root.get_or_default("rules")?,
            sql: root.named::<Fragment>("sql")?.into_iter().map(|(name, fragment)| (name, fragment.sql)).collect(),
            actions: root.take("action").map(ActionDoc::all).transpose()?.unwrap_or_default(),
            waiting: root.take("waiting").map(ActionDoc::all_of_waiting).transpose()?.unwrap_or_default(),
            skips: root.named("skip")?,
            checks: root.named("check")?,
            notify: root.named("notify")?.into_iter().map(|(_, notify)| notify).collect(),
            cautions: root.named("caution")?,
            show: root.named("show")?,
            advice: root.get("advice")?,
            no_ledger: root.text("no_ledger")?,
        };
        root.finish()?;
        Ok(document)
    }
}

impl Word for Fencing {
    const WORDS: &'static [(&'static str, Fencing)] = &[
        ("fenced", Fencing::Fenced),
        ("by state", Fencing::ByState),
        ("by id", Fencing::ById),
        ("unknown", Fencing::Unknown),
    ];
}

impl Read for AdviceDoc {
    fn read(field: Field<'_>) -> Result<AdviceDoc, SpecError> {
        let mut fields = field.table()?;
        let advice = AdviceDoc { text: fields.text("text")?, sql: fields.text("sql")? };
        if advice.text.is_none() && advice.sql.is_none() {
            return Err(fields.error("needs `text`, `sql` or both"));
        }
        fields.finish()?;
        Ok(advice)
    }
}

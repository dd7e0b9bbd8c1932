//! A preset or mapping as its author wrote it, for one engine and one set of variants: typed, but not yet held against the
//! live tables.

mod actions;
mod advice;
mod attempts;
mod check;
mod claim;
mod delayed;
mod finished;
mod owner;
mod rules;
mod states;
mod times;

pub(super) use actions::{ActionDoc, AttemptsWord, NotifyDoc, SkipDoc, StepDoc};
pub(super) use advice::AdviceDoc;
pub(super) use attempts::{AttemptsDoc, MaxDoc};
pub(super) use check::CheckDoc;
pub(super) use claim::{By, ClaimDoc, ClaimFrom, LivenessDoc, SilentAfterDoc};
pub(super) use finished::FinishedDoc;
pub(super) use owner::OwnerDoc;
pub(super) use rules::{MaxRuntimeDoc, RulesDoc};
pub(super) use times::Times;

use super::SpecError;
use super::fields::{Field, Fields, Written};
use super::node::Node;
use super::queue::{Counted, Exhausted, Fencing, MaxCounts, States};
use super::template::Template;
use crate::model::Action;
use actions::{actions, notify, skip};
use advice::{advice, words};
use attempts::attempts;
use check::check;
use claim::claim;
use finished::finished;
use owner::owner;
use rules::rules;
use states::states;
use std::collections::BTreeMap;
use times::times;

/// See the module.
#[derive(Debug, Clone)]
pub struct Document {
    pub(in crate::preset) name: String,
    pub(in crate::preset) fencing: Fencing,
    pub(in crate::preset) schema: Option<String>,
    pub(in crate::preset) tables: Vec<(String, String)>,
    pub(in crate::preset) time: Times,
    pub(in crate::preset) states: States,
    pub(in crate::preset) claim: ClaimDoc,
    pub(in crate::preset) owner: OwnerDoc,
    pub(in crate::preset) attempts: AttemptsDoc,
    pub(in crate::preset) rules: RulesDoc,
    pub(in crate::preset) finished: Option<FinishedDoc>,
    pub(in crate::preset) sql: BTreeMap<String, Template>,
    pub(in crate::preset) actions: Vec<(Action, ActionDoc)>,
    /// What is done to jobs that wait, by `[waiting]`.
    pub(in crate::preset) waiting: Vec<(Action, ActionDoc)>,
    pub(in crate::preset) skips: Vec<SkipDoc>,
    pub(in crate::preset) checks: Vec<CheckDoc>,
    pub(in crate::preset) notify: Vec<NotifyDoc>,
    /// By name.
    pub(in crate::preset) cautions: Vec<(String, String)>,
    pub(in crate::preset) show: Vec<(String, Written)>,
    pub(in crate::preset) advice: Option<AdviceDoc>,
    /// By column.
    pub(in crate::preset) words: Vec<(String, String)>,
}

impl Document {
    /// Types a document whose engine leaves are picked and whose variants are laid over it.
    ///
    /// # Errors
    /// Unknown keys, wrong kinds of values, fragments that cannot be read; with key and line.
    pub(in crate::preset) fn of(document: &str, name: &str, node: Node) -> Result<Document, SpecError> {
        let mut root = Fields::of(document, "", node)?;
        for key in ["format", "title", "engines", "checked", "proof", "live", "detect", "variant", "options"] {
            // Read by the preset itself, before the engine and the variants are known.
            root.take(key);
        }
        let claim = claim(root.need("claim")?.table()?)?;
        let mut tables = match root.take("tables") {
            Some(field) => field.text_table()?,
            None => Vec::new(),
        };
        if let ClaimFrom::Table(table) = &claim.from
            && !tables.iter().any(|(logical, _)| *logical == table.text)
        {
            tables.push((table.text.clone(), table.text.clone()));
        }
        let owner = root.take("owner").map(|field| owner(field.table()?)).transpose()?.unwrap_or_default();
        if let Some(table) = &owner.table
            && !tables.iter().any(|(logical, _)| *logical == table.text)
        {
            tables.push((table.text.clone(), table.text.clone()));
        }
        let states = root.take("states").map(|field| states(field.table()?)).transpose()?.unwrap_or_default();
        let document = Document {
            name: root.text("name")?.unwrap_or_else(|| name.to_owned()),
            fencing: root.take("fencing").map(fencing).transpose()?.unwrap_or(Fencing::Unknown),
            schema: root.text("schema")?,
            tables,
            time: root.take("time").map(|field| times(field.table()?)).transpose()?.unwrap_or_default(),
            finished: root.take("finished").map(|field| finished(field.table()?, &states)).transpose()?,
            states,
            claim,
            owner,
            attempts: match root.take("attempts") {
                Some(field) => attempts(field.table()?)?,
                None => AttemptsDoc {
                    column: None,
                    max: None,
                    stalls: None,
                    counted: Counted::NotInTheTable,
                    exhausted: Exhausted::Leave,
                    max_counts: MaxCounts::Runs,
                },
            },
            rules: root.take("rules").map(|field| rules(field.table()?)).transpose()?.unwrap_or_default(),
            sql: fragments(root.take("sql"))?,
            actions: root.take("action").map(|field| actions(field.table()?)).transpose()?.unwrap_or_default(),
            waiting: root.take("waiting").map(|field| actions(field.table()?)).transpose()?.unwrap_or_default(),
            skips: named(root.take("skip"), skip)?,
            checks: named(root.take("check"), check)?,
            notify: named(root.take("notify"), notify)?,
            cautions: root.take("caution").map(Field::text_table).transpose()?.unwrap_or_default(),
            show: match root.take("show") {
                Some(field) => field
                    .table()?
                    .rest()
                    .into_iter()
                    .map(|(name, field)| Ok((name, field.written()?)))
                    .collect::<Result<_, SpecError>>()?,
                None => Vec::new(),
            },
            advice: root.take("advice").map(|field| advice(field.table()?)).transpose()?,
            words: words(root.take("words"))?,
        };
        root.finish()?;
        Ok(document)
    }
}

fn fencing(field: Field<'_>) -> Result<Fencing, SpecError> {
    field.word(&[
        ("fenced", Fencing::Fenced),
        ("by state", Fencing::ByState),
        ("by id", Fencing::ById),
        ("unknown", Fencing::Unknown),
    ])
}

fn fragments(field: Option<Field<'_>>) -> Result<BTreeMap<String, Template>, SpecError> {
    let Some(field) = field else { return Ok(BTreeMap::new()) };
    field.table()?.rest().into_iter().map(|(name, field)| Ok((name, template(field)?.1))).collect()
}

fn named<T>(
    field: Option<Field<'_>>,
    read: impl Fn(String, Fields<'_>) -> Result<T, SpecError>,
) -> Result<Vec<T>, SpecError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    field.table()?.rest().into_iter().map(|(name, field)| read(name, field.table()?)).collect()
}

fn template(field: Field<'_>) -> Result<(Written, Template), SpecError> {
    let written = field.written()?;
    let template = Template::parse(&written.text).map_err(|why| written.error(why.0))?;
    Ok((written, template))
}

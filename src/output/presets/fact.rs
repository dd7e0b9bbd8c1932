//! One fact of a page, and the section that it stands in.

use schemars::JsonSchema;
use serde::Serialize;

/// A heading and the facts under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PresetSection {
    /// The heading.
    pub title: String,
    /// The facts.
    pub facts: Vec<PresetFact>,
}

/// One fact. Names of columns and tables, values and SQL stand in backquotes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PresetFact {
    /// What it is about. Several facts in a row may share it.
    pub label: String,
    /// True if that is the name of a table, a column or an option.
    pub is_name: bool,
    /// The fact.
    pub text: String,
    /// The engine it is true on; null if it is true on all of them.
    pub engine: Option<String>,
}

/// A fact under a label of ours.
pub(super) fn fact(label: impl Into<String>, text: impl Into<String>) -> PresetFact {
    PresetFact { label: label.into(), is_name: false, text: text.into(), engine: None }
}

/// A fact about a table, a column or an option.
pub(super) fn name_fact(label: impl Into<String>, text: impl Into<String>) -> PresetFact {
    PresetFact { is_name: true, ..fact(label, text) }
}

/// The author's reason for what a label says: after the facts of that label, or under `why`.
pub(super) fn why(label: &str, why: &Option<String>) -> Option<PresetFact> {
    let text = |why: &String| if label == "why" { why.clone() } else { format!("why: {why}") };
    why.as_ref().map(|why| fact(label, text(why)))
}

impl PresetFact {
    /// The text, after its engine.
    pub(super) fn with_engine(&self) -> String {
        match &self.engine {
            Some(engine) => format!("on {engine}: {}", self.text),
            None => self.text.clone(),
        }
    }
}

/// What identifies a fact in its section: the label, and how often it came before.
pub(super) type FactKey = (String, usize);

/// Facts by their keys.
pub(super) fn keyed(facts: &[PresetFact]) -> Vec<(FactKey, &PresetFact)> {
    let mut keyed: Vec<(FactKey, &PresetFact)> = Vec::new();
    for fact in facts {
        let before = keyed.iter().filter(|((label, _), _)| *label == fact.label).count();
        keyed.push(((fact.label.clone(), before), fact));
    }
    keyed
}

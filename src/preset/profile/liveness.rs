//! Sources of liveness, maxima and the spelling of times, as they are written: where an option stands for a value, it is named.

use super::sql::sql_of_text;
use super::tables::bare;
use super::variants::texts;
use super::{LifeSign, Threshold, TimeProfile};
use crate::model::parse_duration;
use crate::preset::document::Document;
use crate::preset::node::{Node, Value};

pub(super) fn liveness(document: &Document, root: &Node) -> Vec<LifeSign> {
    let sources = root.get("claim").and_then(|claim| claim.get("liveness"));
    let Some(Node { value: Value::Array(sources), .. }) = sources else { return Vec::new() };
    sources.iter().map(|source| life_sign(document, source)).collect()
}

fn life_sign(document: &Document, source: &Node) -> LifeSign {
    let by = text(source, "by").unwrap_or_default();
    let column = match by.as_str() {
        "owner" => document.owner.heartbeat.as_ref().map(|heartbeat| heartbeat.text.clone()),
        _ => text(source, "column").map(|column| bare(document, &column)),
    };
    LifeSign {
        column,
        plus: text(source, "plus").map(|plus| bare(document, &plus)),
        silent_after: text(source, "silent_after").map(|text| threshold(document, text)),
        held: text(source, "held").map(|held| sql_of_text(document, &held)),
        free_is_dead: text(source, "free").is_some_and(|free| free == "dead"),
        by,
    }
}

fn threshold(document: &Document, text: String) -> Threshold {
    match (text.as_str(), text.strip_prefix("option "), parse_duration(&text)) {
        ("required", _, _) => Threshold::Required,
        (_, Some(option), _) => Threshold::Option(option.to_owned()),
        (_, None, Ok(span)) => Threshold::Span(span),
        (_, None, Err(_)) => Threshold::Column(bare(document, &text)),
    }
}

pub(super) fn times(root: &Node) -> Vec<TimeProfile> {
    let Some(Node { value: Value::Table(times), .. }) = root.get("time") else { return Vec::new() };
    let time = |(name, node): &(String, Node)| TimeProfile {
        column: Some(name.clone()).filter(|name| name != "default"),
        encodings: texts(node),
    };
    times.iter().filter(|(name, _)| name != "sentinels").map(time).collect()
}

/// The maximum of attempts: a number, a column, an expression or an option.
pub(super) fn max(root: &Node) -> Option<String> {
    text(root.get("attempts")?, "max")
}

/// The longest a run may take, where an option says it.
pub(super) fn max_runtime(root: &Node) -> Option<String> {
    text(root.get("rules")?, "max_runtime").filter(|text| text.starts_with("option "))
}

fn text(node: &Node, key: &str) -> Option<String> {
    node.get(key).map(|node| texts(node).concat())
}

use super::presets::{PresetPage, Presets};
use super::{
    Adopt, AdoptTables, Check, ConfigCheck, Env, ErrorDocument, Health, History, HistoryOne, Init, LogLine, Owners,
    Reclaim, SavedPlan, Show, Stale, Stats, StatsRuntimes, Targets,
};
use schemars::{Schema, schema_for};
use serde_json::Value;

/// The files of docs/schemas by name, as `build.rs` lists them. The text takes less than half the room of the code that
/// derives it.
const COMMITTED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

/// What prints the document of `reclaim`.
const LIKE_RECLAIM: [&str; 2] = ["sweep", "undo"];

/// The documents with a schema, by their names for `jobdoctor schema`.
pub fn schema_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = COMMITTED.iter().map(|(name, _)| *name).chain(LIKE_RECLAIM).collect();
    names.sort_unstable();
    names
}

/// The JSON Schema of a document.
pub fn schema(name: &str) -> Option<Value> {
    let file = if LIKE_RECLAIM.contains(&name) { "reclaim" } else { name };
    let (_, text) = COMMITTED.iter().find(|(committed, _)| *committed == file)?;
    let mut schema: Value = serde_json::from_str(text).ok()?;
    schema["title"] = title(name).into();
    Some(schema)
}

fn title(name: &str) -> String {
    format!("jobdoctor.{name}/v1")
}

/// The JSON Schema of each document as its type has it now, which a test compares with docs/schemas.
pub fn derived_schemas() -> [(&'static str, Schema); 21] {
    let schemas = [
        ("adopt", schema_for!(Adopt)),
        ("adopt-tables", schema_for!(AdoptTables)),
        ("check", schema_for!(Check)),
        ("config-check", schema_for!(ConfigCheck)),
        ("env", schema_for!(Env)),
        ("error", schema_for!(ErrorDocument)),
        ("health", schema_for!(Health)),
        ("history", schema_for!(History)),
        ("history-run", schema_for!(HistoryOne)),
        ("init", schema_for!(Init)),
        ("log", schema_for!(LogLine)),
        ("owners", schema_for!(Owners)),
        ("plan", schema_for!(SavedPlan)),
        ("presets", schema_for!(Presets)),
        ("presets-show", schema_for!(PresetPage)),
        ("reclaim", schema_for!(Reclaim)),
        ("show", schema_for!(Show)),
        ("stale", schema_for!(Stale)),
        ("stats", schema_for!(Stats)),
        ("stats-runtimes", schema_for!(StatsRuntimes)),
        ("targets", schema_for!(Targets)),
    ];
    schemas.map(|(name, mut schema)| {
        schema.insert("title".to_owned(), title(name).into());
        (name, schema)
    })
}

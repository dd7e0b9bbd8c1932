use super::{Check, Env, ErrorDocument, Init, Owners, Presets, PresetsShow, Reclaim, SavedPlan, Show, Stale};
use schemars::{Schema, schema_for};

/// The documents that have a schema, by the name `jobdoctor schema` knows them under.
pub const NAMES: [&str; 12] =
    ["check", "env", "error", "init", "owners", "plan", "presets", "presets-show", "reclaim", "show", "stale", "sweep"];

/// The JSON Schema of a document.
pub fn schema(name: &str) -> Option<Schema> {
    let mut schema = match name {
        "check" => schema_for!(Check),
        "env" => schema_for!(Env),
        "error" => schema_for!(ErrorDocument),
        "init" => schema_for!(Init),
        "owners" => schema_for!(Owners),
        "plan" => schema_for!(SavedPlan),
        "presets" => schema_for!(Presets),
        "presets-show" => schema_for!(PresetsShow),
        // The same document under two names.
        "reclaim" | "sweep" => schema_for!(Reclaim),
        "show" => schema_for!(Show),
        "stale" => schema_for!(Stale),
        _ => return None,
    };
    schema.insert("title".to_owned(), format!("jobdoctor.{name}/v1").into());
    Some(schema)
}

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
    schema["title"] = format!("jobdoctor.{name}/v1").into();
    Some(schema)
}

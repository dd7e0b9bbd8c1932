use crate::preset::template::Template;

/// Jobs that never run, or not for hours, although no worker holds them, so that no listing has them: `[check.NAME]`.
#[derive(Debug, Clone)]
pub struct CheckSpec {
    /// Its name in the preset.
    pub name: String,
    /// A query that returns their number: one row, one integer.
    pub sql: Template,
    /// What the number counts, as the beginning of a sentence.
    pub finds: String,
    /// What the library offers against it.
    pub remedy: String,
}

use super::CheckFinding;
use super::check::findings;
use super::format::Facts;
use schemars::JsonSchema;
use serde::Serialize;

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

use schemars::JsonSchema;
use serde::Serialize;

/// What the brake makes of a plan, in a dry run too.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Brake {
    /// True if the plan is not applied because too much looks dead at once.
    pub pulled: bool,
    /// The evidence, as sentences; also where the operator has lifted it. Empty where nothing is odd.
    pub why: Vec<String>,
    /// What lifts it, or has lifted it; null where nothing does, as on a standby, or there is nothing to lift.
    pub lift: Option<String>,
}

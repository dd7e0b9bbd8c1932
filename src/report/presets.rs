use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.presets/v1`: the queues that are known.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Presets {
    /// `jobdoctor.presets/v1`.
    pub schema: &'static str,
    /// The presets and mappings, by name.
    pub presets: Vec<PresetEntry>,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetEntry {
    /// Its name, for `--preset`.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The engines it knows.
    pub engines: Vec<String>,
    /// The versions of the library it was checked against.
    pub checked: Vec<String>,
    /// How it was checked: `live`, `schema` or `facts`.
    pub proof: String,
    /// True if it came with the program; false for a mapping of the config file.
    pub built_in: bool,
    /// True if it is recognised without being named.
    pub detected: bool,
    /// What tells life from death, best source first: `lease`, `heartbeat`, `owner`, `lock`, `age`. Empty where nothing does.
    pub liveness: Vec<String>,
    /// Variants of the queue in which that differs.
    pub variant_liveness: Vec<PresetVariantLiveness>,
    /// What can be done: `list`, `requeue`, `fail`, `cancel`.
    pub can: Vec<String>,
}

/// What tells life from death in a variant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetVariantLiveness {
    /// The variant.
    pub variant: String,
    /// See [`PresetEntry::liveness`].
    pub liveness: Vec<String>,
}

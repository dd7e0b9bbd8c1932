//! Queues for the other properties: presets resolved against tables that need no database.

use crate::support::doctor::built_in;
use jobdoctor::model::Engine;
use jobdoctor::preset::{Jobs, LiveColumn, LiveSchema, LiveTable, Place, Preset, resolve};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::OnceLock;

/// A table that exists in thought only.
pub fn table(name: &str, columns: &[(&str, &str)]) -> LiveTable {
    LiveTable {
        schema: "main".to_owned(),
        name: name.to_owned(),
        visible: true,
        columns: columns
            .iter()
            .map(|(name, type_name)| LiveColumn {
                name: (*name).to_owned(),
                type_name: (*type_name).to_owned(),
                readable: true,
                writable: true,
                ..LiveColumn::default()
            })
            .collect(),
        ..LiveTable::default()
    }
}

pub fn resolved(preset: &Preset, tables: Vec<LiveTable>) -> Jobs {
    let live = LiveSchema { engine: Engine::Sqlite, tables, role: None, enums: BTreeMap::new() };
    let mut never = |_: &str| -> Result<bool, Infallible> { Ok(false) };
    match resolve(preset, &live, &Place::default(), &[], &mut never) {
        Ok(views) => Jobs::clone(&views.claims),
        Err(error) => panic!("the preset does not resolve: {error:?}"),
    }
}

/// The columns of the reference schema, all integers but these.
pub const COLUMNS: [(&str, &str); 19] = [
    ("id", "integer"),
    ("queue", "text"),
    ("kind", "text"),
    ("status", "text"),
    ("run_at", "integer"),
    ("owner_id", "text"),
    ("lease_token", "text"),
    ("claimed_at", "integer"),
    ("heartbeat_at", "integer"),
    ("lease_expires_at", "integer"),
    ("attempts", "integer"),
    ("max_attempts", "integer"),
    ("stalls", "integer"),
    ("max_runtime_seconds", "integer"),
    ("deadline_at", "integer"),
    ("cancel_requested_at", "integer"),
    ("error_code", "text"),
    ("error_detail", "text"),
    ("finished_at", "integer"),
];

pub fn lease() -> &'static Jobs {
    static LEASE: OnceLock<Jobs> = OnceLock::new();
    LEASE.get_or_init(|| resolved(&built_in("lease"), vec![table("jobs", &COLUMNS)]))
}

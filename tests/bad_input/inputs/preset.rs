//! Presets and mappings: one that is malformed is refused with its place; one that is accepted can be looked for on every engine
//! that it names, and comes to SQL or to another refusal where it meets tables.

use jobdoctor::model::{Cell, Engine, Key, Timestamp};
use jobdoctor::preset::{LiveColumn, LiveSchema, LiveTable, Place, Preset, resolve};
use jobdoctor::store::{Cutoffs, Dialect, PostgresDialect, SqliteDialect, statements};
use std::collections::BTreeMap;
use std::convert::Infallible;

const COLUMNS: &str = "id status state queue kind owner_id worker claimed_at started heartbeat_at lease_expires_at attempts max_attempts \
    tries name seen_at";

pub fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let preset = match Preset::parse("the preset", "fuzz", &text) {
        Ok(preset) => preset,
        Err(error) => {
            assert!(error.to_string().starts_with("the preset"), "{error}");
            assert!(!error.message.is_empty(), "{text:?}");
            return;
        }
    };
    for engine in preset.engines.iter().copied() {
        meets_tables(&preset, engine);
    }
}

fn meets_tables(preset: &Preset, engine: Engine) {
    let (schema, time, dialect): (_, _, &'static dyn Dialect) = match engine {
        Engine::Sqlite => ("main", "integer", &SqliteDialect),
        Engine::Postgres => ("public", "timestamp with time zone", &PostgresDialect),
    };
    let column = |name: &str| LiveColumn {
        name: name.to_owned(),
        type_name: if name.ends_with("_at") || name == "started" { time } else { "text" }.to_owned(),
        readable: true,
        writable: true,
        ..LiveColumn::default()
    };
    let table = |name: String| LiveTable {
        schema: schema.to_owned(),
        name,
        visible: true,
        columns: COLUMNS.split(' ').map(column).collect(),
        unique: vec![vec!["id".to_owned()]],
        ..LiveTable::default()
    };
    let tables = preset.table_names(engine, &BTreeMap::new()).into_iter().map(table).collect();
    let live = LiveSchema { engine, tables, role: None, enums: BTreeMap::new() };
    let mut never = |_: &str| -> Result<bool, Infallible> { Ok(false) };
    let Ok(views) = resolve(preset, &live, &Place::default(), &[], &mut never) else { return };
    let spec = views.claims;
    let now = Timestamp::parse("2026-11-20T10:00:00Z").expect("a time");
    let keys = [Key(vec![Cell::Integer(1); spec.claim.key.len()])];
    let all = statements::statements(&spec, dialect, &Cutoffs::at(now, None), &keys, now);
    assert!(all.iter().all(|(_, statement)| !statement.sql.is_empty()));
}

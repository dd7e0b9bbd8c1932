//! For each column of a precondition a scene in which that column alone changes between the plan and the write: its jobs are
//! `changed`. The columns are those of the preset as it is, whatever a mutant lacks.

use super::database::{Databases, nothing_is_wrong};
use super::scene::Scene;
use super::{Stage, newest, play};
use crate::support::dice::one_in;
use crate::support::doctor::limits;
use jobdoctor::model::Engine;
use jobdoctor::ops::Session;
use jobdoctor::preset::{Catalog, Column, Expr, Jobs, Piece, Place};
use jobdoctor::store::open;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

/// A value of the column's type that is another one, whatever fraction of a second it keeps.
const ON_POSTGRES: &str = r#"SET session_replication_role = replica;
DO $do$ DECLARE old text := 't.' || quote_ident('COLUMN'); kind text; value text; relaxed text; BEGIN
  SELECT t.typcategory::text || ' ' || format_type(t.oid, NULL) INTO kind FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE a.attrelid = 'TABLE'::regclass AND a.attname = 'COLUMN';
  value := CASE
    WHEN kind LIKE 'N %' THEN format('coalesce(%s, 0) + 10003', old)
    WHEN kind LIKE 'S %' THEN format('left(''x'' || coalesce(%s, ''''), 20)', old)
    WHEN kind LIKE 'B %' THEN format('NOT coalesce(%s, false)', old)
    WHEN kind LIKE 'D %' THEN format('coalesce(%s, now()) + interval ''1 second''', old)
    WHEN kind LIKE 'T %' THEN format('coalesce(%s, interval ''0'') + interval ''1 microsecond''', old)
    WHEN kind LIKE 'A %' THEN format('coalesce(%1$s, ''{}'') || coalesce(%1$s[1:1], ''{}'')', old)
    WHEN kind LIKE 'E %' THEN format('(SELECT l FROM unnest(enum_range(%1$s)) AS l WHERE l IS DISTINCT FROM %1$s LIMIT 1)', old)
    WHEN kind = 'U uuid' THEN 'gen_random_uuid()'
    WHEN kind = 'U jsonb' THEN format('coalesce(%s, ''{}'') || ''{"other": 1}''', old)
  END;
  BEGIN
    EXECUTE format('UPDATE TABLE AS t SET %I = %s', 'COLUMN', value);
  EXCEPTION WHEN check_violation OR generated_always THEN
    SELECT string_agg(change, ', ') INTO relaxed FROM (
      SELECT format('DROP CONSTRAINT %I', conname) FROM pg_constraint WHERE conrelid = 'TABLE'::regclass AND contype = 'c'
      UNION ALL SELECT format('ALTER %I DROP IDENTITY', attname) FROM pg_attribute
        WHERE attrelid = 'TABLE'::regclass AND attidentity <> '') AS changes (change);
    EXECUTE 'ALTER TABLE TABLE ' || relaxed;
    EXECUTE format('UPDATE TABLE AS t SET %I = %s', 'COLUMN', value);
  END;
END $do$;
RESET session_replication_role;"#;

const ON_SQLITE: &str = r#"PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;
UPDATE TABLE SET "COLUMN" = CASE typeof("COLUMN") WHEN 'integer' THEN "COLUMN" + 10003 WHEN 'real' THEN "COLUMN" + 10003.5
  WHEN 'text' THEN 'x' || "COLUMN" WHEN 'blob' THEN CAST("COLUMN" || x'78' AS BLOB) ELSE 10003 END;"#;

/// Columns that a preset names because no verdict reads them, and a write on a changed one would do harm: a column that the preset
/// forgets is no column of it any more, and is missed here alone.
const COMPARED: [(&str, &[&str]); 14] = [
    ("chancy", &["claim_id"]),
    ("db-scheduler", &["version"]),
    ("django-q", &["lock"]),
    ("django-tasks", &["worker_ids"]),
    ("good-job", &["lock_type", "performed_at"]),
    ("graphile-worker", &["key"]),
    ("lease", &["lease_token"]),
    ("liteque", &["allocationId"]),
    ("n8n", &["waitTill"]),
    ("pg-boss", &["dead_letter", "retry_backoff", "retry_delay", "retry_delay_max"]),
    ("procrastinate", &["id"]),
    ("quartz", &["entry_id"]),
    ("simple", &["last_error"]),
    ("solid-queue", &["id"]),
];

/// The columns of the precondition, each with the table that it stands in, as a statement names it.
fn columns(spec: &Jobs) -> Vec<(String, String)> {
    let mut aliases: BTreeMap<&str, &str> =
        BTreeMap::from([(spec.claim.lock.as_str(), spec.claim.lock_table.as_str())]);
    aliases.extend(spec.owner.row.as_ref().map(|row| ("o", row.table.as_str())));
    for two in spec.claim.from.0.windows(2) {
        if let [Piece::Name(table), Piece::Text(after)] = two
            && let Some(alias) =
                after.strip_prefix(" AS ").and_then(|after| after.split(|c: char| !c.is_alphanumeric()).next())
        {
            aliases.entry(alias).or_insert(table);
        }
    }
    let named = |column: &Column| {
        let (table, name) = match (spec.queue.preset.as_str(), aliases.get(column.alias.as_str()), column.name.as_str())
        {
            (_, Some(table), name) => (*table, name),
            // Of sub-selects.
            ("quartz", None, "grace") => return None,
            ("django-q", None, "at") => ("queue", "lock"),
            ("pg-boss", None, "limit_seconds") => ("job", "expire_seconds"),
            ("quartz", None, "patience") => ("nodes", "checkin_interval"),
            ("quartz", None, name) => ("fired", name),
            ("procrastinate", None, name) => ("events", name),
            (preset, None, name) => panic!("{preset}: in which table is {name}?"),
        };
        let table = spec.queue.tables.get(table)?;
        Some((format!("\"{}\".\"{}\"", table.schema, table.name), name.to_owned()))
    };
    let column = |expr: &Expr| match expr {
        Expr::Column(column) if !column.is_expression() => named(column),
        _ => None,
    };
    spec.claim.precondition.iter().filter_map(column).collect()
}

/// The scene with a change of that column in every row; `None` where nothing is moved, or something else happens meanwhile.
fn with_change(stage: &Stage, scene: &Scene, table: &str, column: &str) -> Option<Scene> {
    let is_moved = scene.expected.values().any(|expected| expected.ends_with(", moved"));
    if !is_moved || !scene.meanwhile.is_empty() || !scene.others.is_empty() {
        return None;
    }
    let change = if stage.engine == Engine::Postgres { ON_POSTGRES } else { ON_SQLITE };
    let mut changed = scene.clone();
    changed.meanwhile = change.replace("TABLE AS", &format!("{table} AS")).replace("'TABLE'", &format!("'{table}'"));
    changed.meanwhile = changed.meanwhile.replace("ALTER TABLE TABLE", &format!("ALTER TABLE {table}"));
    changed.meanwhile = changed.meanwhile.replace("UPDATE TABLE", &format!("UPDATE {table}")).replace("COLUMN", column);
    changed.then.clear();
    for expected in changed.expected.values_mut() {
        *expected = expected.replace(", moved", ", changed");
    }
    Some(changed)
}

/// The columns of a stage whose change alone no scene notices, with these presets: those of claims, and those of interrupted
/// jobs.
pub fn unprotected(databases: &mut Databases, stage: &Stage, catalog: &Catalog) -> Vec<String> {
    let mut unprotected = Vec::new();
    for are_interrupted in [false, true] {
        let scenes = || stage.scenes.iter().filter(|scene| scene.interrupted.is_some() == are_interrupted);
        let Some(first) = scenes().find(|scene| with_change(stage, scene, "", "").is_some()) else { continue };
        let spec = spec(databases, stage, first);
        let compared = columns(&spec);
        let must = COMPARED.iter().filter(|(queue, _)| *queue == stage.queue && !are_interrupted);
        let forgotten =
            must.flat_map(|(_, must)| *must).filter(|must| compared.iter().all(|(_, column)| column != *must));
        unprotected.extend(forgotten.map(|column| format!("{stage}: {column} is not compared")));
        for (table, column) in compared {
            let mut said = String::new();
            let is_noticed = scenes().any(|scene| {
                let Some(changed) = with_change(stage, scene, &table, &column) else { return false };
                let playing = || play::play(databases, catalog, stage, &changed).differences;
                match std::panic::catch_unwind(AssertUnwindSafe(playing)) {
                    Ok(differences) => {
                        said = differences.join("; ");
                        differences.is_empty()
                    }
                    Err(panic) => {
                        said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                        false
                    }
                }
            });
            if !is_noticed {
                unprotected.push(format!("{stage}: {table}.{column}: {said}"));
            }
        }
    }
    unprotected
}

/// The queue of a scene with the preset as it is.
pub fn spec(databases: &mut Databases, stage: &Stage, scene: &Scene) -> Jobs {
    let mut database = databases.with(stage);
    play::set_up(&mut *database, scene);
    let store = open(&database.address());
    let (place, limits) = (Place { options: scene.options.iter().cloned().collect(), ..Place::default() }, limits());
    let as_it_is = play::catalog(&stage.queue);
    let session = Session::of(&*store, as_it_is, &place, &limits);
    let looked = if scene.interrupted.is_some() { session.snapshot_of_interrupted() } else { session.snapshot() };
    let looked = looked.unwrap_or_else(|error| panic!("{stage}: {error}"));
    Jobs::clone(&looked.jobs)
}

#[test]
fn each_column_that_changes_alone_is_noticed() {
    nothing_is_wrong(&one_in(3, newest()), |databases, stage| {
        unprotected(databases, stage, play::catalog(&stage.queue))
    });
}

//! Whoever may create things in the queue's schema, and no more, makes an operator for every pair of types that its tables hold or
//! that these are coerced to, and functions of the names that presets use. While an action runs, that schema is on the search path.

use crate::queues::rights::{of, orphan, words};
use crate::queues::tables::{Tables, by_age};
use crate::scenes::{Databases, Stage, newest, nothing_is_wrong, play, stages};
use crate::support::cli::Doctor;
use crate::support::dice::one_in;
use jobdoctor::model::Engine;
use std::fs;
use std::path::Path;

/// Operators that a preset may name; comparisons are made for each.
const OPERATORS: [&str; 13] = ["=", "<>", "<", "<=", "||", "+", "-", "*", "/", "->", "->>", "~", "@>"];

/// What runs directly in a statement of jobdoctor's raises an error. The application's triggers find it
/// too, as they do for its workers: there it does what the system's does.
const TRAPS: &str = r#"
DO $do$ BEGIN CREATE ROLE stranger; EXCEPTION WHEN OTHERS THEN NULL; END $do$;
DO $do$ DECLARE
  place text; l text; r text; op text; result text; n int := 0; name text; types text[];
  body text := $body$ DECLARE stack text; BEGIN
      GET DIAGNOSTICS stack = PG_CONTEXT;
      IF stack OPERATOR(pg_catalog.!~) E'(PL/pgSQL|SQL) function (?!inline_code_block).*\n(PL/pgSQL|SQL) function (?!inline_code_block)' THEN RAISE EXCEPTION 'trapped by WHAT'; END IF;
      RETURN VALUE; END $body$;
BEGIN
  PERFORM set_config('search_path', 'pg_catalog', true);
  FOR place IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information)' LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO stranger', place);
  END LOOP;
  SELECT array_agg(DISTINCT format_type(oid, NULL)) INTO types FROM pg_type WHERE oid = ANY (ARRAY[TYPES]::regtype[]) OR oid IN (
    SELECT a.atttypid FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS s ON s.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND s.nspname !~ '^(pg_|information)' AND a.attnum > 0 AND NOT a.attisdropped);
  FOR place IN SELECT nspname FROM pg_namespace WHERE PLACES LOOP
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO stranger', place);
    SET LOCAL ROLE stranger;
    FOREACH l IN ARRAY types LOOP
      FOREACH r IN ARRAY types LOOP
        FOREACH op IN ARRAY ARRAY[NAMED]::text[] LOOP
          BEGIN
            EXECUTE format('SELECT pg_typeof(NULL::%s OPERATOR(pg_catalog.%s) NULL::%s)', l, op, r) INTO result;
          EXCEPTION WHEN OTHERS THEN result := 'boolean';
          END;
          n := n + 1;
          EXECUTE format('CREATE FUNCTION %I.trap_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS %L', place, n, l, r, result, replace(replace(
            body, 'WHAT', 'an operator'), 'VALUE', format('$1 OPERATOR(pg_catalog.%s) $2', op)));
          EXECUTE format('CREATE OPERATOR %1$I.%2$s (LEFTARG = %3$s, RIGHTARG = %4$s, FUNCTION = %1$I.trap_%5$s)', place, op, l, r, n);
        END LOOP;
      END LOOP;
      FOREACH name IN ARRAY ARRAY[FUNCTIONS]::text[] LOOP
        EXECUTE format('CREATE FUNCTION %I.%I(%s) RETURNS text LANGUAGE plpgsql AS %L', place, name, l,
          replace(replace(body, 'WHAT', 'a function'), 'VALUE', format('pg_catalog.%I($1)', name)));
      END LOOP;
    END LOOP;
    RESET ROLE;
  END LOOP;
END $do$;
"#;

const OF_QUEUE: &str = "nspname !~ '^(pg_|information)'";

/// Puts the traps' own schema on the search path of sessions to come: the test's is there already, and does not step into them.
const ARM: &str = "DO $do$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = \"$user\", public, traps', current_database()); END $do$;";
const DISARM: &str =
    "DO $do$ BEGIN EXECUTE format('ALTER DATABASE %I RESET search_path', current_database()); END $do$;";

/// What presets coerce to, and what their constants are.
const TYPES: &str = "'text', 'varchar', 'bpchar', 'name', 'smallint', 'integer', 'bigint', 'numeric', 'real', 'float8', 'boolean', \
    'timestamp', 'timestamptz', 'date', 'interval', 'uuid', 'json', 'jsonb', 'bytea', 'text[]', 'jsonb[]'";

fn preset(queue: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/preset/presets/{queue}.toml"))).unwrap()
}

/// The traps for a queue in those schemas: with the operators and functions that its preset names.
fn traps(queue: &str, places: &str) -> String {
    let preset = preset(queue);
    let list = |names: Vec<&str>| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let named = |operator: &&str| preset.contains(&format!(" {operator} "));
    let operators = OPERATORS.into_iter().filter(named).collect();
    let mut functions: Vec<&str> =
        preset.split("pg_catalog.").filter_map(|rest| rest.split_once('(')).map(|(name, _)| name).collect();
    functions.extend(["unnest", "coalesce", "now"]);
    functions.retain(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    functions.sort_unstable();
    functions.dedup();
    TRAPS
        .replace("NAMED", &list(operators))
        .replace("FUNCTIONS", &list(functions))
        .replace("TYPES", TYPES)
        .replace("PLACES", places)
}

#[test]
fn no_action_of_any_preset_runs_a_strangers_operator() {
    let mut stages: Vec<Stage> = stages().into_iter().filter(|stage| stage.engine == Engine::Postgres).collect();
    stages.iter_mut().for_each(trap);
    let ends = stages.iter().flat_map(play::written).collect();
    nothing_is_wrong(&one_in(40, ends), |databases, end| {
        let is_reached = end.is_reached(databases, play::catalog(&end.stage.queue));
        (!is_reached).then(|| format!("{}: not {}", end.stage, end.told))
    });
}

/// The same stage with traps, which are on the path once the plan is made.
fn trap(stage: &mut Stage) {
    let traps = traps(&stage.queue, "nspname = 'traps'");
    stage.schema = format!("{DISARM}\n{}\nCREATE SCHEMA traps; {traps}", stage.schema);
    for scene in &mut stage.scenes {
        scene.setup = format!("{DISARM}\n{}", scene.setup);
        scene.meanwhile.push_str(ARM);
    }
}

/// Mutants: an operator or a function of the queue's schema, in the place of the system's.
#[test]
fn one_that_is_run_is_noticed() {
    for (queue, from, to) in [
        ("river", "{sql.rescues} + 1", "{sql.rescues} OPERATOR(traps.+) 1"),
        ("quartz", "e.sched_name = j.sched_name", "e.sched_name OPERATOR(traps.=) j.sched_name"),
        ("laravel", "pg_catalog.replace(", "traps.replace("),
    ] {
        let mut stage =
            newest().into_iter().find(|stage| stage.queue == queue && stage.engine == Engine::Postgres).unwrap();
        trap(&mut stage);
        let text = preset(queue);
        assert!(text.contains(from), "{queue}");
        let catalog = play::catalog_of(queue, &text.replace(from, to));
        let mut databases = Databases::default();
        let ends = play::written(&stage).iter().all(|end| end.is_reached(&mut databases, &catalog));
        assert!(!ends, "{queue}: nobody notices {to}");
    }
}

/// The ways that lead around a scene: the ledger, explained statements and undo.
#[test]
fn neither_does_anything_around_an_action() {
    // jobdoctor never acts on que.
    let newest = by_age().0.into_iter().filter(|tables| tables.queue != "que");
    one_in(8, newest.collect()).iter().for_each(around);
}

fn around(tables: &Tables) {
    let place = format!("{} {}", tables.queue, tables.version);
    let (database, doctor) = (tables.made(), Doctor::new());
    let url = database.url();
    let (options, act) = (words(tables, &["option"]), words(tables, &["older", "to", "option"]));
    let run = |command: &[&str], words: &[String]| doctor.run(&[command, &["--db", &url], &of(words)[..]].concat());
    let has_ledger = run(&["init", "--ledger"], &options).code == 0;
    assert!(has_ledger || tables.queue == "pg-boss", "{place}");
    orphan(tables, &database).unwrap();
    database
        .client()
        .batch_execute(&traps(&tables.queue, OF_QUEUE))
        .unwrap_or_else(|error| panic!("{place}: {error:?}"));
    let checked = run(&["check", "--json"], &options).json().to_string();
    assert!(!checked.contains("trapped") && !checked.contains("operator"), "{place}: {checked}");
    for command in [&["reclaim", "--dry-run=server", "--json"][..], &["reclaim", "--apply", "--json"]] {
        let done = run(command, &act).exits(0).json();
        assert!(done["summary"]["outcomes"]["moved"].as_u64() > Some(0), "{place}: {command:?}: {done:#}");
        if command[1] == "--apply" {
            let undone = run(&["undo", done["run_id"].as_str().unwrap(), "--apply"], &[]);
            assert!(!undone.whole().contains("trapped"), "{place}: {undone:#?}");
        }
    }
}

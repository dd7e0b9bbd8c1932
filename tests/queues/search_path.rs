//! Whoever may create things in the queue's schema, or on the role's path, must not have them run as jobdoctor's role: an exact
//! match there beats a function or operator of the system that takes any type.

use super::tables::tables;
use crate::support::cli::Doctor;

const TRAPS: &str = "
CREATE TABLE SCHEMA.trapped (what text);
CREATE FUNCTION SCHEMA.trap(what text) RETURNS void LANGUAGE sql AS 'INSERT INTO SCHEMA.trapped VALUES (what)';
CREATE FUNCTION SCHEMA.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql AS
  $$ SELECT SCHEMA.trap('unnest'); SELECT * FROM pg_catalog.unnest($1) $$;
CREATE FUNCTION SCHEMA.unnest(uuid[]) RETURNS SETOF uuid LANGUAGE sql AS
  $$ SELECT SCHEMA.trap('unnest'); SELECT * FROM pg_catalog.unnest($1) $$;
CREATE FUNCTION SCHEMA.json_build_object(text, text) RETURNS json LANGUAGE sql AS
  $$ SELECT SCHEMA.trap('json_build_object'); SELECT pg_catalog.json_build_object($1, $2) $$;
CREATE FUNCTION SCHEMA.json_build_object(text, bigint) RETURNS json LANGUAGE sql AS
  $$ SELECT SCHEMA.trap('json_build_object'); SELECT pg_catalog.json_build_object($1, $2) $$;
CREATE FUNCTION SCHEMA.array_append(jsonb[], jsonb) RETURNS jsonb[] LANGUAGE sql AS
  $$ SELECT SCHEMA.trap('array_append'); SELECT pg_catalog.array_append($1, $2) $$;";

fn is_trapped(schema: &str, state_type: Option<&str>, queue: &str, version: &str, orphan: &str) -> Vec<String> {
    let database = tables(queue, version).made();
    let mut client = database.client();
    client.batch_execute(&TRAPS.replace("SCHEMA", schema)).unwrap();
    if let Some(state) = state_type {
        let equals = format!(
            "CREATE FUNCTION {schema}.same({state}, {state}) RETURNS boolean LANGUAGE sql AS
               $$ SELECT {schema}.trap('='); SELECT true $$;
             CREATE OPERATOR {schema}.= (LEFTARG = {state}, RIGHTARG = {state}, FUNCTION = {schema}.same)"
        );
        client.batch_execute(&equals).unwrap();
    }
    client.batch_execute(orphan).unwrap();
    // The trap works for who steps into it.
    client.batch_execute(&format!("SET search_path = pg_catalog, {schema}; SELECT unnest('{{1}}'::bigint[])")).unwrap();
    let caught = format!("DELETE FROM {schema}.trapped RETURNING what");
    assert_eq!(client.query(&caught, &[]).unwrap().len(), 1);
    let document =
        Doctor::new().run(&["reclaim", "--apply", "--json", "--older", "1h", "--db", &database.url()]).exits(0).json();
    assert_eq!(document["summary"]["outcomes"]["moved"], 1);
    client.query(&caught, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
fn nothing_of_the_queues_schema_is_run_by_our_own_statements() {
    let graphile = "INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('mail');
        INSERT INTO graphile_worker._private_jobs (task_id, locked_at, locked_by, attempts)
          VALUES (1, pg_catalog.now() - interval '5 hours', 'pool-dead', 1)";
    let none = Vec::<String>::new();
    assert_eq!(is_trapped("graphile_worker", None, "graphile-worker", "0.16", graphile), none);
    let river = "INSERT INTO river_job (kind, args, queue, state, attempt, max_attempts, attempted_at, attempted_by)
        VALUES ('mail', '{}', 'default', 'running', 1, 25, pg_catalog.now() - interval '5 hours', '{web1}')";
    assert_eq!(is_trapped("public", Some("public.river_job_state"), "river", "v7", river), none);
}

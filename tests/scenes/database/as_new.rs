//! A database in which the tables of a schema stand as new for one scene after the other. To empty them is cheaper by far than
//! to create them, and to create them than a database.

use super::postgres::{run, session};
use crate::support::postgres::{TestDatabase, fresh};
use postgres::Client;
use std::time::Duration;

pub struct AsNew {
    pub database: TestDatabase,
    made: Option<Made>,
}

/// What a database was like once a schema had been created in it.
struct Made {
    schema: String,
    /// Changes with everything that is created, altered or dropped.
    catalog: String,
    /// The rows that the schema itself has put in.
    rows: Vec<String>,
    /// Tables without such rows.
    empty: Vec<String>,
    sequences: Vec<String>,
}

const CATALOG: &str = "
SELECT string_agg(oid || ' ' || xmin, ',' ORDER BY oid, xmin::text) FROM (
  SELECT oid, xmin FROM pg_class UNION ALL SELECT attrelid, xmin FROM pg_attribute UNION ALL SELECT oid, xmin FROM pg_proc
  UNION ALL SELECT oid, xmin FROM pg_trigger UNION ALL SELECT oid, xmin FROM pg_constraint
  UNION ALL SELECT oid, xmin FROM pg_attrdef UNION ALL SELECT oid, xmin FROM pg_type UNION ALL SELECT ev_class, xmin FROM pg_rewrite
  UNION ALL SELECT oid, xmin FROM pg_namespace UNION ALL SELECT oid, xmin FROM pg_policy
) AS things (oid, xmin) WHERE oid >= 16384";

const TABLES: &str = "
SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.oid >= 16384 AND n.nspname <> 'information_schema' ORDER BY 1";

const SEQUENCES: &str = "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S' ORDER BY 1";

impl AsNew {
    pub fn new() -> AsNew {
        AsNew { database: fresh(), made: None }
    }

    /// A session of it, with the tables of that schema as they are when they have just been created, and nobody else there.
    pub fn with(&mut self, schema: &str) -> Client {
        let mut client =
            session(&self.database, "SET client_min_messages = warning; SET search_path = \"$user\", public");
        wait_until_alone(&mut client);
        let is_again = self.made.as_ref().is_some_and(|made| made.schema == schema && made.is_again(&mut client));
        if !is_again {
            run(&mut client, EMPTY);
            run(&mut client, schema);
            self.made = Some(Made::of(&mut client, schema));
        }
        run(&mut client, "RESET client_min_messages");
        client
    }
}

const EMPTY: &str = "DO $$ DECLARE name text; BEGIN
       FOR name IN SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
       LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;
     END $$; CREATE SCHEMA public";

/// A session that has gone is still there for a moment, with its locks.
fn wait_until_alone(client: &mut Client) {
    let alone =
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while !client.query_one(alone, &[]).unwrap().get::<_, bool>(0) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Made {
    fn of(client: &mut Client, schema: &str) -> Made {
        let (catalog, tables) = (texts(client, CATALOG).concat(), texts(client, TABLES));
        let (empty, filled): (Vec<String>, Vec<String>) =
            tables.into_iter().partition(|table| texts(client, &all(table)).is_empty());
        let rows = rows(client, &filled);
        let sequences = texts(client, SEQUENCES);
        let state = |sequence: &String| {
            let row = client.query_one(&format!("SELECT last_value, is_called FROM {sequence}"), &[]).unwrap();
            let (last, is_called): (i64, bool) = (row.get(0), row.get(1));
            format!("SELECT setval('{sequence}', {last}, {is_called});")
        };
        let sequences = sequences.iter().map(state).collect();
        Made { schema: schema.to_owned(), catalog, rows, empty, sequences }
    }

    /// Makes it so again; not where more has changed than rows of tables that were empty.
    fn is_again(&self, client: &mut Client) -> bool {
        if texts(client, CATALOG).concat() != self.catalog {
            return false;
        }
        let deletes = self.empty.iter().map(|table| format!("DELETE FROM {table};")).collect::<String>();
        let replica = "SET session_replication_role = replica;";
        run(client, &format!("{replica} {deletes} RESET session_replication_role; {}", self.sequences.concat()));
        let filled: Vec<String> =
            texts(client, TABLES).into_iter().filter(|table| !self.empty.contains(table)).collect();
        rows(client, &filled) == self.rows
    }
}

fn all(table: &str) -> String {
    format!("SELECT to_jsonb(t)::text FROM {table} AS t ORDER BY 1")
}

fn rows(client: &mut Client, tables: &[String]) -> Vec<String> {
    tables.iter().flat_map(|table| texts(client, &all(table))).collect()
}

fn texts(client: &mut Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).unwrap().iter().filter_map(|row| row.get(0)).collect()
}

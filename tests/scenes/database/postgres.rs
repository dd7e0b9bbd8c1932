//! Tables on Postgres, in a database that the next scene uses again.

use super::Database;
use super::as_new::AsNew;
use crate::scenes::changes::Rows;
use crate::support::postgres::TestDatabase;
use jobdoctor::model::Engine;
use jobdoctor::store::{Address, Surroundings};
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;
use serde_json::{Map, Value};

const TABLES: &str = "
SELECT c.oid::regclass::text, c.relname::text, coalesce((
  SELECT array_agg(a.attname::text ORDER BY k.n) FROM pg_index AS i
  CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, n)
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum
  WHERE i.indrelid = c.oid AND i.indisprimary), '{}')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
ORDER BY 2";

pub struct Tables<'a> {
    database: &'a TestDatabase,
    client: Client,
    others: Vec<Client>,
    listener: Option<Client>,
}

impl Tables<'_> {
    pub fn new<'a>(kept: &'a mut AsNew, schema: &str) -> Tables<'a> {
        let client = kept.with(schema);
        Tables { database: &kept.database, client, others: Vec::new(), listener: None }
    }
}

impl Database for Tables<'_> {
    fn address(&self) -> Address {
        Address::parse(&self.database.url(), &Surroundings::default()).unwrap()
    }

    fn run(&mut self, sql: &str) {
        run(&mut self.client, sql);
    }

    fn run_beside(&mut self, sql: &str) {
        self.others.push(session(self.database, sql));
    }

    fn run_elsewhere(&mut self, sql: &str) {
        let mut client = self.database.client_elsewhere();
        run(&mut client, sql);
        self.others.push(client);
    }

    fn listen(&mut self, channel: &str) {
        let listener = self.listener.get_or_insert_with(|| self.database.client());
        run(listener, &format!("LISTEN \"{channel}\""));
    }

    fn heard(&mut self) -> Vec<(String, String)> {
        let Some(listener) = &mut self.listener else { return Vec::new() };
        // What was sent before a command of the listener's comes before its answer.
        run(listener, "SELECT 1");
        let mut notifications = listener.notifications();
        let heard = notifications.iter().map(|sent| Ok((sent.channel().to_owned(), sent.payload().to_owned())));
        heard.collect().unwrap()
    }

    fn rows(&mut self) -> Rows {
        let now: String = self.client.query_one("SELECT to_json(now())#>>'{}'", &[]).unwrap().get(0);
        let mut rows = Rows::new(Engine::Postgres, now.parse().unwrap());
        for table in self.client.query(TABLES, &[]).unwrap() {
            let (physical, name, key): (String, String, Vec<String>) = (table.get(0), table.get(1), table.get(2));
            let all =
                self.client.query(&format!("SELECT to_jsonb(t)::text FROM {physical} AS t ORDER BY 1"), &[]).unwrap();
            for row in all {
                let row: Map<String, Value> = serde_json::from_str(row.get(0)).unwrap();
                rows.add(&name, &key, row);
            }
        }
        rows
    }
}

pub fn session(database: &TestDatabase, sql: &str) -> Client {
    let mut client = database.client();
    run(&mut client, "SET TimeZone = 'UTC'");
    run(&mut client, sql);
    client
}

pub fn run(client: &mut Client, sql: &str) {
    client.batch_execute(sql).unwrap_or_else(|error| {
        let detail = error.as_db_error().map_or_else(|| error.to_string(), |db| format!("{db:?}"));
        panic!("{detail}\nin {sql}")
    });
}

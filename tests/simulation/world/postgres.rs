//! A database of the private cluster.

use super::{CutOff, Sessions, World, doctor_name, spelled, world};
use crate::simulation::deed::{Doctor, WORKERS, Worker};
use crate::simulation::log::{Entry, Image, Rows, values_sql};
use crate::simulation::queue::Queue;
use crate::support::cli::until;
use crate::support::labs::postgres::declare;
use crate::support::labs::store_at;
use crate::support::pgbouncer::pooler;
use crate::support::postgres::{TestDatabase, fresh};
use crate::support::proxy::{Cut, Proxy};
use crate::support::tables::{Table, ddl};
use postgres::{Client, Row};

pub fn postgres(queue: Queue) -> World {
    let database = fresh();
    let mut own = database.client();
    // Rows are changed in place for hours; nobody asks whether what was written here survives a crash.
    let tables = queue.tables().iter().map(|table| ddl(table, declare) + &trigger(table)).collect::<String>();
    own.batch_execute(&format!("{LOG}; {tables}")).unwrap();
    let workers = (0..WORKERS).map(|worker| session(&database, &format!("worker {worker}"))).collect();
    own.batch_execute("SET lock_timeout = '1ms'").unwrap();
    // A snapshot takes a connection of its own, and a server takes its time to make one; a pooler keeps them.
    let looks = store_at(&database.url_through(pooler().socket()));
    let writes = store_at(&database.url());
    let sessions = PostgresSessions { queue, database, own, workers, opened: [false; WORKERS], histories: 0 };
    world("Postgres", queue, looks, &*writes, Box::new(sessions), 1_000_000)
}

/// A session that waits for nobody.
fn session(database: &TestDatabase, name: &str) -> Client {
    let mut client = database.client();
    client.batch_execute(&format!("SET application_name = '{name}'; SET lock_timeout = '1ms'")).unwrap();
    client
}

const LOG: &str =
    "CREATE TABLE log (seq bigserial PRIMARY KEY, who text, at bigint, tab text, key text, old text, new text)";

fn micros(column: &str) -> String {
    format!("(extract(epoch FROM {column}) * 1000000)::bigint")
}

fn image(table: &Table, row: &str) -> String {
    format!("json_build_array({})::text", values_sql(table, row, micros))
}

/// One function for all that happens to a table's rows.
fn trigger(table: &Table) -> String {
    let (name, key) = (table.name, table.columns[0].0);
    let (old, new) = (image(table, "OLD"), image(table, "NEW"));
    format!(
        "CREATE FUNCTION note_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         INSERT INTO public.log (who, at, tab, key, old, new) VALUES (current_setting('application_name'), \
         {now}, '{name}', coalesce(NEW.\"{key}\", OLD.\"{key}\")::text, \
         CASE WHEN TG_OP <> 'INSERT' THEN {old} END, CASE WHEN TG_OP <> 'DELETE' THEN {new} END); \
         RETURN NULL; END $$; \
         CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON {name} FOR EACH ROW EXECUTE FUNCTION note_{name}();",
        now = micros("clock_timestamp()")
    )
}

struct PostgresSessions {
    queue: Queue,
    database: TestDatabase,
    own: Client,
    workers: Vec<Client>,
    opened: [bool; WORKERS],
    histories: usize,
}

/// After so many histories the dead rows are cleared away; the cluster does not do so by itself.
const VACUUM: usize = 100;

fn spell(sql: &str) -> String {
    let words = [
        (":now", "clock_timestamp()"),
        (":later", "(clock_timestamp() + interval '600 s')"),
        (":back", " - interval '4000 s'"),
    ];
    spelled(sql, &words)
}

/// Runs a statement; not where another session is in its way.
fn run(client: &mut Client, sql: &str) -> bool {
    match client.batch_execute(sql) {
        Ok(()) => true,
        // Lock not available, deadlock, and what a transaction that met one of them says.
        Err(error) if error.code().is_some_and(|code| ["55P03", "40P01", "25P02"].contains(&code.code())) => false,
        Err(error) => panic!("{error:?} in {sql}"),
    }
}

fn entry(row: &Row) -> Entry {
    Entry {
        seq: row.get(0),
        who: row.get(1),
        at: row.get(2),
        row: (row.get(3), row.get(4)),
        old: row.get::<_, Option<String>>(5).map(Image),
        new: row.get::<_, Option<String>>(6).map(Image),
    }
}

const READ: &str = "SELECT seq, who, at, tab, key, old, new FROM log";

impl Sessions for PostgresSessions {
    fn reset(&mut self, rows: &[String]) {
        (0..WORKERS).for_each(|worker| self.end(worker, false));
        let tables = self.queue.tables();
        let empty = tables.iter().map(|table| format!("DELETE FROM {};", table.name)).collect::<String>();
        let rows = rows.iter().map(|row| spell(row) + ";").collect::<String>();
        assert!(run(&mut self.own, &format!("{empty} DELETE FROM log; {rows}")));
        self.histories += 1;
        if self.histories.is_multiple_of(VACUUM) {
            assert!(run(&mut self.own, "VACUUM"));
        }
    }

    fn begin(&mut self, worker: Worker) {
        if !self.opened[worker] {
            self.opened[worker] = run(&mut self.workers[worker], "BEGIN");
        }
    }

    fn end(&mut self, worker: Worker, well: bool) {
        if std::mem::take(&mut self.opened[worker]) {
            assert!(run(&mut self.workers[worker], if well { "COMMIT" } else { "ROLLBACK" }));
        }
    }

    fn work(&mut self, worker: Worker, sql: &str) {
        if !run(&mut self.workers[worker], &spell(sql)) {
            self.end(worker, false);
        }
    }

    fn happen(&mut self, sql: &str) {
        run(&mut self.own, &spell(sql));
    }

    fn is_open(&self) -> bool {
        self.opened.contains(&true)
    }

    fn mark(&mut self) -> i64 {
        self.own.query_one("SELECT coalesce(max(seq), 0) FROM log", &[]).unwrap().get(0)
    }

    fn by_doctors(&mut self, since: i64) -> Vec<Entry> {
        let sql = format!("{READ} WHERE seq > $1 AND who LIKE 'doctor%' ORDER BY seq");
        self.own.query(&sql, &[&since]).unwrap().iter().map(entry).collect()
    }

    fn log(&mut self) -> Vec<Entry> {
        self.own.query(&format!("{READ} ORDER BY seq"), &[]).unwrap().iter().map(entry).collect()
    }

    fn rows(&mut self) -> Rows {
        let read = |table: &Table| {
            let (name, key, image) = (table.name, table.columns[0].0, image(table, "t"));
            format!("SELECT '{name}', t.{key}::text, {image} FROM {name} AS t")
        };
        let sql = self.queue.tables().iter().map(read).collect::<Vec<_>>().join(" UNION ALL ");
        let rows = self.own.query(&sql, &[]).unwrap();
        rows.iter().map(|row| ((row.get(0), row.get(1)), Image(row.get(2)))).collect()
    }

    fn cut_off(&mut self, after: bool, comes_back: bool) -> Option<CutOff> {
        let cut = if after { Cut::AfterTheServer } else { Cut::BeforeTheServer };
        let proxy = Proxy::before(self.database.socket(), cut, comes_back);
        let store = store_at(&self.database.url_through(&proxy.socket()));
        Some(CutOff { store, _proxy: proxy })
    }

    fn forget_doctor(&mut self, doctor: Doctor) {
        let open = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 \
                    AND xact_start IS NOT NULL";
        until("the server has noticed that its client is gone", || {
            self.own.query(open, &[&doctor_name(doctor)]).unwrap().is_empty()
        });
    }
}

//! A queue on the reference schema that the program is run against, the same on both engines.

use super::cli::{Doctor, Ran};
use super::labs::without_server;
use super::postgres::{TestDatabase, fresh};

pub struct Shop {
    pub doctor: Doctor,
    pub url: String,
    server: Option<TestDatabase>,
}

/// Runs a test on each engine, with an empty queue that `init` has made.
pub fn on_both(test: impl Fn(&Shop)) {
    let kinds: [fn() -> Shop; 2] = [Shop::empty_on_sqlite, Shop::empty_on_postgres];
    for shop in kinds.into_iter().take(if without_server() { 1 } else { 2 }) {
        test(&shop());
    }
}

/// Id, state and attempts of each job, as a client of a server sees them.
pub fn states(client: &mut postgres::Client) -> Vec<String> {
    let rows = client.query("SELECT id || ' ' || status || ' ' || attempts FROM jobs ORDER BY id", &[]).unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

impl Shop {
    pub fn on_sqlite() -> Shop {
        Shop::in_file_of(Doctor::new())
    }

    pub fn in_file_of(doctor: Doctor) -> Shop {
        Shop { doctor, url: "queue.db".to_owned(), server: None }
    }

    pub fn on_postgres() -> Shop {
        Shop::on(fresh())
    }

    pub fn empty_on_sqlite() -> Shop {
        Shop::on_sqlite().with_jobs()
    }

    pub fn empty_on_postgres() -> Shop {
        Shop::on_postgres().with_jobs()
    }

    /// Has `init` make the reference schema.
    fn with_jobs(self) -> Shop {
        self.run(&["init"]).exits(0);
        self
    }

    pub fn on(server: TestDatabase) -> Shop {
        Shop { doctor: Doctor::new(), url: server.url(), server: Some(server) }
    }

    pub fn is_postgres(&self) -> bool {
        self.server.is_some()
    }

    pub fn server(&self) -> &TestDatabase {
        self.server.as_ref().expect("this queue is on Postgres")
    }

    pub fn pick<'t>(&self, sqlite: &'t str, postgres: &'t str) -> &'t str {
        if self.is_postgres() { postgres } else { sqlite }
    }

    /// A connection of a worker's; on Postgres alone.
    pub fn client(&self) -> postgres::Client {
        self.server().client()
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.doctor.run(&self.with_db(arguments))
    }

    /// The arguments, with the database behind the command.
    pub fn with_db<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        [arguments, &["--db", &self.url]].concat()
    }

    /// Runs statements; `{ago N}` is the instant so many seconds ago, and may be negative; `{time}` is the type of a column of such.
    pub fn sql(&self, sql: &str) {
        let sql = self.spelled(sql);
        match &self.server {
            Some(server) => server.client().batch_execute(&sql).unwrap_or_else(|error| panic!("{error} in {sql}")),
            None => self.doctor.sql(&sql),
        }
    }

    pub fn rows(&self, query: &str) -> Vec<String> {
        let query = self.spelled(query);
        let Some(server) = &self.server else { return self.doctor.rows(&query) };
        let messages = server.client().simple_query(&query).unwrap_or_else(|error| panic!("{error} in {query}"));
        messages
            .iter()
            .filter_map(|message| match message {
                postgres::SimpleQueryMessage::Row(row) => {
                    let values = (0..row.len()).map(|n| row.get(n).unwrap_or("-").to_owned());
                    Some(values.collect::<Vec<_>>().join(" "))
                }
                _ => None,
            })
            .collect()
    }

    pub fn jobs(&self) -> Vec<String> {
        self.rows("SELECT * FROM jobs ORDER BY id")
    }

    /// Id, state and attempts of each job.
    pub fn states(&self) -> Vec<String> {
        self.rows("SELECT id, status, attempts FROM jobs ORDER BY id")
    }

    /// Puts jobs in flight, `first` to `last`, whose owner was last heard of so many seconds ago. `owner` is an SQL expression
    /// that may use the job's id, `n`.
    pub fn in_flight(&self, first: u32, last: u32, owner: &str, silent: u32) {
        self.sql(&format!(
            "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
             SELECT n, 'mail', 'SendInvoice', 'RUNNING', {owner}, 'token', {{ago {}}}, {{ago {silent}}}, {{ago {}}}
             FROM {}",
            silent + 60,
            i64::from(silent) - 60,
            self.numbers(first, last),
        ));
    }

    /// The numbers `n` from `first` to `last`, to select from.
    pub fn numbers(&self, first: u32, last: u32) -> String {
        if self.is_postgres() {
            return format!("generate_series({first}, {last}) AS n");
        }
        format!(
            "(WITH RECURSIVE t(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM t WHERE n < {last}) SELECT n FROM t)"
        )
    }

    /// Has the database refuse every change of job 2, with this message.
    pub fn refuses(&self, message: &str) {
        self.sql(&if self.is_postgres() {
            format!(
                "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE check_violation USING MESSAGE = \
                 '{message}'; END $$;
                 CREATE TRIGGER no BEFORE UPDATE ON jobs FOR EACH ROW WHEN (old.id = 2) EXECUTE FUNCTION no()"
            )
        } else {
            format!("CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN old.id = 2 BEGIN SELECT raise(ABORT, '{message}'); END")
        });
    }

    fn spelled(&self, sql: &str) -> String {
        let sql = sql.replace("{time}", self.pick("integer", "timestamptz"));
        let (mut spelled, mut rest) = (String::new(), sql.as_str());
        while let Some((before, after)) = rest.split_once("{ago ") {
            let (seconds, after) = after.split_once('}').expect("{ago N} ends");
            spelled.push_str(before);
            spelled.push_str(&match self.server {
                Some(_) => format!("(now() - ({seconds}) * interval '1 second')"),
                None => format!("(unixepoch() - ({seconds}))"),
            });
            rest = after;
        }
        spelled + rest
    }
}

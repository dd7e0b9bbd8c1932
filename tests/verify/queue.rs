//! The reference schema on either engine, with so many dead jobs.

use crate::support::cli::{Doctor, until};
use crate::support::postgres::{TestDatabase, fresh};

pub struct Queue {
    pub doctor: Doctor,
    pub db: String,
    database: Option<TestDatabase>,
}

pub fn both(jobs: u32) -> [Queue; 2] {
    [on_sqlite(jobs), on_postgres(jobs)]
}

pub fn on_sqlite(jobs: u32) -> Queue {
    let queue = Queue { doctor: Doctor::new(), db: "queue.db".to_owned(), database: None };
    queue.filled(jobs)
}

pub fn on_postgres(jobs: u32) -> Queue {
    let database = fresh();
    Queue { doctor: Doctor::new(), db: database.url(), database: Some(database) }.filled(jobs)
}

impl Queue {
    fn filled(self, jobs: u32) -> Queue {
        self.doctor.run(&["init", "--db", &self.db]).exits(0);
        for id in 1..=jobs {
            self.run(&format!(
                "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, lease_expires_at, attempts,
                    max_attempts)
                VALUES ({id}, 'mail', 'Send', 'RUNNING', 'web1:{id}', 'old', {}, {}, 0, 5)",
                self.ago(7000),
                self.ago(6000)
            ));
        }
        self
    }

    pub fn run(&self, sql: &str) {
        match &self.database {
            Some(database) => database.client().batch_execute(sql).unwrap(),
            None => self.doctor.sql_in(&self.db, sql),
        }
    }

    /// An instant so many seconds ago, as the columns of this engine spell it.
    pub fn ago(&self, seconds: i64) -> String {
        match self.database {
            Some(_) => format!("now() - interval '{seconds} seconds'"),
            None => format!("unixepoch() - {seconds}"),
        }
    }

    pub fn number(&self, sql: &str) -> i64 {
        match &self.database {
            Some(database) => database.client().query_one(sql, &[]).unwrap().get(0),
            None => self.doctor.rows_in(&self.db, sql)[0].parse().unwrap(),
        }
    }

    pub fn until_queued(&self, jobs: i64) {
        until("the jobs are back", || self.number("SELECT count(*) FROM jobs WHERE status = 'QUEUED'") == jobs);
    }

    /// A worker takes a job, with a lease that runs out in so many seconds.
    pub fn claim(&self, id: u32, seconds: i64) {
        self.run(&format!(
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web2:{id}', lease_token = 'new', claimed_at = {},
                lease_expires_at = {} WHERE id = {id} AND status = 'QUEUED'",
            self.ago(if seconds < 0 { -2 * seconds } else { 0 }),
            self.ago(-seconds)
        ));
    }

    /// A job comes to a state and is let go.
    pub fn end(&self, id: u32, status: &str) {
        self.run(&format!(
            "UPDATE jobs SET status = '{status}', owner_id = NULL, lease_token = NULL, lease_expires_at = NULL WHERE id = {id}"
        ));
    }
}

//! The targets of an operator who has several queues, not in the order of the alphabet.

use crate::cli::scene::{INCIDENT, JOBS, STATE};
use crate::support::cli::{Doctor, Ran};
use crate::support::postgres::{TestDatabase, fresh};

pub struct Fleet {
    pub doctor: Doctor,
    server: TestDatabase,
}

/// `web` is a SQLite file, `app` on Postgres; nobody answers at `staging`, and `old` has no such preset.
pub fn mixed() -> Fleet {
    let fleet = two();
    let more = "[target.staging]\ndb = \"postgres://ops@127.0.0.1:1/app\"\n[target.old]\ndb = \"queue.db\"\npreset = \"no-such\"\n";
    fleet.configure(&format!("{more}{}", fleet.both()));
    fleet
}

pub fn two() -> Fleet {
    let fleet = Fleet { doctor: Doctor::new(), server: fresh() };
    fleet.doctor.sql(&format!("{JOBS}{INCIDENT}"));
    fleet.doctor.run(&["init", "--db", &fleet.server.url()]).exits(0);
    let jobs = "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at) SELECT n, 'mail', 'SendInvoice',
        'RUNNING', 'web1:' || n, now() - interval '3 h', now() - interval '2 h' FROM generate_series(1, 3) AS n";
    fleet.server.client().batch_execute(jobs).unwrap();
    fleet.configure(&fleet.both());
    fleet
}

impl Fleet {
    pub fn both(&self) -> String {
        let url = self.server.url();
        format!("[target.web]\ndb = \"queue.db\"\nmax_jobs = 100\n[target.app]\ndb = \"{url}\"\nbrake = false\n")
    }

    pub fn configure(&self, text: &str) {
        std::fs::create_dir_all(self.doctor.home(".config/jobdoctor")).unwrap();
        std::fs::write(self.doctor.home(".config/jobdoctor/config.toml"), text).unwrap();
    }

    /// Moves all dead claims ten days and some minutes into the past. An age is told in two units, so that its words stay the
    /// same for a quarter of an hour: two snapshots can be compared.
    pub fn lost_long_ago(&self) {
        self.doctor.sql(
            "UPDATE jobs SET claimed_at = claimed_at - 864000, heartbeat_at = heartbeat_at - 864000,
                lease_expires_at = lease_expires_at - 864000 WHERE id <= 5",
        );
        let jobs = "UPDATE jobs SET claimed_at = claimed_at - interval '10 days 30 min',
            lease_expires_at = lease_expires_at - interval '10 days 30 min'";
        self.server.client().batch_execute(jobs).unwrap();
    }

    pub fn all(&self, arguments: &[&str]) -> Ran {
        self.doctor.run(&[arguments, &["--all-targets"]].concat())
    }

    pub fn states(&self) -> (Vec<String>, Vec<String>) {
        let query = "SELECT id || ' ' || status || ' ' || attempts FROM jobs ORDER BY id";
        let rows = self.server.client().query(query, &[]).unwrap();
        (self.doctor.rows(STATE), rows.iter().map(|row| row.get(0)).collect())
    }
}

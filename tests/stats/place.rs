//! Jobs that ended, claims that are old, and a config file with thresholds.

use crate::support::cli::Ran;
use crate::support::shop::Shop;

/// Runs a test on each engine, in a database without tables.
pub fn on_empty(test: impl Fn(&Shop)) {
    test(&Shop::on_sqlite());
    test(&Shop::on_postgres());
}

impl Shop {
    /// So many jobs of a kind that ended well, of which number `n`, counted from 1, ran for so many seconds as `runs` says, and
    /// ended an hour ago.
    pub fn finished(&self, queue: &str, kind: &str, jobs: u32, runs: &str) {
        self.sql(&format!(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at)
            SELECT '{queue}', '{kind}', 'SUCCEEDED', {{ago 3600 + ({runs})}}, {{ago 3600}} FROM {}",
            self.numbers(1, jobs)
        ));
    }

    pub fn claim(&self, queue: &str, kind: &str, seconds: u32) {
        self.sql(&format!(
            "INSERT INTO jobs (queue, kind, status, owner_id, claimed_at)
            VALUES ('{queue}', '{kind}', 'RUNNING', 'web1:1', {{ago {seconds}}})"
        ));
    }

    /// Writes `config.toml`, with this database as target `shop` and these lines in it.
    pub fn config(&self, lines: &str) {
        let text = format!("[target.shop]\ndb = \"{}\"\n{lines}\n", self.url);
        std::fs::write(self.doctor.path("config.toml"), text).unwrap();
    }

    pub fn on_target(&self, arguments: &[&str]) -> Ran {
        self.doctor.run(&[arguments, &["--config", "config.toml"]].concat())
    }
}

//! A database of either engine with the reference schema, and a config file beside it.

use crate::support::cli::Ran;
use crate::support::shop::Shop;
use std::ops::Deref;

pub struct Place(Shop);

impl Deref for Place {
    type Target = Shop;

    fn deref(&self) -> &Shop {
        &self.0
    }
}

pub fn on_both(test: impl Fn(&Place)) {
    test(&Place(Shop::on_sqlite()));
    test(&Place(Shop::on_postgres()));
}

pub fn with_jobs(test: impl Fn(&Place)) {
    on_both(|place| {
        place.run(&["init"]).exits(0);
        test(place);
    });
}

impl Place {
    pub fn pick<'t>(&self, sqlite: &'t str, postgres: &'t str) -> &'t str {
        if self.is_postgres() { postgres } else { sqlite }
    }

    /// `n` jobs of a kind that ended well, of which number `i`, counted from 1, ran for so many seconds as `runs` says, and
    /// ended an hour ago.
    pub fn finished(&self, queue: &str, kind: &str, n: u32, runs: &str) {
        let numbers = match self.is_postgres() {
            true => format!("(SELECT i FROM generate_series(1, {n}) AS i) AS n"),
            false => format!(
                "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {n}) SELECT i FROM n) AS n"
            ),
        };
        self.sql(&format!(
            "INSERT INTO jobs (queue, kind, status, claimed_at, finished_at)
            SELECT '{queue}', '{kind}', 'SUCCEEDED', {{ago 3600 + ({runs})}}, {{ago 3600}} FROM {numbers}"
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

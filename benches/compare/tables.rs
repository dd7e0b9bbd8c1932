//! The tables that are measured on, each built when it is first needed.

use crate::cluster::Cluster;
use crate::place::{Doctor, Engine, Place};
use crate::report::progress;
use crate::sql;
use crate::timing::{printed, timed};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// 40,000 stuck jobs and 400 healthy ones.
    Many,
    /// 200 stuck jobs among 2,000 in flight.
    Few,
    /// A hundred finished jobs and a few stuck ones, whatever the size asked for.
    Small,
    /// A million stuck jobs and nothing else.
    Million,
}

impl Kind {
    /// Rows, claims, every which claim is of the rarer kind, and whether that kind is stuck.
    fn numbers(self, rows: u64) -> (u64, u64, u64, bool) {
        match self {
            Kind::Many => (rows, 40_400, 101, false),
            Kind::Few => (rows, 2_000, 10, true),
            Kind::Small => (100, 10, 2, false),
            Kind::Million => (1_000_000, 1_000_000, 2_000_000, false),
        }
    }

    /// Stuck jobs in it.
    pub fn stuck(self) -> u64 {
        match self {
            Kind::Many => 40_000,
            Kind::Few => 200,
            Kind::Small => 5,
            Kind::Million => 1_000_000,
        }
    }

    /// Jobs in flight.
    pub fn claims(self) -> u64 {
        self.numbers(0).1
    }
}

/// The tables of one engine at one size.
pub struct Tables<'a> {
    /// The binary that is measured.
    pub doctor: &'a Doctor,
    /// The engine.
    pub engine: Engine,
    /// Rows of the larger tables.
    pub rows: u64,
    /// The server, on Postgres.
    pub cluster: Option<&'a Cluster>,
    directory: PathBuf,
    built: BTreeMap<Kind, String>,
}

impl<'a> Tables<'a> {
    /// Prepares them; nothing is built yet.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn new(
        doctor: &'a Doctor,
        engine: Engine,
        rows: u64,
        cluster: Option<&'a Cluster>,
        parent: &Path,
    ) -> Result<Self> {
        let directory = parent.join(format!("{}-{rows}", engine.name()));
        fs::create_dir_all(&directory)?;
        Ok(Tables { doctor, engine, rows, cluster, directory, built: BTreeMap::new() })
    }

    /// The table of that kind.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn get(&mut self, kind: Kind) -> Result<Place> {
        if let Some(name) = self.built.get(&kind) {
            return self.place(name);
        }
        let name = format!("{kind:?}_{}", self.rows).to_lowercase();
        let begun = Instant::now();
        let place = self.build(&name, kind).with_context(|| format!("building {name}"))?;
        progress(&format!("built {} {name} in {:.0} s", self.engine.name(), begun.elapsed().as_secs_f64()));
        self.built.insert(kind, name);
        Ok(place)
    }

    /// The name under which a table was built.
    pub fn name(&self, kind: Kind) -> Option<&str> {
        self.built.get(&kind).map(String::as_str)
    }

    /// The database of that name.
    ///
    /// # Errors
    /// When there is no server.
    pub fn place(&self, name: &str) -> Result<Place> {
        match self.engine {
            Engine::Sqlite => Ok(Place {
                engine: self.engine,
                db: self.file(name).display().to_string(),
                shell: PathBuf::from("sqlite3"),
            }),
            Engine::Postgres => Ok(self.server()?.place(name)),
        }
    }

    /// The file of that name.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.db"))
    }

    /// The server.
    ///
    /// # Errors
    /// When there is none.
    pub fn server(&self) -> Result<&'a Cluster> {
        self.cluster.context("no Postgres server was started")
    }

    fn build(&self, name: &str, kind: Kind) -> Result<Place> {
        let place = self.place(name)?;
        if self.engine == Engine::Postgres {
            self.server()?.administer(&format!("CREATE DATABASE {name}"))?;
        }
        timed(self.doctor.on(&place, &["init"]))?;
        let (rows, claims, nth, rarely_stuck) = kind.numbers(self.rows);
        let fill = sql::fill(self.engine, rows, claims, nth, rarely_stuck);
        match self.engine {
            Engine::Sqlite => {
                let client = rusqlite::Connection::open(&place.db)?;
                client.execute_batch(
                    "PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -500000",
                )?;
                client.execute_batch(&format!("BEGIN; {fill}; COMMIT; ANALYZE; PRAGMA journal_mode = wal"))?;
                client.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
                drop(client);
                fs::File::open(&place.db)?.sync_all()?;
            }
            Engine::Postgres => {
                let mut client = self.server()?.client(name)?;
                client.batch_execute(&fill)?;
                client.batch_execute("VACUUM (ANALYZE, FREEZE) jobs")?;
                client.batch_execute("CHECKPOINT")?;
            }
        }
        self.check(&place, kind)?;
        Ok(place)
    }

    /// A table that jobdoctor judges in another way than the SQL by hand would compare two different things.
    fn check(&self, place: &Place, kind: Kind) -> Result<()> {
        let seen = printed(self.doctor.on(place, &["stale", "--limit", "1", "-o", "json", "-q"]))?;
        let seen: serde_json::Value = serde_json::from_str(&seen)?;
        let count = |name: &str| seen.pointer(&format!("/summary/{name}")).and_then(serde_json::Value::as_u64);
        if (count("stuck"), count("unknown"), count("in_flight")) != (Some(kind.stuck()), Some(0), Some(kind.claims()))
        {
            bail!("the table holds something else than intended: {}", seen["summary"]);
        }
        Ok(())
    }
}

impl Drop for Tables<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
        for name in self.built.values() {
            let _ = self.cluster.map(|cluster| cluster.administer(&format!("DROP DATABASE {name}")));
        }
    }
}

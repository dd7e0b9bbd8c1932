//! The databases that scenes are played in, one kind for each engine.

mod as_new;
mod postgres;
mod sqlite;

use super::Stage;
use super::changes::Rows;
use crate::support::cli::Ran;
use as_new::AsNew;
use jobdoctor::model::Engine;
use jobdoctor::store::Address;

pub trait Database {
    fn address(&self) -> Address;

    fn run(&mut self, sql: &str);

    /// Runs statements in another session, which stays open as long as the database is used.
    fn run_beside(&mut self, sql: &str);

    /// Runs statements in a session of another database, which stays open as long.
    fn run_elsewhere(&mut self, sql: &str);

    fn listen(&mut self, channel: &str);

    fn heard(&mut self) -> Vec<(String, String)>;

    fn rows(&mut self) -> Rows;

    fn shell(&self, script: &str) -> Ran;
}

/// What is kept from scene to scene: a Postgres database, once a scene has needed one.
#[derive(Default)]
pub struct Databases {
    postgres: Option<AsNew>,
}

impl Databases {
    /// The tables of that stage as they are when they have just been created, and nobody else there.
    pub fn with(&mut self, stage: &Stage) -> Box<dyn Database + '_> {
        match stage.engine {
            Engine::Postgres => {
                Box::new(postgres::Tables::new(self.postgres.get_or_insert_with(AsNew::new), &stage.schema))
            }
            Engine::Sqlite => Box::new(sqlite::Tables::new(&stage.schema)),
        }
    }
}

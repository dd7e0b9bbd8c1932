//! The databases that scenes are played in, one kind for each engine.

mod as_new;
mod postgres;
mod sqlite;

use super::Stage;
use super::changes::Rows;
use as_new::AsNew;
use jobdoctor::model::Engine;
use jobdoctor::store::Address;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Tries all items, four at a time, and makes sure that none of them says what is wrong.
#[track_caller]
pub fn nothing_is_wrong<T: Sync, S: IntoIterator<Item = String>>(
    items: &[T],
    tried: impl Fn(&mut Databases, &T) -> S + Sync,
) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let mut databases = Databases::default();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::SeqCst)) {
            let said = tried(&mut databases, item);
            wrong.lock().unwrap().extend(said);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

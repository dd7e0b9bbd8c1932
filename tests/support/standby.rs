//! A primary and its streaming standby: two clusters of their own, each on a unix socket alone, and gone when the test
//! process is.

use super::cli::until;
use super::postgres::{AT_ONCE, ServerUser, USER, as_user, connect, directory, guard, make, serve, wait};
use postgres::Client;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub struct Pair {
    primary: Server,
    standby: Server,
}

struct Server {
    socket: PathBuf,
    server: Child,
    _guard: Child,
}

/// A database of its own for one test, on both servers.
pub struct PairDatabase {
    name: String,
}

/// The one pair of the test process. Whoever has it has it alone: to pause the standby is to pause it for all.
pub fn pair() -> MutexGuard<'static, Pair> {
    // One that did not start is not tried again by each test.
    static PAIR: LazyLock<Mutex<Pair>> = LazyLock::new(|| Mutex::new(start(Path::to_owned)));
    PAIR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What both servers need. A standby may not have fewer connections than the cluster was made with, so that is skipped.
const SETTINGS: [&str; 3] = ["wal_level=replica", "fsync=off", "wal_retrieve_retry_interval=100ms"];

/// Two copies of one cluster that has never run; the one follows the other from its first byte on, through what `through` makes
/// of the directory of the primary's socket.
fn start(through: impl FnOnce(&Path) -> PathBuf) -> Pair {
    let (ahead, user) = directory("jobdoctor-primary-");
    let (behind, _) = directory("jobdoctor-standby-");
    make(&ahead.join("data"), user);
    let copied = as_user(Command::new("cp"), user)
        .args(["-R", "-p"])
        .arg(ahead.join("data"))
        .arg(&behind)
        .current_dir("/")
        .status()
        .expect("run cp");
    assert!(copied.success(), "the cluster could not be copied");
    fs::write(behind.join("data/standby.signal"), "").expect("say that it is a standby");
    let primary = Server::start(ahead, user, &[]);
    let follow = format!("primary_conninfo=host={} user={USER}", through(&primary.socket).display());
    let standby = Server::start(behind, user, &[&follow]);
    let pair = Pair { primary, standby };
    pair.catch_up();
    pair
}

impl Server {
    fn start(socket: PathBuf, user: ServerUser, settings: &[&str]) -> Server {
        let server = serve(&socket.join("data"), &socket, user, &[&SETTINGS, settings].concat());
        let guard = guard(server.id(), AT_ONCE, &socket);
        wait(&socket);
        Server { socket, server, _guard: guard }
    }
}

impl Pair {
    /// A pair of one test's own, which may break it. The standby follows its primary through the directory of another socket.
    pub fn alone(through: impl FnOnce(&Path) -> PathBuf) -> Pair {
        start(through)
    }

    /// The primary is gone at once, and the standby takes its place with what it has.
    pub fn fail_over(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.primary.server.id()).expect("a pid")).expect("a pid");
        kill_process(pid, Signal::QUIT).expect("the primary is there");
        self.primary.server.wait().expect("its end");
        let promoted = "SELECT pg_promote(true, 60)";
        let row = connect(&self.standby.socket, "postgres").query_one(promoted, &[]).expect("promote the standby");
        assert!(row.get::<_, bool>(0), "the standby takes no writes");
    }

    /// A fresh database. The standby has it too.
    pub fn fresh(&self) -> PairDatabase {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("t{}", COUNT.fetch_add(1, Ordering::SeqCst));
        connect(&self.primary.socket, "postgres").batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        self.catch_up();
        PairDatabase { name }
    }

    pub fn primary(&self) -> &Path {
        &self.primary.socket
    }

    pub fn standby(&self) -> &Path {
        &self.standby.socket
    }

    pub fn client(&self, database: &PairDatabase) -> Client {
        connect(&self.primary.socket, &database.name)
    }

    pub fn client_of_standby(&self, database: &PairDatabase) -> Client {
        connect(&self.standby.socket, &database.name)
    }

    /// Waits until the standby shows all that the primary has committed.
    pub fn catch_up(&self) {
        let mut primary = connect(&self.primary.socket, "postgres");
        let mut standby = connect(&self.standby.socket, "postgres");
        let written: String =
            primary.query_one("SELECT pg_current_wal_insert_lsn()::text", &[]).expect("ask the primary").get(0);
        // What is not flushed is not sent, and a standby that replays shows it a moment later.
        primary.batch_execute("SELECT pg_switch_wal()").expect("have the primary send it");
        let seen = format!("SELECT coalesce(pg_last_wal_replay_lsn() >= '{written}', false)");
        until("the standby has caught up with its primary", || {
            standby.query_one(&seen, &[]).expect("ask the standby").get::<_, bool>(0)
        });
    }

    /// The standby shows nothing new until the answer is dropped.
    pub fn pause(&self) -> Paused<'_> {
        let mut standby = connect(&self.standby.socket, "postgres");
        standby.batch_execute("SELECT pg_wal_replay_pause()").expect("pause the standby");
        let state = "SELECT pg_get_wal_replay_pause_state() = 'paused'";
        until("the standby pauses", || standby.query_one(state, &[]).expect("ask the standby").get::<_, bool>(0));
        Paused { pair: self, since: Instant::now() }
    }
}

impl PairDatabase {
    pub fn url(&self, sockets: &[&Path]) -> String {
        let hosts: Vec<String> = sockets.iter().map(|socket| socket.display().to_string()).collect();
        format!("host={} user={USER} dbname={}", hosts.join(","), self.name)
    }
}

pub struct Paused<'a> {
    pair: &'a Pair,
    since: Instant,
}

impl Paused<'_> {
    pub fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        let mut standby = connect(&self.pair.standby.socket, "postgres");
        standby.batch_execute("SELECT pg_wal_replay_resume()").expect("let the standby go on");
    }
}

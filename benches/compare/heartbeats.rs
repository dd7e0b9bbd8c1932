//! Workers that send heartbeats while something else writes, each a process of its own, and how long they wait.

use crate::place::{Engine, Place};
use crate::sql;
use anyhow::{Context, Result, bail};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The first argument of a worker process.
pub const ARGUMENT: &str = "send-heartbeats";
/// Worker processes.
const WORKERS: usize = 4;
/// Time between two heartbeats of one process: 100 a second, 400 of all.
const INTERVAL: Duration = Duration::from_millis(10);
/// How long a heartbeat waits for a SQLite lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Workers at work.
pub struct Workers(Vec<Child>);

/// How long heartbeats waited, in milliseconds, and how many failed.
#[derive(Debug, Clone, Default)]
pub struct Waits {
    sorted: Vec<f64>,
    /// Heartbeats that ended with an error or found no job.
    pub failures: u64,
    /// Heartbeats that were due while the one before was still waiting.
    pub held_up: u64,
}

impl Workers {
    /// Starts them on the healthy jobs of that database, and returns once all are connected.
    ///
    /// # Errors
    /// When one does not start.
    pub fn start(place: &Place) -> Result<Workers> {
        let mut workers = Workers(Vec::new());
        for number in 0..WORKERS {
            let mut command = Command::new(std::env::current_exe()?);
            command.args([ARGUMENT, place.engine.name(), &place.db, &number.to_string()]);
            let mut worker = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let mut first = [0; 1];
            worker.stdout.as_mut().context("no stdout")?.read_exact(&mut first).context("a worker did not start")?;
            workers.0.push(worker);
        }
        Ok(workers)
    }

    /// Ends them, and says how long their heartbeats waited.
    ///
    /// # Errors
    /// When one has failed altogether.
    pub fn stop(mut self) -> Result<Waits> {
        let mut waits = Waits::default();
        self.0.iter_mut().for_each(|worker| drop(worker.stdin.take()));
        for worker in &mut self.0 {
            for line in BufReader::new(worker.stdout.take().context("no stdout")?).lines() {
                match line?.trim() {
                    "" => {}
                    "failed" => waits.failures += 1,
                    "held up" => waits.held_up += 1,
                    micros => waits.sorted.push(micros.parse::<f64>()? / 1e3),
                }
            }
            if !worker.wait()?.success() {
                bail!("a worker failed");
            }
        }
        waits.sorted.sort_by(f64::total_cmp);
        Ok(waits)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // A worker ends when its stdin does.
        for worker in &mut self.0 {
            drop(worker.stdin.take());
            let _ = worker.wait();
        }
    }
}

impl Waits {
    /// Adds those of another turn.
    pub fn extend(&mut self, other: Waits) {
        self.sorted.extend(other.sorted);
        self.sorted.sort_by(f64::total_cmp);
        self.failures += other.failures;
        self.held_up += other.held_up;
    }

    /// The wait in milliseconds that this share of the heartbeats does not exceed; 1 is the longest.
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.sorted.len().saturating_sub(1);
        let index = (last as f64 * share).ceil() as usize;
        self.sorted.get(index).copied().unwrap_or(0.0)
    }

    /// Heartbeats sent.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }
}

/// A worker process: sends until stdin ends, then prints the waits in microseconds, one a line.
///
/// # Errors
/// When the arguments are wrong or the database cannot be opened.
pub fn worker(mut words: impl Iterator<Item = String>) -> Result<()> {
    let engine = words.next().and_then(|name| Engine::parse(&name)).context("no engine")?;
    let db = words.next().context("no database")?;
    let number: usize = words.next().context("no number")?.parse()?;
    let of_ours = |ids: Vec<i64>| ids.into_iter().skip(number).step_by(WORKERS).collect::<Vec<_>>();
    match engine {
        Engine::Sqlite => {
            let client = rusqlite::Connection::open(db)?;
            client.busy_timeout(BUSY_TIMEOUT)?;
            // What SQLite advises for a file in WAL mode, and most libraries set: no fsync for each commit.
            client.execute_batch("PRAGMA synchronous = normal")?;
            let mut rows = client.prepare(&sql::healthy(engine))?;
            let ids = rows.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
            let mut update = client.prepare(sql::heartbeat(engine))?;
            send(&of_ours(ids), number, |id| update.execute([id]).is_ok_and(|changed| changed == 1))
        }
        Engine::Postgres => {
            let mut client = postgres::Client::connect(&db, postgres::NoTls)?;
            let ids = client.query(&sql::healthy(engine), &[])?.iter().map(|row| row.get(0)).collect();
            let update = client.prepare(sql::heartbeat(engine))?;
            send(&of_ours(ids), number, |id| client.execute(&update, &[&id]).is_ok_and(|changed| changed == 1))
        }
    }
}

/// Sends heartbeats at fixed times. One waits from the moment it is sent until it is committed. Those that are due meanwhile
/// would be sent by other workers: they are not sent, and count as waiting from their time until that one is through. Without
/// them, a second in which no heartbeat passes would count as one long wait among hundreds of short ones.
fn send(ids: &[i64], number: usize, mut beat: impl FnMut(i64) -> bool) -> Result<()> {
    if ids.is_empty() {
        bail!("no healthy job to send a heartbeat for");
    }
    let ended = Arc::new(AtomicBool::new(false));
    let flag = ended.clone();
    std::thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        flag.store(true, Ordering::SeqCst);
    });
    let mut out = io::stdout().lock();
    out.write_all(b"\n")?;
    out.flush()?;
    let mut waits = String::new();
    let mut due = Instant::now() + INTERVAL * u32::try_from(number)? / u32::try_from(WORKERS)?;
    for id in ids.iter().cycle() {
        sleep(due.saturating_duration_since(Instant::now()));
        if ended.load(Ordering::SeqCst) {
            break;
        }
        let sent = Instant::now();
        if beat(*id) {
            waits += &format!("{}\n", sent.elapsed().as_micros());
        } else {
            waits += "failed\n";
        }
        due += INTERVAL;
        while due < Instant::now() {
            waits += &format!("held up\n{}\n", due.elapsed().as_micros());
            due += INTERVAL;
        }
    }
    Ok(out.write_all(waits.as_bytes())?)
}

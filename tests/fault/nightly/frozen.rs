//! Nobody answers any more, and nobody hangs up (F11): the network swallows everything, or whoever should answer stands still. A
//! run ends by its deadline all the same, and says no more than it knows.

use crate::fault::many::{Many, RECLAIM};
use crate::support::black_hole::BlackHole;
use crate::support::cli::Ran;
use crate::support::figures;
use crate::support::files::Writer;
use crate::support::shop::Shop;
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

const DEAD: u32 = 4_000;

/// What a run may take, and what it may take beyond that to find out what became of a commit and to say so.
const TIMEOUT: &str = "6s";
const IN_ALL: Duration = Duration::from_secs(30);

/// The ends of a run that was skipped: a write in doubt, a lost connection, busy, or some jobs not tried.
const ENDS: [i32; 4] = [5, 69, 75, 3];

fn ends_in_time(many: &Many, ran: &Ran, begun: Instant, place: &str) {
    assert!(begun.elapsed() < IN_ALL, "{place}: {:?}", begun.elapsed());
    assert!(ran.signal.is_none() && ENDS.contains(&ran.code), "{place}: {ran:#?}");
    if many.shop.is_postgres() {
        many.holds_nothing();
    }
    let standing = many.standing().unwrap_or_else(|wrong| panic!("{place}: {wrong}"));
    many.is_honest(ran, standing);
    many.converges();
}

#[test]
fn the_network_swallows_everything() {
    let many = Many::in_queue(Shop::empty_on_postgres(), DEAD);
    let through = |pieces: usize| {
        let hole = BlackHole::before(many.shop.server().socket(), pieces);
        let url = many.shop.server().url_through(&hole.socket());
        (hole, url)
    };
    let (hole, url) = through(usize::MAX);
    many.shop.doctor.run(&[&RECLAIM[..], &["--db", &url]].concat()).exits(0);
    let all = hole.passed();
    assert!(all > 40, "{all}");
    let mut faults = 0;
    for nth in 0..12 {
        many.again();
        let pieces = 2 + nth * (all - 3) / 11;
        let (hole, url) = through(pieces);
        let begun = Instant::now();
        let ran = many.shop.doctor.run(&[&RECLAIM[..], &["--db", &url, "--timeout", TIMEOUT]].concat());
        if !hole.swallows() || ran.code == 0 {
            // Less was sent this time; or nothing but the farewell is missing.
            many.is_done();
            continue;
        }
        // What was cut off in the middle of a message, no time limit of the server ends.
        hole.gives_up();
        ends_in_time(&many, &ran, begun, &format!("after {pieces} of {all}"));
        faults += 1;
    }
    assert!(faults > 8, "{faults}");
    figures::add(faults, "faults survived");
}

/// Processes that stand still until this is gone.
struct Stopped(Vec<Pid>);

impl Stopped {
    fn these(pids: Vec<Pid>) -> Stopped {
        // One that has ended by now cannot be stopped, and need not be.
        Stopped(pids.into_iter().filter(|pid| kill_process(*pid, Signal::STOP).is_ok()).collect())
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
}

#[test]
fn the_backends_stand_still() {
    let many = Many::in_queue(Shop::empty_on_postgres(), DEAD);
    let mut faults = 0;
    for nth in 0..10 {
        many.again();
        let begun = Instant::now();
        let mut running = many.shop.doctor.start(&many.shop.with_db(&[&RECLAIM[..], &["--timeout", TIMEOUT]].concat()));
        if !many.begins(&mut running) {
            continue;
        }
        std::thread::sleep(Duration::from_millis(nth * 3));
        let sql = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'jobdoctor/%' AND datname = current_database()";
        let pids =
            many.shop.rows(sql).iter().map(|pid| Pid::from_raw(pid.parse().expect("a pid")).expect("a pid")).collect();
        let stopped = Stopped::these(pids);
        let ran = running.wait();
        let is_hit = ran.code != 0;
        drop(stopped);
        if is_hit {
            ends_in_time(&many, &ran, begun, &format!("stop {nth}"));
            faults += 1;
        }
    }
    assert!(faults > 3, "{faults} of 10 were in the middle");
    figures::add(faults, "faults survived");
}

/// On SQLite there is nobody to answer; but somebody may hold the lock and stand still.
#[test]
fn a_writer_stands_still_with_the_lock() {
    for mode in ["wal", "delete"] {
        let many = Many::in_queue(crate::fault::random_kills::file(mode), 5 * DEAD);
        let mut faults = 0;
        for _ in 0..4 {
            many.again();
            let mut writer = Writer::at(&many.shop.doctor.path("queue.db"), "SELECT 1;");
            let begun = Instant::now();
            let arguments = [&RECLAIM[..], &["--timeout", TIMEOUT]].concat();
            let mut running = many.shop.doctor.start(&many.shop.with_db(&arguments));
            if !many.begins(&mut running) {
                continue;
            }
            writer.run("BEGIN IMMEDIATE;");
            let pid = Pid::from_raw(i32::try_from(writer.pid()).expect("a pid")).expect("a pid");
            let stopped = Stopped::these(vec![pid]);
            let ran = running.wait();
            writer.kill();
            drop(stopped);
            if ran.code != 0 {
                ends_in_time(&many, &ran, begun, mode);
                faults += 1;
            }
        }
        assert!(faults > 0, "{mode}: never in the middle");
        figures::add(faults, "faults survived");
    }
}

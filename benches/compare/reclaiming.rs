//! A reclaim of 40,000 jobs while workers send heartbeats, against one UPDATE that writes the same.

use crate::heartbeats::{Waits, Workers};
use crate::place::{Engine, Form, Place};
use crate::report::{Goal, Report, progress};
use crate::sql;
use crate::tables::{Kind, Tables};
use crate::timing::{median, printed, timed};
use anyhow::{Result, bail};
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// How long the heartbeats of a turn are watched while nothing else happens.
const IDLE: Duration = Duration::from_secs(3);
/// The name of the copy that a turn writes to.
pub const COPY: &str = "copy";

/// What one way of writing took, and what it did to the heartbeats.
#[derive(Default)]
struct Figures {
    times: Vec<Duration>,
    waits: Waits,
}

/// Measures all ways in turns, each on a fresh copy of the table.
///
/// # Errors
/// When a command fails or moves another number of jobs.
pub fn measure(tables: &mut Tables<'_>, turns: usize, report: &mut Report) -> Result<()> {
    let at = format!("{}: reclaim of 40,000", tables.engine.name());
    undisturbed(tables, turns, report)?;
    let names = ["", " --fast", ", median heartbeat", ", p99 heartbeat", ", longest heartbeat", ", heartbeats failed"];
    if !names.iter().any(|name| report.wants(&format!("{at}{name}"))) {
        return Ok(());
    }
    tables.get(Kind::Many)?;
    let has_fast = printed(tables.doctor.call(&["reclaim", "--help"]))?.contains("--fast");
    let (mut hand, mut ours, mut fast, mut idle) =
        (Figures::default(), Figures::default(), Figures::default(), Waits::default());
    for turn in 1..=turns {
        progress(&format!("{at}: turn {turn} of {turns}"));
        let place = fresh(tables, Kind::Many)?;
        let workers = Workers::start(&place)?;
        sleep(IDLE);
        idle.extend(workers.stop()?);
        write(&place, &mut hand, place.by_hand(Form::Plain, &sql::requeue(tables.engine)))?;
        let apply = ["reclaim", "--apply", "--max-jobs", "40000", "-o", "none", "-q"];
        let place = fresh(tables, Kind::Many)?;
        write(&place, &mut ours, tables.doctor.on(&place, &apply))?;
        if has_fast {
            let place = fresh(tables, Kind::Many)?;
            write(&place, &mut fast, tables.doctor.on(&place, &[&apply[..], &["--fast"]].concat()))?;
        }
    }
    let is_sqlite = tables.engine == Engine::Sqlite;
    let by_hand = median(hand.times);
    report.time(&at, by_hand, median(ours.times), if is_sqlite { Goal::None } else { Goal::Ratio(2.2) });
    if has_fast {
        let goal = if is_sqlite { Goal::Ratio(2.2) } else { Goal::None };
        report.time(&format!("{at} --fast"), by_hand, median(fast.times), goal);
        let fast_at = format!("{at} --fast");
        heartbeats(report, &fast_at, &hand.waits, &fast.waits, [Goal::None; 2]);
    } else if is_sqlite {
        report.note("sqlite: no row for reclaim --fast: this jobdoctor has no such option".to_owned());
    }
    let goals = match is_sqlite {
        true => [Goal::AtMost(40.0), Goal::AtMost(200.0)],
        false => [Goal::AtMost((2.0 * idle.quantile(0.99) * 1e3).round() / 1e3), Goal::AtMost(50.0)],
    };
    heartbeats(report, &at, &hand.waits, &ours.waits, goals);
    for (when, waits) in [("idle", &idle), ("during the UPDATE", &hand.waits), ("during the reclaim", &ours.waits)] {
        report.note(format!(
            "{at}: heartbeats {when}: median {:.3} ms, p99 {:.3} ms, longest {:.3} ms; {} due, {} failed, \
             {} held up by the one before",
            waits.quantile(0.5),
            waits.quantile(0.99),
            waits.quantile(1.0),
            waits.count(),
            waits.failures,
            waits.held_up,
        ));
    }
    Ok(())
}

/// The same while nobody else writes; on Postgres also with a ledger, which is compared with the UPDATE alone.
fn undisturbed(tables: &mut Tables<'_>, turns: usize, report: &mut Report) -> Result<()> {
    let at = format!("{}: reclaim of 40,000, nobody else writing", tables.engine.name());
    let with_ledger = format!("{at}, with a ledger");
    if ![&at, &with_ledger].iter().any(|what| report.wants(what)) {
        return Ok(());
    }
    tables.get(Kind::Many)?;
    let is_sqlite = tables.engine == Engine::Sqlite;
    let apply = ["reclaim", "--apply", "--max-jobs", "40000", "-o", "none", "-q"];
    let (mut hand, mut ours, mut recorded) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 1..=turns {
        progress(&format!("{at}: turn {turn} of {turns}"));
        let place = fresh(tables, Kind::Many)?;
        hand.push(timed(place.by_hand(Form::Plain, &sql::requeue(tables.engine)))?);
        let place = fresh(tables, Kind::Many)?;
        ours.push(timed(tables.doctor.on(&place, &apply))?);
        if !is_sqlite {
            let place = fresh(tables, Kind::Many)?;
            timed(tables.doctor.on(&place, &["init", "--ledger"]))?;
            recorded.push(timed(tables.doctor.on(&place, &apply))?);
        }
    }
    let by_hand = median(hand);
    report.time(&at, by_hand, median(ours), Goal::Ratio(if is_sqlite { 5.0 } else { 2.2 }));
    if !is_sqlite {
        report.time(&with_ledger, by_hand, median(recorded), Goal::Ratio(2.6));
    }
    Ok(())
}

/// The rows about heartbeats: during the UPDATE as the figure by hand, and during the reclaim. The goals are those of the p99 and
/// of the longest.
fn heartbeats(report: &mut Report, at: &str, by_hand: &Waits, ours: &Waits, [p99, longest]: [Goal; 2]) {
    for (name, share, goal) in [("median", 0.5, Goal::None), ("p99", 0.99, p99), ("longest", 1.0, longest)] {
        report.time(&format!("{at}, {name} heartbeat"), by_hand.quantile(share), ours.quantile(share), goal);
    }
    let [before, now] = [by_hand, ours].map(|waits| waits.failures as f64);
    report.add(&format!("{at}, heartbeats failed"), "", Some(before), now, Goal::AtMost(0.0));
}

/// Runs a command that moves all stuck jobs while the workers work.
fn write(place: &Place, figures: &mut Figures, command: Command) -> Result<()> {
    let workers = Workers::start(place)?;
    figures.times.push(timed(command)?);
    figures.waits.extend(workers.stop()?);
    let moved = printed(place.by_hand(Form::Plain, "SELECT count(*) FROM jobs WHERE status = 'QUEUED'"))?;
    if moved.trim() != "40000" {
        bail!("{} jobs were moved instead of 40000", moved.trim());
    }
    Ok(())
}

/// A fresh copy of a table that was built, on disk before anything is measured.
///
/// # Errors
/// When it cannot be copied.
pub fn fresh(tables: &Tables<'_>, kind: Kind) -> Result<Place> {
    let name = tables.name(kind).unwrap_or_default();
    let place = tables.place(COPY)?;
    match tables.engine {
        Engine::Sqlite => {
            for further in ["-wal", "-shm"] {
                let _ = fs::remove_file(format!("{}{further}", place.db));
            }
            fs::copy(tables.file(name), &place.db)?;
            fs::File::open(&place.db)?.sync_all()?;
        }
        Engine::Postgres => {
            let server = tables.server()?;
            server.administer(&format!("DROP DATABASE IF EXISTS {COPY}"))?;
            let create = format!("CREATE DATABASE {COPY} TEMPLATE {name}");
            // Postgres 15 and later take a strategy; earlier ones always copy files.
            server.administer(&format!("{create} STRATEGY file_copy")).or_else(|_| server.administer(&create))?;
            server.administer("CHECKPOINT")?;
        }
    }
    // Reads all of it once.
    printed(place.by_hand(Form::Plain, "SELECT count(*), max(length(payload)) FROM jobs"))?;
    Ok(place)
}

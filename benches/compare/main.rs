//! Compares jobdoctor with what one would type into sqlite3 and psql by hand: whole commands, taken in turns in one run, so that
//! only ratios count. `benches/run` starts it; `benches/README.md` says what is measured.

#![forbid(unsafe_code)]

mod arguments;
mod cluster;
mod heartbeats;
mod looking;
mod memory;
mod place;
mod proxy;
mod reclaiming;
mod report;
mod round_trips;
mod sql;
mod start_up;
mod tables;
mod timing;

use anyhow::Result;
use arguments::Arguments;
use cluster::Cluster;
use place::{Doctor, Engine};
use report::{Report, progress};
use std::process::ExitCode;
use tables::Tables;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let first = words.next();
    if first.as_deref() == Some(heartbeats::ARGUMENT) {
        return heartbeats::worker(words);
    }
    let arguments = Arguments::parse(first.into_iter().chain(words))?;
    let mut report = Report::new(arguments.only.clone());
    let measured = measure(&arguments, &mut report);
    // What was measured before a command failed is worth seeing.
    report.print()?;
    measured
}

/// Measures on each engine at each size; all but the lists at the first size alone.
fn measure(arguments: &Arguments, report: &mut Report) -> Result<()> {
    let directory = tempfile::tempdir()?;
    report.note(format!("median of {} turns; measured: {}", arguments.turns, arguments.jobdoctor.display()));
    let doctor = Doctor { binary: arguments.jobdoctor.clone(), home: directory.path().join("home") };
    for &engine in &arguments.engines {
        let cluster = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(Cluster::start(&std::env::temp_dir())?),
        };
        let mut by_size = looking::BySize::new();
        for (n, &rows) in arguments.rows.iter().enumerate() {
            let mut tables = Tables::new(&doctor, engine, rows, cluster.as_ref(), directory.path())?;
            if n == 0 {
                start_up::measure(&mut tables, arguments.turns, report)?;
            }
            looking::measure(&mut tables, arguments.turns, report, &mut by_size)?;
            if n == 0 {
                if engine == Engine::Postgres {
                    round_trips::measure(&mut tables, arguments.turns, report)?;
                }
                reclaiming::measure(&mut tables, arguments.turns.div_ceil(3), report)?;
                if arguments.memory {
                    memory::measure(&mut tables, report)?;
                }
            }
        }
        looking::compare_sizes(engine, &by_size, report);
    }
    Ok(())
}

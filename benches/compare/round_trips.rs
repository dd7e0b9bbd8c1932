//! How often jobdoctor asks Postgres, and what distance costs.

use crate::place::Form;
use crate::proxy::Proxy;
use crate::reclaiming::{COPY, fresh};
use crate::report::{Goal, Report};
use crate::sql;
use crate::tables::{Kind, Tables};
use crate::timing::{in_turns, timed};
use anyhow::Result;
use jobdoctor::output::format::grouped;
use std::time::Duration;

/// The added time of a round trip to a distant database.
const DISTANCE: Duration = Duration::from_millis(20);

/// Counts, and the time of a list at a distance.
///
/// # Errors
/// When a command fails.
pub fn measure(tables: &mut Tables<'_>, turns: usize, report: &mut Report) -> Result<()> {
    for (kind, kind_name) in [(Kind::Few, "few"), (Kind::Many, "many")] {
        count(tables, kind, kind_name, report)?;
    }
    reclaim(tables, report)?;
    let what = format!("postgres, {} rows: 50 longest silent, few, each round trip 20 ms longer", grouped(tables.rows));
    if report.wants(&what) {
        tables.get(Kind::Few)?;
        let server = tables.server()?;
        let proxy = Proxy::before(&server.socket, DISTANCE)?;
        let place = server.place_through(&proxy.socket(), tables.name(Kind::Few).unwrap_or_default());
        let list = sql::list(tables.engine);
        let ours = || tables.doctor.on(&place, &["stale", "--limit", "50"]);
        let [hand, ours] = in_turns(turns.min(5), [&|| place.by_hand(Form::Plain, &list), &ours])?;
        report.time(&what, hand, ours, Goal::None);
    }
    Ok(())
}

/// Flights and time of a whole reclaim of 200 jobs at that distance, each on a fresh copy.
fn reclaim(tables: &mut Tables<'_>, report: &mut Report) -> Result<()> {
    let what = "postgres: reclaim of 200, each round trip 20 ms longer";
    let flights = "postgres: round trips of a reclaim of 200";
    if ![what, flights].into_iter().any(|what| report.wants(what)) {
        return Ok(());
    }
    tables.get(Kind::Few)?;
    fresh(tables, Kind::Few)?;
    let server = tables.server()?;
    let proxy = Proxy::before(&server.socket, DISTANCE)?;
    let through = server.place_through(&proxy.socket(), COPY);
    let took = timed(tables.doctor.on(&through, &["reclaim", "--apply", "--max-jobs", "200", "-o", "none", "-q"]))?;
    report.time(what, None, took.as_secs_f64() * 1e3, Goal::AtMost(400.0));
    report.add(flights, "", None, proxy.take().round_trips as f64, Goal::None);
    Ok(())
}

fn count(tables: &mut Tables<'_>, kind: Kind, kind_name: &str, report: &mut Report) -> Result<()> {
    let commands: [(&str, &[&str]); 2] =
        [("stale", &["stale", "--limit", "50"]), ("dry reclaim", &["reclaim", "--max-jobs", "40000", "-o", "none"])];
    for (command, arguments) in commands {
        let names = ["round trips", "statements", "round trips to connect"]
            .map(|name| format!("postgres: {name} of {command}, {kind_name}"));
        if !names.iter().any(|name| report.wants(name)) {
            continue;
        }
        tables.get(kind)?;
        let server = tables.server()?;
        let proxy = Proxy::before(&server.socket, Duration::ZERO)?;
        let place = server.place_through(&proxy.socket(), tables.name(kind).unwrap_or_default());
        timed(tables.doctor.on(&place, arguments))?;
        let counts = proxy.take();
        let goal = if command == "stale" { Goal::AtMost(5.0) } else { Goal::None };
        let [round_trips, statements, connecting] = names;
        report.add(&round_trips, "", None, counts.round_trips as f64, goal);
        report.add(&statements, "", None, counts.statements as f64, goal);
        report.add(&connecting, "", None, counts.connecting as f64, Goal::None);
        if counts.connections != 1 {
            report.note(format!("postgres: {command}, {kind_name}: {} connections", counts.connections));
        }
    }
    Ok(())
}

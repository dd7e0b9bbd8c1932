//! Lists of stuck jobs, against the SQL that one would type.

use crate::place::{Engine, Form};
use crate::report::{Goal, Report};
use crate::sql;
use crate::tables::{Kind, Tables};
use crate::timing::in_turns;
use anyhow::Result;
use jobdoctor::output::format::grouped;
use std::collections::BTreeMap;

/// The size in rows that larger tables are compared with.
const REFERENCE: u64 = 2_000_000;

/// The figures of the list with counts by hand and of `stale --limit 50` at each size, in milliseconds.
pub type BySize = BTreeMap<u64, (f64, f64)>;

/// The list with its counts, the list alone, and whole lists for programs.
///
/// # Errors
/// When a command fails.
pub fn measure(tables: &mut Tables<'_>, turns: usize, report: &mut Report, by_size: &mut BySize) -> Result<()> {
    let at = format!("{}, {} rows", tables.engine.name(), grouped(tables.rows));
    fifty_of_many(tables, turns, report, by_size, &at)?;
    fifty_of_few(tables, turns, report, &at)?;
    for (name, format, form, goal) in [("jsonl", "jsonl", Form::Json, 1.2), ("csv", "csv", Form::Csv, 1.6)] {
        let what = format!("{at}: all stuck jobs as {name}, many");
        if report.wants(&what) {
            let place = tables.get(Kind::Many)?;
            let typed = sql::all_columns(tables.engine);
            let ours = || tables.doctor.on(&place, &["stale", "-o", format]);
            let [hand, ours] = in_turns(turns, [&|| place.by_hand(form, &typed), &ours])?;
            report.time(&what, hand, ours, Goal::Ratio(goal));
        }
    }
    Ok(())
}

fn fifty_of_many(
    tables: &mut Tables<'_>,
    turns: usize,
    report: &mut Report,
    by_size: &mut BySize,
    at: &str,
) -> Result<()> {
    let whole = format!("{at}: 50 longest silent with counts and diagnosis, many");
    let alone = format!("{at}: 50 longest silent, by hand the list alone, many");
    if ![&whole, &alone, &growth(at)].into_iter().any(|what| report.wants(what)) {
        return Ok(());
    }
    let place = tables.get(Kind::Many)?;
    let [counts, list] = [sql::list_and_counts(tables.engine), sql::list(tables.engine)];
    let by_hand = |sql: &str| place.by_hand(Form::Plain, sql);
    let ours = || tables.doctor.on(&place, &["stale", "--limit", "50"]);
    let [counts, list, ours] = in_turns(turns, [&|| by_hand(&counts), &|| by_hand(&list), &ours])?;
    // Each stuck row is judged in the client: on Postgres it crosses the wire, where by hand it does not.
    let goal = if tables.engine == Engine::Sqlite { 1.0 } else { 1.3 };
    report.time(&whole, counts, ours, Goal::Ratio(goal));
    report.time(&alone, list, ours, Goal::None);
    by_size.insert(tables.rows, (counts, ours));
    Ok(())
}

fn fifty_of_few(tables: &mut Tables<'_>, turns: usize, report: &mut Report, at: &str) -> Result<()> {
    let what = format!("{at}: 50 longest silent, few");
    if report.wants(&what) {
        let place = tables.get(Kind::Few)?;
        let list = sql::list(tables.engine);
        let ours = || tables.doctor.on(&place, &["stale", "--limit", "50"]);
        let [hand, ours] = in_turns(turns, [&|| place.by_hand(Form::Plain, &list), &ours])?;
        let goal = if tables.engine == Engine::Sqlite { 12.0 } else { 20.0 };
        report.time(&what, hand, ours, Goal::RatioPlus(1.0, goal));
    }
    Ok(())
}

/// How the time grows with the table, where several sizes were asked for.
pub fn compare_sizes(engine: Engine, by_size: &BySize, report: &mut Report) {
    let name = engine.name();
    let first = by_size.get_key_value(&REFERENCE).or_else(|| by_size.first_key_value());
    let Some((reference, at_reference)) = first else { return };
    if by_size.len() > 1 {
        let reference = grouped(*reference);
        report.note(format!(
            "{name}: for the growth with the table, the figure by hand is jobdoctor's at {reference} rows"
        ));
    }
    for (rows, figure) in by_size.iter().filter(|(rows, _)| *rows > reference) {
        let what = growth(&format!("{name}, {} rows", grouped(*rows)));
        let by_hand = (figure.0 / at_reference.0 * 100.0).round() / 100.0;
        let goal = if engine == Engine::Sqlite { by_hand } else { 1.1 };
        report.time(&what, at_reference.1, figure.1, Goal::Ratio(goal));
        report.note(format!("{what}: the list by hand grows by {by_hand}"));
    }
}

fn growth(at: &str) -> String {
    format!("{at}: 50 longest silent, many, against fewer rows")
}

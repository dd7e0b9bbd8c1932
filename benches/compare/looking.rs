//! Lists of stuck jobs, against the SQL that one would type.

use crate::place::Form;
use crate::report::{Goal, Report};
use crate::sql;
use crate::tables::{Kind, Tables};
use crate::timing::in_turns;
use anyhow::Result;
use jobdoctor::output::format::grouped;
use std::collections::BTreeMap;

/// The size in rows that larger tables are compared with.
const REFERENCE: u64 = 2_000_000;

/// The figure of `stale --limit 50` at each size, in milliseconds.
pub type BySize = BTreeMap<u64, f64>;

/// The list with its counts, the list alone, and whole lists for programs.
///
/// # Errors
/// When a command fails.
pub fn measure(tables: &mut Tables<'_>, turns: usize, report: &mut Report, by_size: &mut BySize) -> Result<()> {
    let at = format!("{}, {} rows", tables.engine.name(), grouped(tables.rows));
    fifty_of_many(tables, turns, report, by_size, &at)?;
    fifty_of_few(tables, turns, report, &at)?;
    for (name, format, form) in [("jsonl", "jsonl", Form::Json), ("csv", "csv", Form::Csv)] {
        let what = format!("{at}: all stuck jobs as {name}, many");
        if report.wants(&what) {
            let place = tables.get(Kind::Many)?;
            let typed = sql::all_columns(tables.engine);
            let ours = || tables.doctor.on(&place, &["stale", "-o", format]);
            let [hand, ours] = in_turns(turns, [&|| place.by_hand(form, &typed), &ours])?;
            report.time(&what, hand, ours, Goal::Ratio(1.2));
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
    report.time(&whole, counts, ours, Goal::Ratio(1.0));
    report.time(&alone, list, ours, Goal::None);
    by_size.insert(tables.rows, ours);
    Ok(())
}

fn fifty_of_few(tables: &mut Tables<'_>, turns: usize, report: &mut Report, at: &str) -> Result<()> {
    let what = format!("{at}: 50 longest silent, few");
    if report.wants(&what) {
        let place = tables.get(Kind::Few)?;
        let list = sql::list(tables.engine);
        let ours = || tables.doctor.on(&place, &["stale", "--limit", "50"]);
        let [hand, ours] = in_turns(turns, [&|| place.by_hand(Form::Plain, &list), &ours])?;
        report.time(&what, hand, ours, Goal::RatioPlus(1.2, 5.0));
    }
    Ok(())
}

/// How the time grows with the table, where several sizes were asked for.
pub fn compare_sizes(engine: &str, by_size: &BySize, report: &mut Report) {
    let first = by_size.get_key_value(&REFERENCE).or_else(|| by_size.first_key_value());
    let Some((reference, at_reference)) = first else { return };
    if by_size.len() > 1 {
        let reference = grouped(*reference);
        report.note(format!(
            "{engine}: for the growth with the table, the figure by hand is jobdoctor's at {reference} rows"
        ));
    }
    for (rows, figure) in by_size.iter().filter(|(rows, _)| *rows > reference) {
        let what = growth(&format!("{engine}, {} rows", grouped(*rows)));
        report.time(&what, *at_reference, *figure, Goal::Ratio(1.1));
    }
}

fn growth(at: &str) -> String {
    format!("{at}: 50 longest silent, many, against fewer rows")
}

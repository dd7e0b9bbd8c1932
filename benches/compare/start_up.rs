//! What it takes to start at all.

use crate::place::{Engine, Form};
use crate::report::{Goal, Report};
use crate::sql;
use crate::tables::{Kind, Tables};
use crate::timing::in_turns;
use anyhow::Result;
use std::process::Command;

/// The version, and a list of a small SQLite file.
///
/// # Errors
/// When a command fails.
pub fn measure(tables: &mut Tables<'_>, turns: usize, report: &mut Report) -> Result<()> {
    let turns = turns.max(15);
    let what = "start-up: --version";
    if tables.engine == Engine::Sqlite && report.wants(what) {
        let by_hand = || {
            let mut shell = Command::new("sqlite3");
            shell.arg("--version");
            shell
        };
        let [hand, ours] = in_turns(turns, [&by_hand, &|| tables.doctor.call(&["--version"])])?;
        report.time(what, hand, ours, Goal::AtMost(4.0));
    }
    let what = format!("start-up: stale on a small {} table", tables.engine.name());
    if report.wants(&what) {
        let place = tables.get(Kind::Small)?;
        let list = sql::list(tables.engine);
        let [hand, ours] =
            in_turns(turns, [&|| place.by_hand(Form::Plain, &list), &|| tables.doctor.on(&place, &["stale"])])?;
        let goal = if tables.engine == Engine::Sqlite { Goal::AtMost(8.0) } else { Goal::None };
        report.time(&what, hand, ours, goal);
    }
    Ok(())
}

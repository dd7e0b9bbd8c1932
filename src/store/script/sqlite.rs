//! A batch as a script for sqlite3.

use super::literal::literal;
use super::{Place, Work, cannot, ended};
use crate::model::{Batch, Cell, Engine, Timestamp};
use crate::preset::{ActionSpec, Marker, QueueSpec, Rows, StepSpec};
use crate::store::StoreError;
use crate::store::sql;

/// The settings, which are those of `store/sqlite/open.rs`.
pub(super) fn settings(foreign_keys: bool) -> String {
    let enforced = if foreign_keys { "ON" } else { "OFF" };
    format!(".bail on\n.timeout 5000\nPRAGMA foreign_keys = {enforced};\nPRAGMA trusted_schema = OFF;\n")
}

pub(super) const RUN: &str = "sqlite3 -bail DATABASE < FILE";
pub(super) const NEEDS: &str = "sqlite3 3.31 or later";

/// Read once, because `'now'` changes from statement to statement, and without `unixepoch('subsec')`, which older
/// shells lack.
const CLOCK: &str = "CREATE TEMP TABLE jobdoctor_now AS\n  \
                     SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS ms;\n";

/// A row that violates the CHECK rolls the whole transaction back.
const CHECK: &str = "CREATE TEMP TABLE jobdoctor_check (did TEXT, touched INTEGER, wanted INTEGER,\n  \
                     CONSTRAINT \"a statement touched other rows than it should, and this batch is rolled back\"\n  \
                     CHECK (touched = wanted));\n";

const WANTED: &str = "(SELECT count(*) FROM temp.jobdoctor_steps)";

pub(super) fn batch(
    spec: &QueueSpec,
    moved: &ActionSpec,
    batch: &Batch<'_>,
    place: Place,
) -> Result<String, StoreError> {
    if !spec.notify.is_empty() {
        return Err(cannot(format!("preset {} wakes its workers by SQL statements", spec.preset)));
    }
    let asks_for_keys = |step: &StepSpec| match step {
        StepSpec::Update(_) => true,
        StepSpec::Sql { sql, .. } => sql.asks(&Marker::Ids),
    };
    if !moved.steps.iter().all(asks_for_keys) {
        // A script cannot skip such a statement when no job is left.
        return Err(cannot(format!("a statement of preset {} is not limited to the jobs that are moved", spec.preset)));
    }
    let work = Work::new(spec, moved, batch);
    let mut text = format!("BEGIN IMMEDIATE;\n{CLOCK}{CHECK}\n-- the jobs as they were judged\n");
    text.push_str(&work.rows());
    text.push_str("\n-- keeps those that are unchanged; all others are skipped\n");
    let verify = sql::verify(spec, &work.inline, (batch.action, moved.locks_for_update), None, &[]);
    text.push_str(&kept(&verify.sql));
    text.push_str("\n-- drops keys that have several rows\n");
    let shared = sql::shared_keys(spec, &work.inline, &[]);
    text.push_str(&ended(&format!("DELETE FROM temp.jobdoctor_steps WHERE n IN (\n{}\n)", shared.sql)));
    if let Some(asked) = &spec.claim.guard {
        text.push_str("\n-- drops jobs that a worker holds, by the preset's guard\n");
        let guard = sql::guard(spec, &work.inline, asked, &[]);
        text.push_str(&kept(&format!("WITH g(n, passed) AS (\n{}\n) SELECT n FROM g WHERE passed = 1", guard.sql)));
    }
    text.push_str("\n-- the action\n");
    text.push_str(&work.actions());
    text.push_str(&format!(
        "COMMIT;\nSELECT 'batch {} of {}: ' || count(*) || ' of {} moved' FROM temp.jobdoctor_steps;\n\
         DROP TABLE temp.jobdoctor_steps;\nDROP TABLE temp.jobdoctor_check;\nDROP TABLE temp.jobdoctor_now;\n",
        place.number,
        place.of,
        batch.steps.len()
    ));
    work.finish(text)
}

fn kept(which: &str) -> String {
    ended(&format!("DELETE FROM temp.jobdoctor_steps WHERE n NOT IN (\n{which}\n)"))
}

impl Work<'_> {
    fn rows(&self) -> String {
        let keys = (1..=self.spec.claim.key.len()).map(|n| format!("k{n}"));
        let precondition = (1..=self.spec.claim.precondition.len()).map(|n| format!("f{n}"));
        let columns: Vec<String> = std::iter::once("n".to_owned()).chain(keys).chain(precondition).collect();
        let rows = self.batch.steps.iter().enumerate().map(|(n, step)| {
            let mut values = vec![(n + 1).to_string()];
            values.extend(step.key.0.iter().map(|cell| self.inline.literal(cell)));
            let precondition = self::values(step.precondition()).map(|precondition| precondition.join(", "));
            values.push(self.inline.or_problem(precondition));
            format!("  ({})", values.join(", "))
        });
        let rows = rows.collect::<Vec<_>>().join(",\n");
        // k is the key, f the precondition. Columns without a type store values as they are.
        format!(
            "CREATE TEMP TABLE jobdoctor_steps ({});\nINSERT INTO temp.jobdoctor_steps VALUES\n{rows};\n",
            columns.join(", ")
        )
    }

    fn actions(&self) -> String {
        let mut text = String::new();
        let acts = sql::acts(
            self.spec,
            &self.inline,
            self.moved,
            &[],
            (Timestamp::EPOCH, Timestamp::EPOCH),
            self.batch.reason,
        );
        for (n, act) in acts.into_iter().enumerate() {
            text.push_str(&ended(&act.statement.sql));
            let did = format!("'statement {}', changes(), {WANTED}", n + 1);
            text.push_str(&match act.rows {
                Rows::Each => checked(&did, ""),
                Rows::AtMostEach => checked(&did, &format!(" WHERE changes() > {WANTED}")),
                Rows::Any => String::new(),
            });
        }
        if let Some(check) = sql::left_behind(self.spec, &self.inline, self.moved, &[]) {
            let left = format!(" FROM (\n{}\n)", check.sql);
            text.push_str(&checked("'still in flight, or in another state', in_flight + elsewhere, 0", &left));
        }
        text
    }
}

fn checked(what: &str, only: &str) -> String {
    format!("INSERT OR ROLLBACK INTO temp.jobdoctor_check SELECT {what}{only};\n")
}

/// Compares value by value, because versions of SQLite differ in how `quote()` spells a real number, and because people
/// can read it. Equal means the same storage class and the same bytes, whatever the collation.
pub(super) fn same(values: &[String]) -> String {
    let one = |(n, value): (usize, &String)| {
        format!("{value} IS w.f{n} COLLATE BINARY AND typeof({value}) = typeof(w.f{n})", n = n + 1)
    };
    values.iter().enumerate().map(one).collect::<Vec<_>>().join("\n  AND ")
}

/// The values of a precondition as literals. A precondition joins the results of `quote()`, with text in hexadecimal
/// after a `t`, so no value holds a comma.
fn values(precondition: &str) -> Result<Vec<String>, String> {
    precondition.split(',').map(|part| value(part).ok_or_else(|| format!("a precondition holds `{part}`"))).collect()
}

fn value(part: &str) -> Option<String> {
    let cell = match part.strip_prefix('t') {
        Some(hex) => {
            let bytes = (0..hex.len() / 2).map(|n| u8::from_str_radix(hex.get(2 * n..2 * n + 2)?, 16).ok());
            match String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?) {
                Ok(text) => Cell::Text(text),
                Err(broken) => Cell::BrokenText(broken.into_bytes()),
            }
        }
        None if part == "NULL" || part.starts_with("X'") => return Some(part.to_owned()),
        None => match (part.parse(), part.parse()) {
            (Ok(number), _) => Cell::Integer(number),
            (_, Ok(number)) => Cell::Real(number),
            _ => return None,
        },
    };
    literal(Engine::Sqlite, &cell).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precondition_is_taken_apart_into_what_it_was_made_of() {
        assert_eq!(
            values("t6974,5,NULL,X'00ff',-2.5,t,tff").unwrap(),
            [
                "'it'",
                "5",
                "NULL",
                "X'00ff'",
                "(-2 + -2251799813685248 / 4503599627370496.0)",
                "''",
                "CAST(X'ff' AS TEXT)"
            ]
        );
        assert!(values("5;DROP").is_err());
    }
}

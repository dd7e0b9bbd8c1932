//! What a record keeps of a row.

use super::database::{Database, Row};
use jobdoctor::model::{Cell, End, Key, Outcome, RowChange, RowImage, Step, ValueChange};
use jobdoctor::preset::{Column, Jobs};
use jobdoctor::store::fingerprint;

pub fn rows(database: &Database, spec: &Jobs) -> Vec<(Key, Row)> {
    let rows = database.rows(spec.queue.tables[&spec.claim.lock_table].name.as_str());
    rows.iter().map(|row| (key_of(spec, row), row.clone())).collect()
}

pub fn key_of(spec: &Jobs, row: &Row) -> Key {
    Key(spec.claim.key.iter().map(|column| row[column.name.as_str()].clone()).collect())
}

/// A row as a record keeps it.
pub fn image(spec: &Jobs, columns: &[&Column], row: &Row) -> RowImage {
    let cell = |column: &Column| row[column.name.as_str()].clone();
    let whole: Vec<Cell> = spec.row.iter().map(cell).collect();
    RowImage {
        values: columns.iter().map(|column| cell(column)).collect(),
        fingerprint: fingerprint(&spec.row, &whole),
    }
}

/// The steps that were moved, as they are recorded before the commit; without columns, only that they were.
pub fn recorded(
    spec: &Jobs,
    columns: Option<&[&Column]>,
    before: &[(Key, Row)],
    after: &[(Key, Row)],
    steps: &[Step],
    outcomes: &[Outcome],
) -> Vec<Step<End>> {
    let find = |rows: &[(Key, Row)], key: &Key| rows.iter().find(|(known, _)| known == key).unwrap().1.clone();
    let moved = steps.iter().zip(outcomes).filter(|(_, outcome)| **outcome == Outcome::Moved);
    let record = |(step, _): (&Step, &Outcome)| {
        let row = columns.map(|columns| {
            let image = |rows| image(spec, columns, &find(rows, &step.key));
            let (before, after) = (image(before), image(after));
            let value = |(column, (before, after)): (&&Column, (&Cell, &Cell))| ValueChange {
                column: column.name.as_str().into(),
                before: before.clone(),
                after: after.clone(),
            };
            RowChange {
                values: columns.iter().zip(before.values.iter().zip(&after.values)).map(value).collect(),
                before: before.fingerprint,
                after: after.fingerprint,
            }
        });
        step.at(End { row, ..End::of(Outcome::Unknown) })
    };
    moved.map(record).collect()
}

//! What a row is, told from the spec alone.

use super::database::Row;
use super::expression::{Scope, evaluate};
use jobdoctor::model::{
    Cell, Claim, EvidenceRow, Key, LockSign, Owner, OwnerRow, Precondition, Reading, Sign, Timestamp, is_blank,
};
use jobdoctor::preset::{
    Column, Expr, Jobs, JoinOn, Liveness, Max, MaxRuntime, OwnerRowSpec, Piece, Runs, SilentAfter, StateSource,
    TimeColumn,
};
use jobdoctor::store::FinishedRun;
use std::collections::BTreeMap;
use std::time::Duration;

/// One row of the claim's table beside its owner's row.
pub struct Joined<'d> {
    spec: &'d Jobs,
    pub row: &'d Row,
    pub owner: Option<&'d Row>,
}

pub fn joined<'d>(spec: &'d Jobs, tables: &'d BTreeMap<&'static str, Vec<Row>>) -> Vec<Joined<'d>> {
    assert!(
        matches!(spec.claim.from.0.as_slice(), [Piece::Name(_), Piece::Text(alias)] if alias.trim() == "AS j"),
        "the memory store takes claims of one plain table: {:?}",
        spec.claim.from
    );
    let rows = &tables[spec.queue.tables[&spec.claim.lock_table].name.as_str()];
    rows.iter()
        .map(|row| {
            let mut joined = Joined { spec, row, owner: None };
            if let Some(owner) = &spec.owner.row {
                let owners = &tables[spec.queue.tables[&owner.table].name.as_str()];
                let matching: Vec<&Row> = owners.iter().filter(|candidate| joined.matches(owner, candidate)).collect();
                assert!(matching.len() <= 1, "an owner has two rows");
                joined.owner = matching.first().copied();
            }
            joined
        })
        .collect()
}

pub fn owner_row<'d>(
    spec: &Jobs,
    owner: &OwnerRowSpec,
    tables: &'d BTreeMap<&'static str, Vec<Row>>,
    key: &Cell,
) -> Option<&'d Row> {
    let rows = &tables[spec.queue.tables[&owner.table].name.as_str()];
    rows.iter().find(|row| row[owner.key.name.as_str()] == *key)
}

/// The values of the owner's row that a verdict may rest on.
pub fn owner_image(owner: &OwnerRowSpec, row: &Row) -> Precondition {
    let times = owner.heartbeat.iter().chain(&owner.started).map(|time| &time.column);
    let columns = std::iter::once(&owner.key).chain(times);
    image(columns.map(|column| row[column.name.as_str()].clone()))
}

fn image(cells: impl Iterator<Item = Cell>) -> Precondition {
    Precondition(format!("{:?}", cells.collect::<Vec<_>>()))
}

impl Joined<'_> {
    fn matches(&self, owner: &OwnerRowSpec, candidate: &Row) -> bool {
        let JoinOn::Match(pairs) = &owner.on else { panic!("the memory store joins by columns only") };
        pairs.iter().all(|(column, equals)| {
            let wanted = self.value(equals);
            let is_nobody =
                wanted.is_null() || Some(equals) == self.spec.owner.id.as_ref() && self.owner_id().is_none();
            !is_nobody && candidate[column.name.as_str()] == wanted
        })
    }

    /// The owner's id; a text that shows nothing is none.
    fn owner_id(&self) -> Option<String> {
        self.text(self.spec.owner.id.as_ref()).filter(|id| !is_blank(id))
    }

    fn column(&self, alias: &str, name: &str) -> Cell {
        match alias {
            "j" => self.row.get(name).unwrap_or_else(|| panic!("no column {name}")).clone(),
            "o" => self.owner.map_or(Cell::Null, |row| row[name].clone()),
            _ => panic!("there is no alias {alias}"),
        }
    }

    fn cell(&self, column: &Column) -> Cell {
        self.column(&column.alias, &column.name)
    }

    pub fn value(&self, expr: &Expr) -> Cell {
        match expr {
            Expr::Column(column) => self.cell(column),
            Expr::Sql(template) => self.fragment(template),
        }
    }

    fn fragment(&self, template: &jobdoctor::preset::Template) -> Cell {
        let marker = |marker: &jobdoctor::preset::Marker| panic!("no value for {marker:?} here");
        evaluate(template, &Scope { column: &|alias, name| self.column(alias, name), marker: &marker })
    }

    fn text(&self, expr: Option<&Expr>) -> Option<String> {
        expr.and_then(|expr| self.value(expr).to_text())
    }

    fn time(&self, time: Option<&TimeColumn>) -> Reading {
        let Some(time) = time else { return Reading::Absent };
        let cell = self.cell(&time.column);
        let stands_for_nothing = cell.to_text().is_some_and(|text| time.sentinels.contains(&text));
        if stands_for_nothing { Reading::Absent } else { time.encodings.decode(&cell) }
    }

    pub fn key(&self) -> Key {
        Key(self.spec.claim.key.iter().map(|column| self.cell(column)).collect())
    }

    pub fn state(&self) -> Cell {
        match &self.spec.claim.state {
            StateSource::Column(column) => self.cell(column),
            StateSource::Place(_) => panic!("the memory store knows no places"),
        }
    }

    pub fn queue_and_kind(&self) -> (Option<String>, Option<String>) {
        (self.text(self.spec.claim.queue.as_ref()), self.text(self.spec.claim.kind.as_ref()))
    }

    /// Its last run, if it has ended well.
    pub fn finished(&self, runs: &Runs) -> Option<FinishedRun> {
        let state = self.state();
        let filter = runs.filter.as_ref().map(|filter| self.fragment(filter));
        let is_one = runs.states.is_empty() || runs.states.iter().any(|known| known.stored == state);
        let (queue, kind) = self.queue_and_kind();
        let (started, ended) = (self.time(Some(&runs.started)), self.time(Some(&runs.at)));
        (is_one && filter.is_none_or(|truth| truth == Cell::Integer(1))).then_some(FinishedRun {
            queue,
            kind,
            started,
            ended,
        })
    }

    pub fn in_flight(&self) -> bool {
        let state = self.state();
        let filter = self.spec.claim.filter.as_ref().map(|filter| self.fragment(filter));
        self.spec.states.iter().any(|known| known.stored == state)
            && filter.is_none_or(|truth| truth == Cell::Integer(1))
    }

    pub fn precondition(&self) -> Precondition {
        image(self.spec.claim.precondition.iter().map(|expr| self.value(expr)))
    }

    /// For each hold, whether it applies.
    pub fn skips(&self) -> Vec<bool> {
        self.spec.skips.iter().map(|skip| self.fragment(&skip.condition) == Cell::Integer(1)).collect()
    }

    pub fn claim(&self) -> Claim {
        let spec = self.spec;
        let owner_spec = spec.owner.row.as_ref();
        let beat = self.time(owner_spec.and_then(|row| row.heartbeat.as_ref()));
        let signs: Vec<Sign> = spec.liveness.iter().map(|source| self.sign(source, &beat)).collect();
        let beats = spec.liveness.iter().zip(&signs).filter(|(s, _)| matches!(s, Liveness::Heartbeat { .. }));
        let beats = beats.map(|(_, sign)| sign.at.clone()).chain([beat]);
        let id = self.owner_id();
        let said = |expr: Option<&Expr>| self.text(expr).filter(|text| text.contains(|c: char| !c.is_whitespace()));
        Claim {
            key: self.key(),
            state: spec.queue.states.name_of(&self.state()),
            queue: self.text(spec.claim.queue.as_ref()),
            kind: self.text(spec.claim.kind.as_ref()),
            owner: id.clone().map(|id| Owner {
                name: said(spec.owner.name.as_ref()).unwrap_or_else(|| id.clone()),
                host: said(spec.owner.host.as_ref()),
                host_spelling: spec.owner.host_spelling,
                id,
            }),
            owner_row: match (owner_spec, self.owner, id) {
                (None, _, _) => OwnerRow::NotAsked,
                (Some(row), Some(_), _) => OwnerRow::Present {
                    heartbeat: self.time(row.heartbeat.as_ref()),
                    started: self.time(row.started.as_ref()),
                },
                (Some(_), None, Some(owner)) => {
                    let seen = spec.shown.missing_owners.get(&owner);
                    OwnerRow::Missing { seen: seen.map_or(Reading::Absent, |at| Reading::At(*at)) }
                }
                (Some(_), None, None) => OwnerRow::Unset,
            },
            claimed_at: self.time(spec.claim.claimed_at.as_ref()),
            heartbeat: beats.max_by_key(|beat| beat.at().map(Timestamp::micros)).unwrap_or(Reading::Absent),
            signs,
            attempts: spec.attempts.column.as_ref().map_or(Cell::Null, |expr| self.value(expr)),
            max_attempts: match &spec.attempts.max {
                None => Cell::Null,
                Some(Max::Number(number)) => Cell::Integer(*number),
                Some(Max::Expr(expr)) => self.value(expr),
            },
            stalls: spec.attempts.stalls.as_ref().and_then(|expr| match self.value(expr) {
                Cell::Null => Some(0),
                Cell::Integer(count) => (count >= 0).then_some(count),
                other => panic!("the memory store counts in integers: {other:?}"),
            }),
            deadline: self.time(spec.rules.deadline.as_ref()),
            cancel_requested: match &spec.rules.cancel_requested {
                None => false,
                Some(Expr::Column(column)) => is_true(&self.cell(column)),
                Some(Expr::Sql(sql)) => is_true(&self.fragment(sql)),
            },
            max_runtime: match &spec.rules.max_runtime {
                None => None,
                Some(MaxRuntime::Span(span)) => Some(*span),
                Some(MaxRuntime::Column(column)) => seconds(&self.cell(column)),
            },
            skips: self.skips(),
            extra: spec.show.iter().map(|(_, expr)| self.text(Some(expr))).collect(),
            progress: Some(image(spec.claim.progress.iter().map(|expr| self.value(expr))))
                .filter(|_| !spec.claim.progress.is_empty()),
            precondition: self.precondition(),
            vetoed: false,
            astray: Vec::new(),
            evidence_row: match (owner_spec, self.owner) {
                (None, _) => EvidenceRow::None,
                (Some(_), None) => EvidenceRow::Absent,
                (Some(owner), Some(row)) => {
                    EvidenceRow::Row { key: row[owner.key.name.as_str()].clone(), image: owner_image(owner, row) }
                }
            },
        }
    }

    fn sign(&self, source: &Liveness, beat: &Reading) -> Sign {
        let at = match source {
            Liveness::Owner { .. } => beat.clone(),
            Liveness::Lease { column, plus: Some(plus) } => match (self.time(Some(column)), self.cell(plus)) {
                (Reading::At(_), Cell::Null) => Reading::Absent,
                (Reading::At(at), cell) => match seconds(&cell) {
                    Some(span) => Reading::At(at.plus(span)),
                    None => Reading::Unfit { raw: cell.to_string(), why: "is no span".to_owned() },
                },
                (other, _) => other,
            },
            other => self.time(other.column()),
        };
        let silent_after = match source.silent_after() {
            Some(SilentAfter::Column(column)) => {
                let cell = self.cell(column);
                (!cell.is_null()).then(|| seconds(&cell).unwrap_or_default())
            }
            _ => None,
        };
        assert!(!matches!(source, Liveness::Lock { .. }), "the memory store has no sessions that hold locks");
        Sign { at, silent_after, lock: LockSign::Absent }
    }
}

fn seconds(cell: &Cell) -> Option<Duration> {
    match cell {
        Cell::Integer(n) => u64::try_from(*n).ok().map(Duration::from_secs),
        _ => None,
    }
}

fn is_true(cell: &Cell) -> bool {
    !matches!(cell, Cell::Null | Cell::Integer(0))
}

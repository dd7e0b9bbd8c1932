//! How a time column spells an instant, in both directions, and the bounds that let an index find the old ones.
//!
//! A value is read only in the ways its preset declares; one that does not fit is unfit, never guessed at. Seconds read
//! as milliseconds, or local time read as UTC, would make every live job look dead.

mod text;
mod zone;

pub use text::TextPattern;
use zone::Doubt;
pub use zone::{Said, Zone};

use crate::model::{Cell, Reading, Timestamp};
use jiff::SignedDuration;
use jiff::civil::{DateTime, datetime};
use std::{cmp::Ordering, fmt, iter};

const ALLOWED: &str = "`native`, `native ZONE`, `epoch s`, `epoch ms`, `epoch us`, `epoch ns`, `epoch s float` \
                       or `text PATTERN`";
const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

#[derive(Debug, Clone, PartialEq)]
pub enum Encoding {
    /// A timestamp of the database. `None` needs one with time zone; a column without is read in the zone given.
    Native(Option<Zone>),
    /// A whole number of units since 1970-01-01T00:00:00Z, stored as an integer.
    Epoch(Unit),
    /// Seconds since 1970-01-01T00:00:00Z with a fraction, stored as a real or an integer.
    EpochFloat,
    Text(TextPattern),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Millis,
    Micros,
    /// Nanoseconds, 10^-9 s; read to the microsecond below.
    Nanos,
}

/// The side of a cut-off on which a bound must lose no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Two instants at which zones that differ do.
const SEASONS: [&str; 2] = ["2026-01-15T12:34:56Z", "2026-07-15T12:34:56Z"];

/// One column's encodings, at least one: any is read, the first is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Encodings {
    first: Encoding,
    others: Vec<Encoding>,
}

impl Encodings {
    /// The encodings of one column; `first` is the one that is written.
    pub fn new(first: Encoding, others: Vec<Encoding>) -> Encodings {
        Encodings { first, others }
    }

    /// The same encodings, which take the earlier instant where a zone shows a wall clock twice: an owner's start kills
    /// its older claims, so that the later one is not the safer.
    #[must_use]
    pub fn earliest(mut self) -> Encodings {
        for encoding in iter::once(&mut self.first).chain(&mut self.others) {
            match encoding {
                Encoding::Native(Some(zone)) => zone.doubt = Doubt::Earlier,
                Encoding::Text(pattern) => pattern.zone.doubt = Doubt::Earlier,
                Encoding::Native(None) | Encoding::Epoch(_) | Encoding::EpochFloat => {}
            }
        }
        self
    }

    /// The same encodings, in that zone where they name none.
    #[must_use]
    pub fn in_zone(mut self, zone: Option<&Zone>) -> Encodings {
        let Some(zone) = zone else { return self };
        for encoding in iter::once(&mut self.first).chain(&mut self.others) {
            match encoding {
                Encoding::Native(None) => *encoding = Encoding::Native(Some(zone.clone())),
                Encoding::Native(Some(unsaid)) | Encoding::Text(TextPattern { zone: unsaid, .. })
                    if zone.replaces(unsaid) =>
                {
                    *unsaid = zone.clone();
                }
                _ => {}
            }
        }
        self
    }

    /// Who says in which zone they are, at the worst.
    pub fn said(&self) -> Said {
        self.iter().map(Encoding::said).max().unwrap_or(Said::Surely)
    }

    pub fn first(&self) -> &Encoding {
        &self.first
    }

    /// Every encoding that is read, the written one first.
    pub fn iter(&self) -> impl Iterator<Item = &Encoding> {
        iter::once(&self.first).chain(&self.others)
    }

    /// True when the stored values are in the order of time, but for fractions of a second.
    pub fn are_sorted(&self) -> bool {
        self.others.is_empty() && !matches!(&self.first, Encoding::Text(pattern) if pattern.has_offsets())
    }

    pub fn is_text(&self) -> bool {
        self.iter().any(|encoding| matches!(encoding, Encoding::Text(_)))
    }

    /// The place of the first whose own values another one reads as other instants: `epoch s` next to `epoch ms`, or
    /// two zones. A column that is spelled so could not be read.
    pub fn ambiguous(&self) -> Option<usize> {
        self.iter().position(|encoding| {
            let alone = Encodings::new(encoding.clone(), Vec::new());
            SEASONS.iter().filter_map(|at| Timestamp::parse(at)).any(|at| self.read(&alone.encode(at)).is_err())
        })
    }

    /// What a stored value says. One that two encodings read as different instants is as unfit as one that none reads.
    pub fn decode(&self, cell: &Cell) -> Reading {
        if cell.is_null() {
            return Reading::Absent;
        }
        match self.read(cell) {
            Ok(at) => Reading::At(at),
            Err(why) => Reading::Unfit { raw: cell.to_string(), why },
        }
    }

    fn read(&self, cell: &Cell) -> Result<Timestamp, String> {
        let read = self.first.read(cell);
        if self.others.is_empty() {
            return read;
        }
        let mut readings = self.iter().filter_map(|encoding| encoding.read(cell).ok());
        let at = readings.next().ok_or_else(|| format!("fits none of: {self}"))?;
        if readings.all(|other| other == at) { Ok(at) } else { Err(format!("can be read in two ways as: {self}")) }
    }

    /// The instant as it is written: rounded down to the first encoding's precision, or the nearest it can spell.
    ///
    /// In the hour that a zone repeats, what is written for the earlier pass reads back as the later one.
    pub fn encode(&self, at: Timestamp) -> Cell {
        match &self.first {
            Encoding::Native(None) => Cell::Instant(at.micros()),
            Encoding::Native(Some(zone)) => wall_clock_cell(zone.wall_clock(at)),
            // The ends of i64 do not count as times: see `Unit::to_micros`.
            Encoding::Epoch(unit) => Cell::Integer(unit.floor(at).clamp(i64::MIN + 1, i64::MAX - 1)),
            Encoding::EpochFloat => Cell::Real(seconds(at)),
            Encoding::Text(pattern) => Cell::Text(pattern.write(at)),
        }
    }

    /// Bounds for `column < bound` in a pre-filter, one for each kind of value in which the encodings store time.
    ///
    /// Every stored value that reads as an instant before `cut` is below at least one of them. Others may be too.
    /// Text must be compared by its bytes, and [`Encoding::Native`] with a zone supposes a column without time zone.
    pub fn before(&self, cut: Timestamp) -> Vec<Cell> {
        self.bounds(cut, Side::Before)
    }

    /// Bounds for `column > bound`: the mirror image of [`Encodings::before`].
    pub fn after(&self, cut: Timestamp) -> Vec<Cell> {
        self.bounds(cut, Side::After)
    }

    fn bounds(&self, cut: Timestamp, side: Side) -> Vec<Cell> {
        let wider = if side == Side::Before { Ordering::Greater } else { Ordering::Less };
        let mut bounds: Vec<Cell> = Vec::new();
        for bound in self.iter().map(|encoding| encoding.bound(cut, side)) {
            match bounds.iter_mut().find_map(|known| Some((compare(&bound, known)?, known))) {
                Some((order, known)) if order == wider => *known = bound,
                Some(_) => {}
                None => bounds.push(bound),
            }
        }
        bounds
    }
}

/// The spellings of the preset format, separated by commas.
impl fmt::Display for Encodings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.others.iter().try_for_each(|encoding| write!(f, ", {encoding}"))
    }
}

impl Encoding {
    /// Reads a spelling of the preset format: `native utc`, `epoch ms`, `text YYYY-MM-DD HH:MM:SS[Z]`.
    /// The error is the rest of a sentence: what is wrong, and what is allowed.
    pub fn parse(text: &str) -> Result<Encoding, String> {
        match text.split_once(' ') {
            None if text == "native" => Ok(Encoding::Native(None)),
            Some(("native", zone)) => Ok(Encoding::Native(Some(Zone::parse(zone)?))),
            Some(("epoch", "s")) => Ok(Encoding::Epoch(Unit::Seconds)),
            Some(("epoch", "ms")) => Ok(Encoding::Epoch(Unit::Millis)),
            Some(("epoch", "us")) => Ok(Encoding::Epoch(Unit::Micros)),
            Some(("epoch", "ns")) => Ok(Encoding::Epoch(Unit::Nanos)),
            Some(("epoch", "s float")) => Ok(Encoding::EpochFloat),
            Some(("text", pattern)) => Ok(Encoding::Text(TextPattern::parse(pattern)?)),
            _ => Err(format!("unknown encoding `{text}`; allowed are {ALLOWED}")),
        }
    }

    /// Who says in which zone it is.
    pub fn said(&self) -> Said {
        match self {
            Encoding::Text(TextPattern { zone, .. }) | Encoding::Native(Some(zone)) => zone.said,
            Encoding::Native(None) | Encoding::Epoch(_) | Encoding::EpochFloat => Said::Surely,
        }
    }

    fn read(&self, cell: &Cell) -> Result<Timestamp, String> {
        let at = match (self, cell) {
            (_, Cell::Infinity | Cell::NegativeInfinity) => return Err("is infinite".to_owned()),
            // A zone is declared for columns that have none; an instant needs no help.
            (Encoding::Native(_), Cell::Instant(micros)) => Timestamp::from_micros(*micros),
            (Encoding::Native(Some(zone)), Cell::WallClock(micros)) => {
                EPOCH.checked_add(SignedDuration::from_micros(*micros)).ok().and_then(|wall| zone.instant(wall))
            }
            (Encoding::Native(None), Cell::WallClock(_)) => {
                return Err("has no time zone; declare the one it is written in, as in `native utc`".to_owned());
            }
            (Encoding::Epoch(unit), Cell::Integer(count)) => unit.to_micros(*count).and_then(Timestamp::from_micros),
            (Encoding::EpochFloat, Cell::Integer(count)) => {
                Unit::Seconds.to_micros(*count).and_then(Timestamp::from_micros)
            }
            (Encoding::EpochFloat, Cell::Real(seconds)) if !seconds.is_finite() => {
                return Err("is not a finite number".to_owned());
            }
            // A float cast saturates, and the ends of i64 are out of range.
            (Encoding::EpochFloat, Cell::Real(seconds)) => Timestamp::from_micros((seconds * 1e6).round() as i64),
            (Encoding::Text(pattern), Cell::Text(text)) => pattern.read(text)?,
            (_, cell) => return Err(format!("is {}, not {}", cell.type_name(), self.wants())),
        };
        at.ok_or_else(|| "is out of range".to_owned())
    }

    fn wants(&self) -> &'static str {
        match self {
            Encoding::Native(_) => "a timestamp",
            Encoding::Epoch(_) => "an integer",
            Encoding::EpochFloat => "a number",
            Encoding::Text(_) => "text",
        }
    }

    fn bound(&self, cut: Timestamp, side: Side) -> Cell {
        match (self, side) {
            (Encoding::Native(None), _) => Cell::Instant(cut.micros()),
            (Encoding::Native(Some(zone)), _) => wall_clock_cell(zone.bound(cut, side)),
            // The ends of i64 are no times: a bound that saturates must still find them beyond it.
            (Encoding::Epoch(unit), Side::Before) => Cell::Integer(unit.ceil(cut).max(i64::MIN + 1)),
            (Encoding::Epoch(unit), Side::After) => Cell::Integer(unit.floor(cut).min(i64::MAX - 1)),
            (Encoding::EpochFloat, _) => {
                let cut = seconds(cut);
                // A microsecond for the rounding in `read`, and some ulps for the years where floats are coarser.
                let margin = 1e-6 + cut.abs() * f64::EPSILON * 4.0;
                Cell::Real(if side == Side::Before { cut + margin } else { cut - margin })
            }
            (Encoding::Text(pattern), _) => Cell::Text(pattern.bound(cut, side)),
        }
    }
}

/// The spelling of the preset format, which [`Encoding::parse`] reads back.
impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Encoding::Native(None) => f.write_str("native"),
            Encoding::Native(Some(zone)) => write!(f, "native {zone}"),
            Encoding::Epoch(Unit::Seconds) => f.write_str("epoch s"),
            Encoding::Epoch(Unit::Millis) => f.write_str("epoch ms"),
            Encoding::Epoch(Unit::Micros) => f.write_str("epoch us"),
            Encoding::Epoch(Unit::Nanos) => f.write_str("epoch ns"),
            Encoding::EpochFloat => f.write_str("epoch s float"),
            Encoding::Text(pattern) => write!(f, "text {pattern}"),
        }
    }
}

impl Unit {
    /// Microseconds; `None` on overflow. The ends of i64 are "never" to many a schema, not times, and leaving them out
    /// also keeps a bound that saturates from losing a row.
    fn to_micros(self, count: i64) -> Option<i64> {
        match self {
            _ if count == i64::MIN || count == i64::MAX => None,
            Unit::Seconds => count.checked_mul(1_000_000),
            Unit::Millis => count.checked_mul(1000),
            Unit::Micros => Some(count),
            Unit::Nanos => Some(count.div_euclid(1000)),
        }
    }

    fn floor(self, at: Timestamp) -> i64 {
        match self {
            Unit::Seconds => at.micros().div_euclid(1_000_000),
            Unit::Millis => at.micros().div_euclid(1000),
            Unit::Micros => at.micros(),
            Unit::Nanos => at.micros().saturating_mul(1000),
        }
    }

    fn ceil(self, at: Timestamp) -> i64 {
        let floor = self.floor(at);
        if self.to_micros(floor) == Some(at.micros()) { floor } else { floor.saturating_add(1) }
    }
}

fn seconds(at: Timestamp) -> f64 {
    at.micros() as f64 / 1e6
}

fn wall_clock_cell(wall: DateTime) -> Cell {
    let micros = wall.duration_since(EPOCH).as_micros();
    Cell::WallClock(i64::try_from(micros).unwrap_or(i64::MAX))
}

/// The order of two values of one kind; `None` for different kinds.
fn compare(a: &Cell, b: &Cell) -> Option<Ordering> {
    match (a, b) {
        (Cell::Integer(a), Cell::Integer(b))
        | (Cell::Instant(a), Cell::Instant(b))
        | (Cell::WallClock(a), Cell::WallClock(b)) => Some(a.cmp(b)),
        (Cell::Real(a), Cell::Real(b)) => a.partial_cmp(b),
        (Cell::Text(a), Cell::Text(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

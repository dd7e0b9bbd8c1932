//! Lists of which the first items, or all, are kept in order while they are found in any.

use super::document::Shape;
use super::format::{Format, Lines};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io;

/// The most skipped jobs, unknown jobs and unmoved steps of later passes in a document, each; all are counted.
pub const LISTED: usize = 1_000;

/// The items of the smallest orders, longest silent first where the order is the last sign of life. What comes after
/// them is counted and dropped, so that memory holds at most a quarter more than are wanted.
pub struct First<T> {
    /// Boxed, since a long list of large items would double while it grows.
    items: Vec<(i64, Box<T>)>,
    most: usize,
    /// An item of this order, or of a larger one, is none of the first.
    full_from: Option<i64>,
    offered: u64,
}

impl<T> First<T> {
    pub fn of(most: usize) -> First<T> {
        First { items: Vec::new(), most, full_from: (most == 0).then_some(i64::MIN), offered: 0 }
    }

    /// False if an item of this order is none of the first.
    pub fn wants(&self, order: i64) -> bool {
        self.full_from.is_none_or(|from| order < from)
    }

    /// Counts an item, and makes it if it may be one of the first. Equal orders stay in the order of adding.
    pub fn add(&mut self, order: i64, make: impl FnOnce() -> T) {
        self.displace(order, make);
    }

    /// Adds an item, and returns those that are no longer among the first.
    pub fn displace(&mut self, order: i64, make: impl FnOnce() -> T) -> Vec<(i64, Box<T>)> {
        self.offered += 1;
        if !self.wants(order) {
            return Vec::new();
        }
        self.items.push((order, Box::new(make())));
        if self.items.len() <= self.most.saturating_add(self.most / 4) {
            return Vec::new();
        }
        let others = self.shrink();
        self.full_from = self.items.last().map(|(order, _)| *order);
        others
    }

    /// Puts the items in order, and returns those beyond the first.
    pub fn shrink(&mut self) -> Vec<(i64, Box<T>)> {
        self.items.sort_by_key(|(order, _)| *order);
        self.items.split_off(self.most.min(self.items.len()))
    }

    fn shrunk(mut self) -> Vec<(i64, Box<T>)> {
        self.shrink();
        self.items
    }

    /// The first items in order, and how many come after them.
    pub fn finish(mut self) -> (Vec<T>, u64) {
        self.shrink();
        let dropped = self.offered.saturating_sub(self.items.len() as u64);
        (self.items.into_iter().map(|(_, item)| *item).collect(), dropped)
    }
}

/// A shorter list is held as items, whatever its format.
const FEW: usize = 1_000;

/// A list of a document: its items, or already their lines in the format of the report.
pub enum Listing<T> {
    Items(Vec<T>),
    Lines(Lines),
}

/// The most classes of which examples are kept, and the examples of each.
const CLASSES: usize = 2_000;
const EXAMPLES: usize = 10;

/// A list of which the items are found in any order.
pub struct Collector<T> {
    most: usize,
    items: First<T>,
    lines: Option<(Lines, Shape, Format)>,
    /// Examples of each class, where the list is of examples.
    classes: Option<HashMap<u64, (usize, First<T>)>>,
}

impl<T> Collector<T> {
    pub fn first(most: usize) -> Collector<T> {
        Collector { most, items: First::of(most), lines: None, classes: None }
    }

    /// Collects lines where the list is for a program and may be long, and else the first items.
    pub(super) fn of(shape: Shape, format: Format, limit: Option<usize>) -> Collector<T> {
        let most = limit.unwrap_or(usize::MAX);
        let is_long = format.is_machine() && most > FEW;
        Collector { lines: is_long.then(|| (Lines::default(), shape, format)), ..Collector::first(most) }
    }
}

impl<T: Serialize> Collector<T> {
    /// Collects the first few of each class.
    pub fn examples() -> Collector<T> {
        Collector { classes: Some(HashMap::new()), ..Collector::first(usize::MAX) }
    }

    pub fn most(&self) -> usize {
        self.most
    }

    /// Adds an item, which is made only if there is a use for it. Smaller orders come first.
    pub fn add(&mut self, order: i64, class: impl FnOnce() -> u64, make: impl FnOnce() -> T) {
        if let Some(classes) = &mut self.classes {
            let (class, known) = (class(), classes.len());
            if known < CLASSES || classes.contains_key(&class) {
                classes.entry(class).or_insert_with(|| (known, First::of(EXAMPLES))).1.add(order, make);
            }
            return;
        }
        match &mut self.lines {
            None => self.items.add(order, make),
            Some((lines, shape, format)) => lines.add(order, (), |out| match format {
                Format::Json => Ok(serde_json::to_writer(out, &make())?),
                _ => shape.line(*format, &serde_json::to_vec(&make())?, out),
            }),
        }
    }

    pub fn finish(mut self) -> io::Result<Listing<T>> {
        if let Some(classes) = self.classes {
            // Equal orders stay in the order of their classes.
            let mut classes: Vec<(usize, First<T>)> = classes.into_values().collect();
            classes.sort_by_key(|(known, _)| *known);
            self.items.items = classes.into_iter().flat_map(|(_, first)| first.shrunk()).collect();
        }
        let Some((mut lines, ..)) = self.lines else { return Ok(Listing::Items(self.items.finish().0)) };
        lines.sort(self.most)?;
        Ok(Listing::Lines(lines))
    }
}

impl<T> Listing<T> {
    pub fn len(&self) -> usize {
        match self {
            Listing::Items(items) => items.len(),
            Listing::Lines(lines) => lines.count(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items, as far as they are in memory.
    pub fn items(&self) -> &[T] {
        match self {
            Listing::Items(items) => items,
            Listing::Lines(_) => &[],
        }
    }
}

/// Lines are those of a JSON document then, each an element.
impl<T: Serialize> Serialize for Listing<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Listing::Items(items) => one_a_line(items, serializer),
            Listing::Lines(lines) => elements::<T, _, _>(&[], lines, serializer),
        }
    }
}

/// A list whose first items are in memory; the rest are lines of JSON.
pub struct LongList<T> {
    pub items: Vec<T>,
    pub rest: Lines<u64>,
}

impl<T> Default for LongList<T> {
    fn default() -> LongList<T> {
        LongList { items: Vec::new(), rest: Lines::default() }
    }
}

impl<T> LongList<T> {
    pub fn count(&self) -> usize {
        self.items.len() + self.rest.count()
    }
}

impl<T: Serialize> Serialize for LongList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        elements(&self.items, &self.rest, serializer)
    }
}

/// Serializes each item as raw JSON, so that an indented document has one item a line.
pub(super) fn one_a_line<T: Serialize, S: Serializer>(items: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    elements(items, &<Lines>::default(), serializer)
}

fn elements<T: Serialize, M: Copy + Ord, S: Serializer>(
    items: &[T],
    lines: &Lines<M>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let json = |item: &T| serde_json::value::to_raw_value(item).map_err(S::Error::custom);
    let mut list = serializer.serialize_seq(Some(items.len() + lines.count()))?;
    items.iter().try_for_each(|item| list.serialize_element(&json(item)?))?;
    for line in lines.iter() {
        let json = String::from_utf8(line.map_err(S::Error::custom)?).map_err(S::Error::custom)?;
        list.serialize_element(&RawValue::from_string(json).map_err(S::Error::custom)?)?;
    }
    list.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_many_are_kept_in_order() {
        for most in [0, 1, 7, 50, 3_000, usize::MAX] {
            let mut first = First::of(most);
            let mut all = Vec::new();
            for n in 0..20_000_i64 {
                // Many equal orders, and neither ascending nor descending.
                let order = n * 7_919 % 997;
                all.push((order, n));
                first.add(order, || n);
                assert!(first.items.len() <= most.saturating_add(most / 4));
            }
            all.sort_by_key(|(order, _)| *order);
            let dropped = 20_000_u64.saturating_sub(most as u64);
            all.truncate(most);
            assert_eq!(first.finish(), (all.into_iter().map(|(_, n)| n).collect(), dropped), "{most}");
        }
    }
}

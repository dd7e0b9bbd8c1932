use super::HistoryStep;
use crate::model::{End, Step};
use crate::policy::Finding;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Up to so many items stay in memory; a longer list goes to a temporary file. A thousand jobs take about 1 MB.
const IN_MEMORY: usize = 4_096;
/// Spilled items are written together once they have this many bytes.
const WRITE: usize = 64 << 10;

/// An item of a [`Spool`].
pub trait Spooled: Clone + Serialize + DeserializeOwned {
    /// What its sentences rest on, if a table words them anew: kept with its JSON, which has the sentences only.
    fn findings(&mut self) -> Option<&mut Vec<Finding>> {
        None
    }
}

impl Spooled for String {}
impl Spooled for Step {}
impl Spooled for Step<End> {}
impl Spooled for HistoryStep {}

/// A list of a document. A long one is kept as JSON in a temporary file, with 16 bytes an item in memory.
///
/// A list is complete before its document is begun, so that a failure leaves stdout empty.
pub struct Spool<T> {
    /// The items, each with its order, while they are few.
    items: Vec<(i64, T)>,
    spilled: Option<Spilled>,
    /// How many items there is a use for, from the first one on.
    most: usize,
    /// An item of this order, or of a larger one, is none of the first.
    full_from: Option<i64>,
}

impl<T> Default for Spool<T> {
    fn default() -> Self {
        Spool::first(usize::MAX)
    }
}

impl<T> Spool<T> {
    /// A list of which only the first `most` items are wanted. A short one keeps no more than twice as many in memory.
    pub fn first(most: usize) -> Spool<T> {
        Spool { items: Vec::new(), spilled: None, most, full_from: (most == 0).then_some(i64::MIN) }
    }

    /// Whether an item of that order may be one of the first; if not, it need not be made.
    pub fn wants(&self, order: i64) -> bool {
        self.full_from.is_none_or(|from| order < from)
    }

    /// Drops what cannot be one of the first.
    fn shrink(&mut self) {
        self.items.sort_by_key(|(order, _)| *order);
        self.items.truncate(self.most);
        self.full_from = self.items.last().map(|(order, _)| *order);
    }
}

impl<T: Spooled> Spool<T> {
    /// Adds an item. Smaller orders come first; equal ones stay in the order of adding.
    ///
    /// # Errors
    /// When the temporary file cannot be written. The list stays complete: what the file has no room for stays in
    /// memory.
    pub fn push(&mut self, order: i64, item: T) -> io::Result<()> {
        if let Some(spilled) = &mut self.spilled {
            return spilled.push(order, item);
        }
        if !self.wants(order) {
            return Ok(());
        }
        self.items.push((order, item));
        if self.items.len() == self.most.saturating_mul(2) {
            self.shrink();
        }
        if self.items.len() > IN_MEMORY {
            let mut spilled = Spilled::new()?;
            let mut pushed = Ok(());
            for (order, item) in std::mem::take(&mut self.items) {
                pushed = pushed.and(spilled.push(order, item));
            }
            self.spilled = Some(spilled);
            return pushed;
        }
        Ok(())
    }

    /// Puts the items in order. Call it once, after the last push.
    pub fn sort(&mut self) {
        self.items.sort_by_key(|(order, _)| *order);
        self.spilled
            .iter_mut()
            .for_each(|spilled| spilled.index.sort_unstable_by_key(|entry| (entry.order, entry.place)));
    }

    /// Keeps the first `limit` items and says how many of the rest it dropped.
    pub fn truncate(&mut self, limit: usize) -> usize {
        let dropped = self.len().saturating_sub(limit);
        self.items.truncate(limit);
        self.spilled.iter_mut().for_each(|spilled| spilled.index.truncate(limit));
        dropped
    }

    pub fn iter(&self) -> impl Iterator<Item = io::Result<T>> {
        (0..self.len()).filter_map(|n| self.get(n))
    }

    /// The item at that place, counted from 0; `None` behind the last one.
    pub fn get(&self, n: usize) -> Option<io::Result<T>> {
        match &self.spilled {
            None => self.items.get(n).map(|(_, item)| Ok(item.clone())),
            Some(spilled) => {
                let read = spilled.read(spilled.index.get(n)?);
                Some(read.and_then(|bytes| {
                    let mut parts = bytes.split(|byte| *byte == b'\n');
                    let mut item: T = serde_json::from_slice(parts.next().unwrap_or_default())?;
                    if let (Some(findings), Some(part)) = (item.findings(), parts.next()) {
                        *findings = serde_json::from_slice(part)?;
                    }
                    Ok(item)
                }))
            }
        }
    }
}

impl<T: Serialize> Spool<T> {
    /// The items in order, as JSON: those in the file need not be read into items for it.
    pub fn json(&self) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        let in_memory = self.items.iter().map(|(_, item)| Ok(serde_json::to_vec(item)?));
        let spilled =
            self.spilled.iter().flat_map(|spilled| spilled.index.iter().map(move |entry| spilled.read(entry)));
        in_memory.chain(spilled.map(|read| {
            let mut json = read?;
            json.truncate(json.iter().position(|byte| *byte == b'\n').unwrap_or(json.len()));
            Ok(json)
        }))
    }
}

impl<T> Spool<T> {
    pub fn len(&self) -> usize {
        self.spilled.as_ref().map_or(self.items.len(), |spilled| spilled.index.len())
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The items of a long list, in a temporary file without a name.
struct Spilled {
    file: File,
    /// How many bytes of it are items.
    written: u64,
    /// The items after those, not written yet.
    pending: Vec<u8>,
    /// True once writing has failed.
    is_full: bool,
    index: Vec<Entry>,
}

struct Entry {
    order: i64,
    /// Where it begins, above the bits for its length.
    place: u64,
}

/// The bits for the length of an item in bytes: up to 16 MiB. The file may have 1 TiB.
const LENGTH: u32 = 24;

impl Spilled {
    fn new() -> io::Result<Spilled> {
        let file = tempfile::tempfile()?;
        Ok(Spilled { file, written: 0, pending: Vec::new(), is_full: false, index: Vec::new() })
    }

    fn push<T: Spooled>(&mut self, order: i64, mut item: T) -> io::Result<()> {
        let before = self.pending.len();
        serde_json::to_writer(&mut self.pending, &item)?;
        if let Some(findings) = item.findings().filter(|findings| !findings.is_empty()) {
            // No JSON has a line break in it.
            self.pending.push(b'\n');
            serde_json::to_writer(&mut self.pending, findings)?;
        }
        let (begin, length) = (self.written + before as u64, (self.pending.len() - before) as u64);
        if length >> LENGTH > 0 || begin >> (u64::BITS - LENGTH) > 0 {
            return Err(io::Error::other("a job, or the list of them, is too long"));
        }
        self.index.push(Entry { order, place: begin << LENGTH | length });
        if self.pending.len() >= WRITE && !self.is_full { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Err(error) = self.file.write_all_at(&self.pending, self.written) {
            self.is_full = true;
            // A part may have been written, which the journal may need the room of.
            let _ = self.file.set_len(self.written);
            return Err(error);
        }
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// The JSON of an item, and on a line of its own that of its findings.
    fn read(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        let (begin, length) = (entry.place >> LENGTH, (entry.place & ((1 << LENGTH) - 1)) as usize);
        if let Some(begin) = begin.checked_sub(self.written) {
            let pending = self.pending.get(begin as usize..).and_then(|items| items.get(..length));
            return pending.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
        }
        let mut json = vec![0; length];
        self.file.read_exact_at(&mut json, begin)?;
        Ok(json)
    }
}

/// Each item is raw JSON, so that an indented document has one item a line.
impl<T: Serialize> Serialize for Spool<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for json in self.json() {
            let json = String::from_utf8(json.map_err(S::Error::custom)?).map_err(S::Error::custom)?;
            list.serialize_element(&RawValue::from_string(json).map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

impl<T: JsonSchema> JsonSchema for Spool<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Spooled for i64 {}

    #[test]
    fn items_come_back_in_order_from_memory_and_from_disk() {
        for count in [200, 20_000_i64] {
            let mut spool = Spool::<String>::default();
            for n in 0..count {
                spool.push(-(n % 100), format!("{n}: {}", "x".repeat(300))).unwrap();
            }
            spool.sort();
            assert_eq!(spool.spilled.is_some(), count > IN_MEMORY as i64);
            assert_eq!(spool.truncate(150), count as usize - 150);
            let items: Vec<String> = spool.iter().collect::<io::Result<_>>().unwrap();
            assert!(items[0].starts_with("99: ") && items[1].starts_with("199: "));
            let json = serde_json::to_string(&spool).unwrap();
            assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), items);
        }
    }

    #[test]
    fn a_list_is_whole_although_its_file_is_full() {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let mut spilled = Spilled { file: full, written: 0, pending: Vec::new(), is_full: false, index: Vec::new() };
        let failed = (0..3_000).filter(|n| spilled.push(*n, "x".repeat(100)).is_err()).count();
        assert_eq!(failed, 1, "the run is told once");
        let items = spilled.index.iter().map(|entry| spilled.read(entry).unwrap());
        assert!(items.eq((0..3_000).map(|_| format!("{:?}", "x".repeat(100)).into_bytes())));
    }

    #[test]
    fn a_bounded_list_has_the_same_beginning_as_a_whole_one() {
        for most in [0, 1, 7, 50, 3_000] {
            let (mut whole, mut bounded) = (Spool::<i64>::default(), Spool::<i64>::first(most));
            let mut most_kept = 0;
            for n in 0..20_000_i64 {
                // Many equal orders, and neither ascending nor descending.
                let order = n * 7_919 % 997;
                whole.push(order, n).unwrap();
                bounded.push(order, n).unwrap();
                most_kept = most_kept.max(bounded.items.len());
            }
            for spool in [&mut whole, &mut bounded] {
                spool.sort();
                spool.truncate(most);
            }
            let items = |spool: &Spool<i64>| spool.iter().collect::<io::Result<Vec<i64>>>().unwrap();
            assert_eq!(items(&bounded), items(&whole), "{most}");
            assert!(most_kept <= (2 * most).min(IN_MEMORY), "{most_kept} for {most}");
        }
    }
}

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use tempfile::SpooledTempFile;

/// Up to this size a list stays in memory; beyond it, it goes to a temporary file without a name.
const IN_MEMORY: usize = 4 << 20;
/// Items are written together once they come to this much.
const WRITE: usize = 64 << 10;

/// A list of a document, however long: items are kept as their JSON, outside of memory where there are many, and come back
/// in the order of the sort key they were given. In memory stay 24 bytes an item.
///
/// Lists are complete before a document is begun, so that a failure on the way leaves stdout empty.
pub struct Spool<T> {
    file: RefCell<SpooledTempFile>,
    /// What is not written yet: one write for many items.
    pending: RefCell<Vec<u8>>,
    index: Vec<Entry>,
    end: u64,
    items: PhantomData<T>,
}

struct Entry {
    order: i64,
    offset: u64,
    length: u32,
}

impl<T> Default for Spool<T> {
    fn default() -> Self {
        let file = RefCell::new(SpooledTempFile::new(IN_MEMORY));
        Spool { file, pending: RefCell::default(), index: Vec::new(), end: 0, items: PhantomData }
    }
}

impl<T: Serialize + DeserializeOwned> Spool<T> {
    /// Adds an item. Smaller orders come first; the order of equals is that of adding.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push(&mut self, order: i64, item: &T) -> io::Result<()> {
        let before = self.pending.get_mut().len();
        serde_json::to_writer(self.pending.get_mut(), item)?;
        let length = u32::try_from(self.pending.get_mut().len() - before).map_err(io::Error::other)?;
        self.index.push(Entry { order, offset: self.end, length });
        self.end += u64::from(length);
        if self.pending.get_mut().len() >= WRITE { self.flush() } else { Ok(()) }
    }

    /// Puts the items in order. Call it once, after the last push.
    pub fn sort(&mut self) {
        self.index.sort_by_key(|entry| entry.order);
    }

    /// Keeps the first `limit` items and says how many it dropped.
    pub fn truncate(&mut self, limit: usize) -> usize {
        let dropped = self.index.len().saturating_sub(limit);
        self.index.truncate(limit);
        dropped
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<T>> {
        self.index.iter().map(|entry| Ok(serde_json::from_slice(&self.read(entry)?)?))
    }
}

impl<T> Spool<T> {
    fn flush(&self) -> io::Result<()> {
        let mut pending = self.pending.borrow_mut();
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::End(0))?;
        file.write_all(&pending)?;
        pending.clear();
        Ok(())
    }

    fn read(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        if !self.pending.borrow().is_empty() {
            self.flush()?;
        }
        let mut json = vec![0; entry.length as usize];
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(entry.offset))?;
        file.read_exact(&mut json)?;
        Ok(json)
    }
}

impl<T> Serialize for Spool<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.index.len()))?;
        for entry in &self.index {
            let json = self.read(entry).map_err(S::Error::custom)?;
            let json = String::from_utf8(json).map_err(S::Error::custom)?;
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

    #[test]
    fn gives_back_in_order_what_went_to_disk() {
        let mut spool = Spool::<String>::default();
        for n in 0..20_000_i64 {
            spool.push(-(n % 100), &format!("{n}: {}", "x".repeat(300))).unwrap();
        }
        spool.sort();
        assert_eq!(spool.truncate(200), 19_800);
        let items: Vec<String> = spool.iter().collect::<io::Result<_>>().unwrap();
        assert!(items[0].starts_with("99: ") && items[1].starts_with("199: "));
        let json = serde_json::to_string(&spool).unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), items);
    }
}

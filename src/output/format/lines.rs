//! Lines of a long list, in an unlinked temporary file: they are written while the database is read, and come out in
//! another order.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// So many bytes stay in memory; beyond that the lines go to the file.
const IN_MEMORY: usize = 1 << 20;
/// The bits for the length of a line in bytes: up to 16 MiB. The file may have 1 TiB.
const LENGTH: u32 = 24;

/// Each line may have a mark, by which lines are chosen.
pub struct Lines<M = ()> {
    file: Option<File>,
    written: u64,
    /// The lines after those.
    pending: Vec<u8>,
    /// The order of each line, and where it begins, above the bits for its length.
    index: Vec<(i64, u64, M)>,
    failed: Option<io::Error>,
}

impl<M> Default for Lines<M> {
    fn default() -> Lines<M> {
        Lines { file: None, written: 0, pending: Vec::new(), index: Vec::new(), failed: None }
    }
}

impl<M: Copy + Ord> Lines<M> {
    /// Adds the line that `write` makes. A failure is kept until [`Lines::sort`].
    pub fn add(&mut self, order: i64, mark: M, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = self.try_add(order, mark, write).err();
        }
    }

    fn try_add(&mut self, order: i64, mark: M, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        let before = self.pending.len();
        write(&mut self.pending)?;
        let (begin, length) = (self.written + before as u64, (self.pending.len() - before) as u64);
        if length >> LENGTH > 0 || begin >> (u64::BITS - LENGTH) > 0 {
            return Err(io::Error::other("a job, or the list of them, is too long"));
        }
        self.index.push((order, begin << LENGTH | length, mark));
        if self.pending.len() >= IN_MEMORY { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all_at(&self.pending, self.written)?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Puts the lines in order, equal ones as they came, and keeps the first `most`; fails if a line was not written.
    pub fn sort(&mut self, most: usize) -> io::Result<()> {
        self.index.sort_unstable();
        self.index.truncate(most);
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Of the lines since that number keeps the first `most` in order.
    pub fn cut(&mut self, since: usize, most: usize) {
        let mut lines = self.index.split_off(since.min(self.index.len()));
        lines.sort_unstable();
        lines.truncate(most);
        self.index.append(&mut lines);
    }

    pub fn retain(&mut self, mut keeps: impl FnMut(M) -> bool) {
        self.index.retain(|(.., mark)| keeps(*mark));
    }

    pub fn count(&self) -> usize {
        self.index.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        self.index.iter().map(|(_, place, _)| self.read(*place))
    }

    fn read(&self, place: u64) -> io::Result<Vec<u8>> {
        let (begin, length) = (place >> LENGTH, (place & ((1 << LENGTH) - 1)) as usize);
        let mut line = vec![0; length];
        match (begin.checked_sub(self.written), &self.file) {
            (None, Some(file)) => file.read_exact_at(&mut line, begin)?,
            (begin, _) => {
                let begin = begin.unwrap_or(u64::MAX) as usize;
                let pending = self.pending.get(begin..).and_then(|lines| lines.get(..length));
                line.copy_from_slice(pending.ok_or(io::ErrorKind::UnexpectedEof)?);
            }
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_come_back_in_order_from_memory_and_from_disk() {
        for count in [200, 20_000_i64] {
            let mut lines = Lines::default();
            (0..count).for_each(|n| lines.add(-(n % 100), (), |out| write!(out, "{n}: {}", "x".repeat(300))));
            lines.sort(150).unwrap();
            assert_eq!((lines.file.is_some(), lines.count()), (count > 200, 150));
            let read: Vec<String> = lines.iter().map(|line| String::from_utf8(line.unwrap()).unwrap()).collect();
            assert!(read[0].starts_with("99: ") && read[1].starts_with("199: "), "{read:?}");
        }
    }

    #[test]
    fn a_full_disk_is_said_once_at_the_end() {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let mut lines = Lines { file: Some(full), ..Lines::default() };
        (0..3_000).for_each(|n| lines.add(n, (), |out| out.write_all(&[b'x'; 1_000])));
        assert_eq!(lines.sort(9).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}

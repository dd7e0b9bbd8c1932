//! Reports the progress of a use case.

use std::cell::Cell;

/// Receives the progress of a use case: use cases print nothing.
pub trait Progress {
    /// Something begins that may take a while.
    fn begin(&self, _work: Work) {}

    /// So much is done: claims read, or steps tried; and of these, jobs moved.
    fn reached(&self, _done: u64, _moved: u64) {}

    /// It has ended, well or not.
    fn end(&self) {}
}

/// What may take a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Reading claims, whose number is not known.
    Reading,
    /// Executing a plan of so many steps.
    Applying(u64),
}

pub struct Silent;

impl Progress for Silent {}

/// One piece of work under way. Dropped, it has ended.
pub(super) struct UnderWay<'a> {
    progress: &'a dyn Progress,
    done: Cell<u64>,
    moved: Cell<u64>,
}

/// Claims read between two reports.
const EVERY: u64 = 256;

impl<'a> UnderWay<'a> {
    pub(super) fn begin(progress: &'a dyn Progress, work: Work) -> UnderWay<'a> {
        progress.begin(work);
        UnderWay { progress, done: Cell::new(0), moved: Cell::new(0) }
    }

    /// One more claim was read.
    pub(super) fn one(&self) {
        let done = self.done.get() + 1;
        self.done.set(done);
        if done.is_multiple_of(EVERY) {
            self.progress.reached(done, 0);
        }
    }

    /// So many more steps were tried, and so many of them moved their jobs.
    pub(super) fn batch(&self, tried: usize, moved: usize) {
        self.done.set(self.done.get() + tried as u64);
        self.moved.set(self.moved.get() + moved as u64);
        self.progress.reached(self.done.get(), self.moved.get());
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[derive(Default)]
    struct Heard(RefCell<Vec<String>>);

    impl Progress for Heard {
        fn begin(&self, work: Work) {
            self.0.borrow_mut().push(format!("{work:?}"));
        }
        fn reached(&self, done: u64, moved: u64) {
            self.0.borrow_mut().push(format!("{done} {moved}"));
        }
        fn end(&self) {
            self.0.borrow_mut().push("end".to_owned());
        }
    }

    #[test]
    fn counts_are_sums_and_an_end_always_comes() {
        let heard = Heard::default();
        {
            let under_way = UnderWay::begin(&heard, Work::Reading);
            (0..600).for_each(|_| under_way.one());
        }
        {
            let under_way = UnderWay::begin(&heard, Work::Applying(7));
            under_way.batch(5, 4);
            under_way.batch(2, 2);
        }
        assert_eq!(heard.0.into_inner(), ["Reading", "256 0", "512 0", "end", "Applying(7)", "5 4", "7 6", "end"]);
    }
}

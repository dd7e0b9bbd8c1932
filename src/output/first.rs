/// The most skipped jobs, unknown jobs and unmoved steps of later passes in a document, each; all are counted.
pub const LISTED: usize = 1_000;

/// The items of the smallest orders, longest silent first where the order is the last sign of life. What comes after
/// them is counted and dropped, so that memory holds at most a quarter more than are wanted.
pub struct First<T> {
    items: Vec<(i64, T)>,
    most: usize,
    /// An item of this order, or of a larger one, is none of the first.
    full_from: Option<i64>,
    offered: u64,
}

impl<T> First<T> {
    pub fn of(most: usize) -> First<T> {
        First { items: Vec::new(), most, full_from: (most == 0).then_some(i64::MIN), offered: 0 }
    }

    /// Counts an item, and makes it if it may be one of the first. Equal orders stay in the order of adding.
    pub fn add(&mut self, order: i64, make: impl FnOnce() -> T) {
        self.offered += 1;
        if self.full_from.is_some_and(|from| order >= from) {
            return;
        }
        self.items.push((order, make()));
        if self.items.len() > self.most.saturating_add(self.most / 4) {
            self.shrink();
            self.full_from = self.items.last().map(|(order, _)| *order);
        }
    }

    fn shrink(&mut self) {
        self.items.sort_by_key(|(order, _)| *order);
        self.items.truncate(self.most);
    }

    /// The first items in order, and how many come after them.
    pub fn finish(mut self) -> (Vec<T>, u64) {
        self.shrink();
        let dropped = self.offered - self.items.len() as u64;
        (self.items.into_iter().map(|(_, item)| item).collect(), dropped)
    }
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

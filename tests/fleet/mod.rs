//! A fleet: eight copies of the program at one instant, over many dead jobs and many living ones whose workers are at work. One
//! death costs one attempt and is told by one copy; of the living nothing is touched; and the workers hardly notice.

mod at_once;
mod beats;
mod check;
mod copies;
mod mutants;
mod nightly;
pub(crate) mod workers;

use crate::support::shop::Shop;

/// What is in the queue: the dead first, then the living.
#[derive(Debug, Clone, Copy)]
struct Scene {
    dead: u32,
    living: u32,
}

impl Scene {
    /// Fills a queue that is empty. Its server has been up for long enough.
    fn plant(self, shop: &Shop) {
        shop.has_been_up_for_days();
        shop.in_flight(1, self.dead, "'lost' || (n % 7) || ':1'", 600);
        shop.in_flight(self.dead + 1, self.dead + self.living, &workers::owner_sql("n"), 5);
        // No worker is so slow that it dies of it.
        let lease = shop.at(i64::from(workers::LEASE));
        shop.sql(&format!("UPDATE jobs SET lease_expires_at = {lease} WHERE id > {}", self.dead));
    }
}

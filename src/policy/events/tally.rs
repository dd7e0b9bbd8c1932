use crate::model::Timestamp;

/// Jobs that are counted together, and the instants among which theirs lie.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// How many.
    pub jobs: u64,
    /// The oldest of their last signs of life.
    pub oldest: Option<Timestamp>,
    /// The newest of their last signs of life.
    pub newest: Option<Timestamp>,
    /// The first of their claims.
    pub first_claim: Option<Timestamp>,
    /// The last of their claims.
    pub last_claim: Option<Timestamp>,
    /// How many are called dead for their age alone.
    pub by_age: u64,
}

impl Tally {
    /// Takes others in.
    pub fn add(&mut self, other: &Tally) {
        self.jobs += other.jobs;
        self.oldest = earlier(self.oldest, other.oldest);
        self.newest = self.newest.max(other.newest);
        self.first_claim = earlier(self.first_claim, other.first_claim);
        self.last_claim = self.last_claim.max(other.last_claim);
        self.by_age += other.by_age;
    }

    /// All of them together.
    pub fn of<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Tally {
        tallies.fold(Tally::default(), |mut sum, tally| {
            sum.add(tally);
            sum
        })
    }
}

/// The earlier of two instants, of which either may be unknown.
pub fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

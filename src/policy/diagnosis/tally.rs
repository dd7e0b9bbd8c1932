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
        self.oldest = Timestamp::oldest(self.oldest, other.oldest);
        self.newest = Timestamp::newest(self.newest, other.newest);
        self.first_claim = Timestamp::oldest(self.first_claim, other.first_claim);
        self.last_claim = Timestamp::newest(self.last_claim, other.last_claim);
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

use super::tally::Tally;

/// Kinds and queues told apart of one holder; what is beyond is counted together.
const PARTS: usize = 64;

/// An owner, a host with all of its owners, or nobody: what they hold in flight, and what of it is stuck.
#[derive(Debug, Clone, Default)]
pub struct Holder {
    /// The host an owner runs on.
    pub host: Option<String>,
    /// Claims in flight.
    pub claims: u64,
    /// Of them dead, listed or not.
    pub dead: u64,
    /// Of them unknown, listed or not.
    pub unknown: u64,
    /// Of them in trouble while their owner shows life.
    pub troubled: u64,
    /// The stuck ones that are listed, by kind and queue, without those whose ownership data contradicts itself.
    pub parts: Vec<Part>,
    /// Those that are held by an owner without a row.
    pub missing: Tally,
    /// Those that are older than their owner.
    pub restarted: Tally,
    /// How many owners a host has among those who hold something stuck.
    pub owners: u64,
}

/// Jobs of one kind in one queue.
#[derive(Debug, Clone)]
pub struct Part {
    /// The kind of work.
    pub kind: Option<String>,
    /// The queue.
    pub queue: Option<String>,
    /// The jobs.
    pub tally: Tally,
}

impl Holder {
    /// Takes in a job that is listed. `room` is how many more kinds and queues may be told apart in all.
    pub fn add(&mut self, kind: Option<&str>, queue: Option<&str>, tally: &Tally, room: &mut usize) {
        let known = |part: &Part| part.kind.as_deref() == kind && part.queue.as_deref() == queue;
        let at = match self.parts.iter().position(known) {
            Some(at) => at,
            None if self.parts.len() < PARTS && *room > 0 => {
                *room -= 1;
                self.parts.push(Part {
                    kind: kind.map(str::to_owned),
                    queue: queue.map(str::to_owned),
                    tally: Tally::default(),
                });
                self.parts.len() - 1
            }
            // What is beyond is counted together.
            None => match self.parts.iter().position(|part| part.kind.is_none() && part.queue.is_none()) {
                Some(at) => at,
                None => {
                    self.parts.push(Part { kind: None, queue: None, tally: Tally::default() });
                    self.parts.len() - 1
                }
            },
        };
        if let Some(part) = self.parts.get_mut(at) {
            part.tally.add(tally);
        }
    }

    /// The stuck ones that are listed.
    pub fn tally(&self) -> Tally {
        Tally::of(self.parts.iter().map(|part| &part.tally))
    }

    /// True if nothing that it holds shows life. Then it may still be that some of it could not be judged.
    pub fn is_silent(&self) -> bool {
        let told = self.dead + self.unknown;
        self.dead > 0 && self.troubled == 0 && self.claims > 0 && told >= self.claims
    }

    /// True if every claim it holds is dead, and not for its age alone.
    pub fn is_surely_gone(&self) -> bool {
        let tally = self.tally();
        self.is_silent() && self.unknown == 0 && tally.by_age < tally.jobs
    }

    /// The kind of all that is listed, if it is one.
    pub fn only_kind(&self) -> Option<&str> {
        let (first, rest) = self.parts.split_first()?;
        first.kind.as_deref().filter(|kind| rest.iter().all(|part| part.kind.as_deref() == Some(kind)))
    }
}

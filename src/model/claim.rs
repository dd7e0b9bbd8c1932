use super::{Cell, EvidenceRow, Key, Precondition, Reading, Sign};
use std::time::Duration;

/// A job that is in flight, as one snapshot saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What identifies it.
    pub key: Key,
    /// The stored state, in the queue's own words.
    pub state: String,
    /// The queue it belongs to, where the table says.
    pub queue: Option<String>,
    /// What kind of work it is, where the table says.
    pub kind: Option<String>,
    /// Who holds it.
    pub owner: Option<Owner>,
    /// The owner's own row, where the preset joins one.
    pub owner_row: OwnerRow,
    /// When it was claimed.
    pub claimed_at: Reading,
    /// The newest of the heartbeats the preset knows, on the row or on the owner's.
    pub heartbeat: Reading,
    /// What each liveness source said, in the order of the preset.
    pub signs: Vec<Sign>,
    /// Attempts as stored.
    pub attempts: Cell,
    /// The most attempts it may have; NULL is no limit.
    pub max_attempts: Cell,
    /// How often it was lost before, as far as is known.
    pub stalls: Option<i64>,
    /// The instant after which the job is of no use.
    pub deadline: Reading,
    /// Somebody asked for it to be cancelled.
    pub cancel_requested: bool,
    /// The longest it may run, where the row says.
    pub max_runtime: Option<Duration>,
    /// For each hold of the preset, whether it applies to this row.
    pub skips: Vec<bool>,
    /// Extra evidence that the preset shows, in its order.
    pub extra: Vec<Option<String>>,
    /// The columns that show progress, as one text; `None` where the queue names none.
    pub progress: Option<Precondition>,
    /// The values that must be unchanged when the job is moved.
    pub precondition: Precondition,
    /// The owner's row, which must be unchanged too.
    pub evidence_row: EvidenceRow,
}

/// Who holds a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The stored owner.
    pub id: String,
    /// The name people know it by; the id where there is no better one.
    pub name: String,
    /// The host it runs on, where owners name it.
    pub host: Option<String>,
    /// How its queue spells the names of hosts.
    pub host_spelling: HostSpelling,
}

/// How owners of a queue spell their host's name, where that is not as the host itself does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostSpelling {
    /// What stands for a dot.
    pub dot: Option<char>,
    /// The bytes after which the name is cut.
    pub longest: Option<usize>,
}

impl HostSpelling {
    /// The name as owners spell it.
    pub fn of(self, host: &str) -> String {
        let fits = |at: usize, c: char| self.longest.is_none_or(|longest| at + c.len_utf8() <= longest);
        let kept = host.char_indices().take_while(|(at, c)| fits(*at, *c)).map(|(_, c)| c);
        kept.map(|c| self.dot.filter(|_| c == '.').unwrap_or(c)).collect()
    }

    /// True if a longer host name may be stored as this one is. A name of exactly the longest length is stored whole, but so is
    /// the beginning of every longer one.
    pub fn cuts(self, host: &str) -> bool {
        self.longest.is_some_and(|longest| host.len() >= longest)
    }
}

/// What the owners' table said about the owner of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerRow {
    /// The preset has no owners' table.
    NotAsked,
    /// The claim names no owner.
    Unset,
    /// The claim names an owner that has no row.
    Missing,
    /// The row, with what it says of the owner's times.
    Present {
        /// When the owner last showed that it lives.
        heartbeat: Reading,
        /// When this owner started; later than the claim means that it is another process under the same name.
        started: Reading,
    },
}

//! A claim, with everything that one snapshot read about it.

use super::{Action, Cell, EvidenceRow, Key, Precondition, Timestamp, is_blank};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// A job that is in flight, as one snapshot saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub key: Key,
    /// The stored state, in the queue's own words.
    pub state: String,
    pub queue: Option<String>,
    pub kind: Option<String>,
    pub owner: Option<Owner>,
    /// The owner's own row, where the preset joins one.
    pub owner_row: OwnerRow,
    pub claimed_at: Reading,
    /// The newest of the heartbeats the preset knows, on the row or on the owner's.
    pub heartbeat: Reading,
    /// What each liveness source said, in the order of the preset.
    pub signs: Vec<Sign>,
    pub attempts: Cell,
    /// The most attempts it may have; NULL is no limit.
    pub max_attempts: Cell,
    /// How often it was lost before, as far as is known.
    pub stalls: Option<i64>,
    /// The instant after which the job is of no use.
    pub deadline: Reading,
    pub cancel_requested: bool,
    pub max_runtime: Option<Duration>,
    /// For each `skip` of the preset, whether it applies to this row.
    pub skips: Vec<bool>,
    /// Extra evidence that the preset shows, in its order.
    pub extra: Vec<Option<String>>,
    /// The columns that show progress, as one text; `None` where the queue names none.
    pub progress: Option<Precondition>,
    /// The values that must be unchanged when the job is moved.
    pub precondition: Precondition,
    /// True if a row that only a living worker renews is fresh.
    pub vetoed: bool,
    /// The actions that would leave the row elsewhere than they say, where that is asked.
    pub astray: Vec<Action>,
    /// The owner's row, which must be unchanged, too.
    pub evidence_row: EvidenceRow,
}

/// Who holds a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub id: String,
    /// The name people know it by; the id where there is no better one.
    pub name: String,
    /// The host it runs on, where owners name it.
    pub host: Option<String>,
    /// How its queue spells the names of hosts.
    pub host_spelling: HostSpelling,
}

impl Hash for Owner {
    /// By the id, which few owners share.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl Owner {
    /// The owner that a row names. An id that is NULL, empty or blank names none, and a blank name or host says
    /// nothing.
    pub fn named(
        id: Option<String>,
        name: Option<String>,
        host: Option<String>,
        host_spelling: HostSpelling,
    ) -> Option<Owner> {
        let [id, name, host] = [id, name, host].map(|text| text.filter(|text| !is_blank(text)));
        id.map(|id| Owner { name: name.unwrap_or_else(|| id.clone()), host, host_spelling, id })
    }
}

/// How owners of a queue spell the name of their host, if not as the host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
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

    /// True if a longer host name may be stored as this one is. A name of exactly the longest length is stored whole,
    /// but so is the beginning of every longer one.
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
    /// The claim names an owner that has no row: the newest sign of it on any claim in flight, where that is asked.
    Missing { seen: Reading },
    /// The row: a start after the claim means another process under the same name.
    Present { heartbeat: Reading, started: Reading },
}

/// A value of a time column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// NULL, or a sentinel that stands for it.
    Absent,
    At(Timestamp),
    /// A value that does not fit the column's declared encoding ("is text, not an integer"). It is never guessed at.
    Unfit {
        raw: String,
        why: String,
    },
}

impl Reading {
    pub fn at(&self) -> Option<Timestamp> {
        if let Reading::At(time) = self { Some(*time) } else { None }
    }
}

/// What one liveness source of the preset says about a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// The lease's end, the heartbeat or the claim time, as the source asks.
    pub at: Reading,
    /// A threshold that the row itself carries (pg-boss keeps one in each job); `None` where it carries none.
    pub silent_after: Option<Duration>,
    /// What the source's lock says, if it asks about one.
    pub lock: LockSign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockSign {
    /// Nothing: this claim, or this source, has none.
    Absent,
    Held,
    Free,
    /// It cannot be seen from here: this server is a standby, and the locks are held on its primary.
    OutOfSight,
}

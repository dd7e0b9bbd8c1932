//! What a claim looked like in earlier snapshots, and since when its signs of life are unchanged.

use crate::model::{Claim, EvidenceRow, Step, Timestamp, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::time::Duration;

/// What was seen of a claim, as a saved snapshot keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenClaim {
    /// The print of the job's key.
    pub key: Print,
    /// The print of every sign of life and of the claim itself: the precondition and the owner's row.
    pub values: Print,
    /// When these values were first seen, by the database's clock.
    pub since_at: Timestamp,
    /// True if a snapshot saw the values change to these.
    pub moved: bool,
    /// The print of the columns that show progress and of the claim; `None` where the queue names no such columns.
    pub progress: Option<Print>,
    /// When this progress was first seen.
    pub progress_since_at: Timestamp,
}

/// What earlier snapshots saw, by the fingerprint of the job's key.
#[derive(Debug, Clone)]
pub struct EarlierSnapshot {
    /// When the last of them was taken, by the database's clock.
    pub taken_at: Timestamp,
    /// The claims that were in flight then.
    pub seen: HashMap<Print, SeenClaim>,
}

/// How a claim compares with the earlier snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unchanged {
    /// For how long every sign of life is unchanged, at the least.
    pub still: Duration,
    /// True if a sign of life was seen to change.
    pub moved: bool,
    /// For how long the columns that show progress are unchanged; `None` where the queue names none.
    pub progress: Option<Duration>,
    /// How long ago the last snapshot was taken.
    pub snapshot_age: Duration,
}

impl EarlierSnapshot {
    /// True if the claim was seen, with the same values.
    pub fn has(&self, claim: &Claim) -> bool {
        self.seen.get(&key_print(claim)).is_some_and(|seen| seen.values == values_print(claim))
    }

    /// Compares a claim with what was seen of it; `None` if no earlier snapshot saw it.
    pub fn unchanged(&self, claim: &Claim, now: Timestamp) -> Option<Unchanged> {
        let before = self.seen.get(&key_print(claim))?;
        let seen = seen(Some(before), claim, now);
        let same_progress = before.progress.is_some() && before.progress == seen.progress;
        let same_for = if same_progress { now.since(seen.progress_since_at) } else { Duration::ZERO };
        Some(Unchanged {
            still: if seen.values == before.values { now.since(seen.since_at) } else { Duration::ZERO },
            moved: seen.moved,
            progress: seen.progress.map(|_| same_for),
            snapshot_age: now.since(self.taken_at),
        })
    }
}

/// What to keep of a claim, given what the snapshot before saw of it.
pub fn seen(before: Option<&SeenClaim>, claim: &Claim, now: Timestamp) -> SeenClaim {
    let (values, progress) = (values_print(claim), progress_print(claim));
    let still = before.filter(|before| before.values == values);
    let same_progress = before.filter(|before| before.progress == progress);
    // The database's clock may have been set back since.
    let earlier = |at: Timestamp| now.minus(now.since(at));
    SeenClaim {
        key: key_print(claim),
        values,
        since_at: still.map_or(now, |before| earlier(before.since_at)),
        moved: still.map_or(before.is_some(), |before| before.moved),
        progress,
        progress_since_at: same_progress.map_or(now, |before| earlier(before.progress_since_at)),
    }
}

pub fn key_print(claim: &Claim) -> Print {
    let parts: Vec<String> = claim.key.0.iter().map(|cell| format!("{cell:?}")).collect();
    print(parts.iter().map(String::as_str))
}

fn values_print(claim: &Claim) -> Print {
    let (evidence_row, image) = match &claim.evidence_row {
        EvidenceRow::None => ("none", String::new()),
        EvidenceRow::Absent => ("absent", String::new()),
        EvidenceRow::Row { key, image } => ("row", format!("{key:?} {}", image.0)),
    };
    print([claim.precondition.0.as_str(), evidence_row, &image].into_iter())
}

/// Includes which claim it is: two claims of one job may be at the same point.
fn progress_print(claim: &Claim) -> Option<Print> {
    let progress = claim.progress.as_ref()?;
    let owner = claim.owner.as_ref().map(|owner| owner.id.as_str());
    let (claimed_at, attempts) = (format!("{:?}", claim.claimed_at), format!("{:?}", claim.attempts));
    Some(print([progress.0.as_str(), owner.unwrap_or_default(), &claimed_at, &attempts].into_iter()))
}

/// The first half of a SHA-256, in files as 32 hexadecimal digits: enough to tell apart values that are not forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Print(u128);

impl From<Print> for String {
    fn from(print: Print) -> String {
        format!("{:032x}", print.0)
    }
}

impl TryFrom<String> for Print {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Print, &'static str> {
        let digits = text.len() == 32 && text.chars().all(|c| c.is_ascii_hexdigit());
        let number = u128::from_str_radix(&text, 16).ok().filter(|_| digits);
        number.map(Print).ok_or("not 32 hexadecimal digits")
    }
}

/// The fingerprint of all steps of a run: key, precondition, action, state after and attempts after of each, in whatever
/// order, and the mapping that says what an action writes. No clock and no ages go into it, so the same plan drafted a
/// minute later has the same digest.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// Of each step: 16 bytes, since there may be a million.
    steps: Vec<Print>,
}

impl Digest {
    /// Hexadecimal digits that people see of it: 64 bits, which no two plans of one queue will share.
    pub const SHORT: usize = 16;

    pub fn print(step: &Step) -> Print {
        let attempts = step.attempts_after.map(|n| n.to_string()).unwrap_or_default();
        let key = step.key.exact();
        let action = if step.fails_if_refused() { "requeue or fail" } else { step.action.name() };
        let parts = [&key, step.precondition(), action, &step.state_after, &attempts];
        print(parts.into_iter())
    }

    pub fn add(&mut self, print: Print) {
        self.steps.push(print);
    }

    pub fn append(&mut self, mut other: Digest) {
        self.steps.append(&mut other.steps);
    }

    /// True if a step goes into it, once it is in hexadecimal digits.
    pub fn has(&self, step: &Step) -> bool {
        self.steps.binary_search(&Digest::print(step)).is_ok()
    }

    /// `mapping` is the fingerprint of the mapping's text; empty for a built-in preset.
    pub fn hex(&mut self, mapping: &str) -> String {
        self.steps.sort_unstable();
        let mut hash = Sha256::new();
        hash.update(mapping);
        self.steps.iter().for_each(|step| hash.update(step.0.to_be_bytes()));
        hex(&hash.finalize())
    }
}

impl FromIterator<Print> for Digest {
    fn from_iter<I: IntoIterator<Item = Print>>(prints: I) -> Digest {
        let mut steps: Vec<Print> = prints.into_iter().collect();
        steps.sort_unstable();
        Digest { steps }
    }
}

/// The fingerprint of a list of texts.
pub(super) fn print<'t>(parts: impl Iterator<Item = &'t str>) -> Print {
    let (mut hash, mut half) = (Sha256::new(), [0; 16]);
    for part in parts {
        // The length first, so that no two lists of parts run together to the same bytes.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    half.copy_from_slice(&hash.finalize()[..16]);
    Print(u128::from_be_bytes(half))
}

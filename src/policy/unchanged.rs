use crate::model::{Claim, EvidenceRow, Timestamp};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::time::Duration;

/// The fingerprint of some stored values: the first half of a SHA-256, for nobody gains by two that are equal.
pub type Print = [u8; 16];

/// What was seen of one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenClaim {
    /// Of all that shows life, and of which claim of the job it is: the precondition and the owner's row.
    pub values: Print,
    /// Since when they have been so, by the store's clock: when they were first seen so.
    pub since: Timestamp,
    /// Whether they were seen to come, and not only to be there.
    pub moved: bool,
    /// Of the columns that show progress, and of which claim it is; `None` where the queue names none.
    pub progress: Option<Print>,
    /// Since when that has been so.
    pub progress_since: Timestamp,
}

/// What earlier looks saw, by the fingerprint of the job's key.
#[derive(Debug, Clone)]
pub struct EarlierSnapshot {
    /// When the last of them was taken, by the store's clock.
    pub taken_at: Timestamp,
    /// The claims that were in flight then.
    pub seen: HashMap<Print, SeenClaim>,
}

/// How a claim stands since the earlier looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unchanged {
    /// For how long all that shows life has stood still, at the least.
    pub still: Duration,
    /// Whether it was seen to move.
    pub moved: bool,
    /// The same for the columns that show progress; `None` where the queue names none.
    pub progress: Option<Duration>,
    /// How long ago the last snapshot was taken.
    pub snapshot_age: Duration,
}

impl EarlierSnapshot {
    /// True if the claim was seen, with the same values.
    pub fn has(&self, claim: &Claim) -> bool {
        self.seen.get(&key_print(claim)).is_some_and(|seen| seen.values == values_print(claim))
    }

    /// How a claim stands; `None` if no earlier snapshot saw it.
    pub fn unchanged(&self, claim: &Claim, now: Timestamp) -> Option<Unchanged> {
        let before = self.seen.get(&key_print(claim))?;
        let seen = seen(Some(before), claim, now);
        let same_progress = before.progress.is_some() && before.progress == seen.progress;
        Some(Unchanged {
            still: if seen.values == before.values { now.since(seen.since) } else { Duration::ZERO },
            moved: seen.moved,
            progress: seen
                .progress
                .map(|_| if same_progress { now.since(seen.progress_since) } else { Duration::ZERO }),
            snapshot_age: now.since(self.taken_at),
        })
    }
}

/// What is to be kept of a claim, given what the snapshot before saw of it.
pub fn seen(before: Option<&SeenClaim>, claim: &Claim, now: Timestamp) -> SeenClaim {
    let (values, progress) = (values_print(claim), progress_print(claim));
    let still = before.filter(|before| before.values == values);
    let same_progress = before.filter(|before| before.progress == progress);
    // The store's clock may have been put back since.
    let earlier = |at: Timestamp| now.minus(now.since(at));
    SeenClaim {
        values,
        since: still.map_or(now, |before| earlier(before.since)),
        moved: still.map_or(before.is_some(), |before| before.moved),
        progress,
        progress_since: same_progress.map_or(now, |before| earlier(before.progress_since)),
    }
}

/// The fingerprint of a claim's key.
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

/// Two claims of one job may stand at the same point: which of them it is belongs to it.
fn progress_print(claim: &Claim) -> Option<Print> {
    let progress = claim.progress.as_ref()?;
    let owner = claim.owner.as_ref().map(|owner| owner.id.as_str());
    let (claimed_at, attempts) = (format!("{:?}", claim.claimed_at), format!("{:?}", claim.attempts));
    Some(print([progress.0.as_str(), owner.unwrap_or_default(), &claimed_at, &attempts].into_iter()))
}

fn print<'t>(parts: impl Iterator<Item = &'t str>) -> Print {
    let mut hash = Sha256::new();
    for part in parts {
        // The length first, so that no two lists of parts run together to the same bytes.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let whole: [u8; 32] = hash.finalize().into();
    let mut half = Print::default();
    half.copy_from_slice(&whole[..16]);
    half
}

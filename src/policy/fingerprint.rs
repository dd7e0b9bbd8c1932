//! Fingerprints: the digest of a plan, and the short prints by which two snapshots are compared.

use crate::model::Step;
use crate::model::value::hex;
use sha2::{Digest as _, Sha256};

/// The first half of a SHA-256: enough to tell apart values that are not forged.
pub type Print = [u8; 16];

/// The fingerprint of a plan: key, precondition, action, state after and attempts after of every step, in whatever
/// order. No clock and no ages go into it, so the same plan drafted a minute later has the same digest.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// Of each step; prints of their own keep a long plan small.
    steps: Vec<Print>,
}

impl Digest {
    /// Hexadecimal digits that people see of it: 64 bits, which no two plans of one queue will share.
    pub const SHORT: usize = 16;

    pub fn add(&mut self, step: &Step) {
        let attempts = step.attempts_after.map(|n| n.to_string()).unwrap_or_default();
        let key = step.key.exact();
        let parts = [&key, step.precondition(), step.action.name(), &step.state_after, &attempts];
        self.steps.push(print(parts.into_iter()));
    }

    /// In hexadecimal.
    pub fn finish(mut self) -> String {
        self.steps.sort_unstable();
        let mut hash = Sha256::new();
        self.steps.iter().for_each(|step| hash.update(step));
        hex(&hash.finalize())
    }
}

/// The fingerprint of a list of texts.
pub(super) fn print<'t>(parts: impl Iterator<Item = &'t str>) -> Print {
    let mut half = Print::default();
    half.copy_from_slice(&sha256(parts)[..16]);
    half
}

fn sha256<'t>(parts: impl Iterator<Item = &'t str>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        // The length first, so that no two lists of parts run together to the same bytes.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

use crate::model::Step;
use sha2::{Digest as _, Sha256};

/// The fingerprint of a plan: key, precondition, action, state after and attempts after of every step in key order. No clock and no
/// ages go into it, so the same plan drafted a minute later has the same digest.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// A key and the hash of its step; hashes of their own keep a long plan small.
    steps: Vec<(String, [u8; 32])>,
}

impl Digest {
    /// Hexadecimal digits that people are shown of it: 64 bits, which no two plans of one queue will share.
    pub const SHORT: usize = 16;

    /// Takes one step in.
    pub fn add(&mut self, step: &Step) {
        let key = step.key.exact();
        self.add_parts(&key, &step.precondition.0, step.action.name(), &step.state_after, step.attempts_after);
    }

    /// Takes one step in that is there in parts only; `key` is that of [`Key::exact`](crate::model::Key::exact).
    pub fn add_parts(
        &mut self,
        key: &str,
        precondition: &str,
        action: &str,
        state_after: &str,
        attempts_after: Option<i64>,
    ) {
        let mut hash = Sha256::new();
        let attempts = attempts_after.map(|n| n.to_string()).unwrap_or_default();
        for part in [key, precondition, action, state_after, &attempts] {
            // The length first, so that no two lists of parts run together to the same bytes.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        self.steps.push((key.to_owned(), hash.finalize().into()));
    }

    /// The digest in hexadecimal.
    pub fn finish(mut self) -> String {
        self.steps.sort();
        let mut hash = Sha256::new();
        for (_, step) in &self.steps {
            hash.update(step);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

//! Ownership data that contradict themselves.

use crate::model::{Claim, OwnerRow};
use crate::policy::verdict::{Judgement, Rule};
use crate::preset::Jobs;

/// A contradiction in the ownership data of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inconsistency {
    NoOwner,
    /// Its owner has no row, where owners have one.
    OwnerMissing,
    /// Its owner started after the claim was made: it is another process under the same name.
    OwnerRestarted,
    NoClaimTime,
}

impl Inconsistency {
    pub const ALL: [Inconsistency; 4] = [
        Inconsistency::NoOwner,
        Inconsistency::OwnerMissing,
        Inconsistency::OwnerRestarted,
        Inconsistency::NoClaimTime,
    ];

    pub fn is_shown_by(self, jobs: &Jobs, claim: &Claim, judgement: &Judgement) -> bool {
        match self {
            Inconsistency::NoOwner => jobs.owner.id.is_some() && claim.owner.is_none(),
            Inconsistency::OwnerMissing => matches!(claim.owner_row, OwnerRow::Missing { .. }),
            Inconsistency::OwnerRestarted => {
                judgement.verdict.reasons().iter().any(|reason| reason.rule == Rule::OwnerRestarted)
            }
            Inconsistency::NoClaimTime => {
                !jobs.are_interrupted() && jobs.claim.claimed_at.is_some() && claim.claimed_at.at().is_none()
            }
        }
    }
}

/// How many claims have which inconsistency; a claim may have several.
#[derive(Debug, Clone, Default)]
pub struct Inconsistencies([u64; 4]);

impl Inconsistencies {
    pub fn note(&mut self, jobs: &Jobs, claim: &Claim, judgement: &Judgement) {
        for (count, inconsistency) in self.0.iter_mut().zip(Inconsistency::ALL) {
            *count += u64::from(inconsistency.is_shown_by(jobs, claim, judgement));
        }
    }

    /// The inconsistencies that some claim has, with how many claims have each.
    pub fn found(&self) -> impl Iterator<Item = (Inconsistency, u64)> {
        Inconsistency::ALL.into_iter().zip(self.0).filter(|(_, claims)| *claims > 0)
    }
}

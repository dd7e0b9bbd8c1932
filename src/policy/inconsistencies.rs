use super::verdict::{Judgement, Rule, Verdict};
use crate::model::{Claim, OwnerRow};
use crate::preset::QueueSpec;

/// What the ownership data of a claim says that cannot be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inconsistency {
    /// It is in flight, and nobody holds it.
    NoOwner,
    /// Its owner has no row, where owners have one.
    OwnerMissing,
    /// Its owner started after the claim was made: it is another process under the same name.
    OwnerRestarted,
    /// It is in flight, and does not say since when.
    NoClaimTime,
}

impl Inconsistency {
    /// Every inconsistency.
    pub const ALL: [Inconsistency; 4] = [
        Inconsistency::NoOwner,
        Inconsistency::OwnerMissing,
        Inconsistency::OwnerRestarted,
        Inconsistency::NoClaimTime,
    ];

    /// True if the claim has this inconsistency.
    pub fn is_shown_by(self, spec: &QueueSpec, claim: &Claim, judgement: &Judgement) -> bool {
        match self {
            Inconsistency::NoOwner => spec.owner.id.is_some() && claim.owner.is_none(),
            Inconsistency::OwnerMissing => claim.owner_row == OwnerRow::Missing,
            Inconsistency::OwnerRestarted => matches!(&judgement.verdict, Verdict::Stuck(reasons)
                if reasons.iter().any(|reason| reason.rule == Rule::OwnerRestarted)),
            Inconsistency::NoClaimTime => spec.claim.claimed_at.is_some() && claim.claimed_at.at().is_none(),
        }
    }
}

/// How many claims have which inconsistency. A claim may have several.
#[derive(Debug, Clone, Default)]
pub struct Inconsistencies([u64; 4]);

impl Inconsistencies {
    /// Takes one claim in.
    pub fn note(&mut self, spec: &QueueSpec, claim: &Claim, judgement: &Judgement) {
        for (count, inconsistency) in self.0.iter_mut().zip(Inconsistency::ALL) {
            *count += u64::from(inconsistency.is_shown_by(spec, claim, judgement));
        }
    }

    /// One sentence for each that there is.
    pub fn sentences(&self) -> Vec<String> {
        let sentence = |(count, inconsistency): (&u64, Inconsistency)| {
            let what = match inconsistency {
                Inconsistency::NoOwner => "in flight without an owner",
                Inconsistency::OwnerMissing => "held by an owner that has no row",
                Inconsistency::OwnerRestarted => "older than the process that goes by their owner's name",
                Inconsistency::NoClaimTime => "in flight without a claim time that can be read",
            };
            (*count > 0).then(|| format!("claims {what}: {count}"))
        };
        self.0.iter().zip(Inconsistency::ALL).filter_map(sentence).collect()
    }
}

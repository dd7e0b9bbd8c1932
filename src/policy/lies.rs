use super::verdict::{Judgement, Rule, Verdict};
use crate::model::{Claim, OwnerRow};
use crate::spec::QueueSpec;

/// What the ownership data of a claim says that cannot be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lie {
    /// It is in flight, and nobody holds it.
    NoOwner,
    /// Its owner has no row, where owners have one.
    OwnerMissing,
    /// Its owner started after the claim was made: it is another process under the same name.
    OwnerRestarted,
    /// It is in flight, and does not say since when.
    NoClaimTime,
}

impl Lie {
    /// Every lie.
    pub const ALL: [Lie; 4] = [Lie::NoOwner, Lie::OwnerMissing, Lie::OwnerRestarted, Lie::NoClaimTime];

    /// True if this claim tells it.
    pub fn is_told_by(self, spec: &QueueSpec, claim: &Claim, judgement: &Judgement) -> bool {
        match self {
            Lie::NoOwner => spec.owner.id.is_some() && claim.owner.is_none(),
            Lie::OwnerMissing => claim.owner_row == OwnerRow::Missing,
            Lie::OwnerRestarted => matches!(&judgement.verdict, Verdict::Stuck(reasons)
                if reasons.iter().any(|reason| reason.rule == Rule::OwnerRestarted)),
            Lie::NoClaimTime => spec.claim.claimed_at.is_some() && claim.claimed_at.at().is_none(),
        }
    }
}

/// How many claims tell which lie. A claim may tell several.
#[derive(Debug, Clone, Default)]
pub struct Lies([u64; 4]);

impl Lies {
    /// Takes one claim in.
    pub fn note(&mut self, spec: &QueueSpec, claim: &Claim, judgement: &Judgement) {
        for (count, lie) in self.0.iter_mut().zip(Lie::ALL) {
            *count += u64::from(lie.is_told_by(spec, claim, judgement));
        }
    }

    /// One sentence a lie that is told.
    pub fn sentences(&self) -> Vec<String> {
        let sentence = |(count, lie): (&u64, Lie)| {
            let what = match lie {
                Lie::NoOwner => "in flight without an owner",
                Lie::OwnerMissing => "held by an owner that has no row",
                Lie::OwnerRestarted => "older than the process that goes by their owner's name",
                Lie::NoClaimTime => "in flight without a claim time that can be read",
            };
            (*count > 0).then(|| format!("claims {what}: {count}"))
        };
        self.0.iter().zip(Lie::ALL).filter_map(sentence).collect()
    }
}

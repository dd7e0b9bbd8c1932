//! What the judge and the plan say, put into the terms of the documents.

use crate::model::{Cell, Claim, Timestamp};
use crate::policy::{Draft, Judgement, Skipped, Verdict};
use crate::report;
use crate::spec::{Liveness, QueueSpec};

/// A job for a document.
pub(super) fn job(spec: &QueueSpec, claim: &Claim, judgement: &Judgement, draft: &Draft) -> report::Job {
    let lease = spec.liveness.iter().zip(&claim.signs).find(|(source, _)| matches!(source, Liveness::Lease { .. }));
    report::Job {
        id: claim.key.to_string(),
        queue: claim.queue.clone(),
        kind: claim.kind.clone(),
        state: claim.state.clone(),
        owner: claim.owner.as_ref().map(|owner| owner.name.clone()),
        host: claim.owner.as_ref().and_then(|owner| owner.host.clone()),
        claimed_at: claim.claimed_at.at().filter(|_| !spec.waits),
        last_seen_at: judgement.last_seen_at,
        silence_seconds: judgement.silence.map(|silence| silence.as_secs_f64()),
        lease_expires_at: lease.and_then(|(_, sign)| sign.at.at()),
        attempts: integer(&claim.attempts),
        max_attempts: integer(&claim.max_attempts),
        stalls: claim.stalls,
        verdict: judgement.verdict.name().to_owned(),
        liveness: judgement.liveness.map(str::to_owned),
        reasons: reasons(&judgement.verdict),
        action: match draft {
            Draft::Step(step) => Some(step.action.name().to_owned()),
            Draft::Skipped(_) => None,
        },
    }
}

/// Why a job is skipped, for a document.
pub(super) fn skipped(skipped: &Skipped) -> report::Skipped {
    report::Skipped { reason: skipped.reason.name().to_owned(), detail: skipped.detail.clone() }
}

/// The order of lists: longest silent first, and at the end those of which nobody knows.
pub(super) fn order(last_seen_at: Option<Timestamp>) -> i64 {
    last_seen_at.map_or(i64::MAX, Timestamp::micros)
}

fn reasons(verdict: &Verdict) -> Vec<report::Reason> {
    match verdict {
        Verdict::Healthy => Vec::new(),
        Verdict::Stuck(reasons) => reasons
            .iter()
            .map(|reason| report::Reason {
                rule: reason.rule.name().to_owned(),
                proves: Some(reason.rule.proves().name().to_owned()),
                detail: reason.detail.clone(),
            })
            .collect(),
        Verdict::Unknown(lacking) => lacking
            .iter()
            .map(|detail| report::Reason { rule: "unknown".to_owned(), proves: None, detail: detail.clone() })
            .collect(),
    }
}

/// The number in a cell that holds an integer.
pub(super) fn integer(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(number) => Some(*number),
        _ => None,
    }
}

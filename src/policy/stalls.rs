//! The stall budget: a job that keeps losing its workers is failed at last, whatever its attempts say.

use super::plan::{Draft, SkipReason, Skipped};
use super::rules::Policy;
use crate::model::{Action, Claim};

/// Says that the budget is spent: with 1, the first loss requeues and the second fails; with 0, the first one fails.
///
/// # Errors
/// When there is a budget and nobody can tell what was spent of it: never silently unlimited.
pub(super) fn spent(claim: &Claim, policy: &Policy) -> Result<Option<String>, Skipped> {
    let Some(max) = policy.max_stalls else { return Ok(None) };
    let Some(stalls) = claim.stalls else {
        return Err(Skipped {
            reason: SkipReason::StallsUnreadable,
            detail: format!("nobody can tell how often it was lost before, and {max} is the most"),
        });
    };
    Ok((stalls >= i64::from(max)).then(|| match stalls {
        0 => "lost for the first time, 0 allowed".to_owned(),
        1 => format!("lost once already, {max} allowed"),
        _ => format!("lost {stalls} times already, {max} allowed"),
    }))
}

/// Why a draft fails a job that its attempts and its deadline may have let go back: for documents, beside the reasons of its
/// verdict. `None` where the budget has no part in it.
pub fn why_failed(claim: &Claim, policy: &Policy, draft: &Draft) -> Option<String> {
    match draft {
        Draft::Step(step) if step.action == Action::Fail && policy.to.is_none() => spent(claim, policy).ok().flatten(),
        _ => None,
    }
}

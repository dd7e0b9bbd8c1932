//! Tests times that nobody says the zone of: a death that another zone would explain is unknown.

use super::evaluate;
use crate::model::{Claim, Timestamp};
use crate::policy::finding::Finding;
use crate::policy::rules::Policy;
use crate::policy::verdict::{Check, CheckResult, Judgement, Value, Verdict};
use crate::preset::QueueSpec;
use crate::preset::encoding::Said;

/// The judgement of a claim whose times were read as UTC, once that reading is tested: where nothing shows that it is
/// right, a claim is stuck only if it is so in the furthest zone too, whatever rule says it.
pub(super) fn tested(
    spec: &QueueSpec,
    claim: &Claim,
    policy: &Policy,
    now: Timestamp,
    mut judgement: Judgement,
) -> Judgement {
    let Some((time, said)) = spec.zone() else { return judgement };
    let (mut result, mut finding) = (CheckResult::Clear, Finding::Preset(said.caution().to_owned()));
    let owner = claim.owner.as_ref();
    if let (Said::ByNobody, Verdict::Stuck(reasons)) = (said, &judgement.verdict)
        && let Some(death) = reasons.first()
        && let are_shown = spec.utc.shows(owner.map(|owner| owner.id.as_str()), now)
        && let Some(time) = if are_shown { spec.never_shown() } else { Some(time) }
    {
        let mut moved = claim.clone();
        spec.move_to_furthest_zone(&mut moved, are_shown);
        if !matches!(evaluate(spec, &moved, policy, now).verdict, Verdict::Stuck(_)) {
            let (death, owner) = (Box::new(death.finding.clone()), owner.map(|owner| owner.name.clone()));
            finding = Finding::IfUtc(death, time.column.name.clone(), owner);
            result = CheckResult::Unusable;
            judgement.verdict = Verdict::Unknown(vec![finding.clone()]);
        }
    }
    let (column, value) = (time.column.to_string(), Value::Name("utc".to_owned()));
    judgement.checks.push(Check { rule: "time_zone", column, value, result, finding });
    judgement
}

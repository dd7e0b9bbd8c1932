//! Saved plans: what is read is what is written again, its digest covers every step, and its tokens are not shown.

use super::CANARY;
use jobdoctor::model::{EvidenceRow, FailCode, Precondition, Write};
use jobdoctor::output::SavedPlan;
use jobdoctor::policy::Digest;

fn precondition(text: String) -> Write {
    Write::Act {
        precondition: Precondition(text),
        evidence_row: EvidenceRow::None,
        fail_code: FailCode::default(),
        or_fail: false,
        refusal: None,
    }
}

pub fn holds(bytes: &[u8]) {
    let Ok(plan) = serde_json::from_slice::<SavedPlan>(bytes) else { return };
    let written = serde_json::to_string(&plan).expect("a plan can be written");
    let again: SavedPlan = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(serde_json::to_string(&again).expect("as the first time"), written);

    let digest = |plan: &SavedPlan| {
        let mut digest = Digest::default();
        for step in &plan.steps {
            digest.add(Digest::print(step));
        }
        digest.hex("")
    };
    let whole = digest(&plan);
    let mut turned = plan.clone();
    turned.steps.reverse();
    assert_eq!(digest(&turned), whole, "the order of the steps counts");
    for n in 0..plan.steps.len().min(8) {
        let mut altered = plan.clone();
        altered.steps[n].stage = precondition(format!("{}x", altered.steps[n].precondition()));
        assert_ne!(digest(&altered), whole, "the precondition of step {n} does not count");
        let mut altered = plan.clone();
        altered.steps[n].attempts_after = Some(plan.steps[n].attempts_after.map_or(0, |n| n.wrapping_add(1)));
        assert_ne!(digest(&altered), whole, "the attempts of step {n} do not count");
    }

    let mut bare = plan.clone();
    bare.steps.iter_mut().for_each(|step| step.stage = precondition(String::new()));
    if !format!("{bare:?}").contains(CANARY) {
        assert!(!format!("{plan:?}").contains(CANARY), "a precondition is shown");
    }
}

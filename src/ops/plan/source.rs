//! What a plan is made from: a selection, a run that is reverted, or a plan in a file, which is carried out as far as
//! nothing has changed.

use super::{Plan, plan, plan_again};
use crate::history::Directory;
use crate::model::{EvidenceRow, Key, Precondition, Step, Target, Write};
use crate::ops::OpsError;
use crate::ops::history::Records;
use crate::ops::passes::Bound;
use crate::ops::selection::Selection;
use crate::ops::session::Snapshot;
use crate::ops::undo::undo_plan;
use crate::output::{SavedPlan, SavedPolicy, StepJob};
use crate::policy::{Digest, Draft, Finding, Policy, Rule, SkipReason, Skipped};
use crate::preset::SpecError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use strum::IntoEnumIterator;

#[derive(Clone)]
pub enum PlanSource {
    Selection(Box<Selection>),
    /// The jobs of a saved plan, after what to call its file.
    Saved(String, Arc<SavedPlan>, Bound),
    /// The steps of a run, by the beginning of its id; they are searched in the journals of this host, and in the ledger.
    Run(String, Option<Directory>, Bound),
}

impl PlanSource {
    pub fn plan(&self, snapshot: &mut Snapshot, policy: &Policy) -> Result<Plan, OpsError> {
        match self {
            PlanSource::Selection(selection) => plan(snapshot, selection, policy),
            PlanSource::Saved(name, saved, bound) => {
                fits(name, saved, &snapshot.identified()?, &snapshot.jobs.queue.mapping)?;
                plan_again(snapshot, saved, bound, policy)
            }
            PlanSource::Run(prefix, journals, bound) => {
                let run_id = bound.run_id.as_ref().unwrap_or(prefix);
                undo_plan(&mut Records { journals: journals.as_ref(), snapshot: Some(snapshot) }, run_id, bound)
            }
        }
    }

    /// For the plan of a second snapshot: a job that is not in the first plan must not push out one that is.
    pub(in crate::ops) fn only(&self, first: &Plan) -> PlanSource {
        let mut confirmed = BTreeMap::<String, BTreeSet<String>>::new();
        for part in &first.parts {
            let keys = part.steps.iter().map(|(step, _)| step.key.exact());
            confirmed.entry(part.jobs.claim.lock_table.clone()).or_default().extend(keys);
        }
        self.within(Bound {
            only: Some(Arc::new(first.steps().map(|(step, _)| Digest::print(step)).collect())),
            confirmed: Arc::new(confirmed),
            ..Bound::default()
        })
    }

    /// The same within that bound: what the next pass of a run plans from.
    pub fn within(&self, within: Bound) -> PlanSource {
        let mut source = self.clone();
        match &mut source {
            PlanSource::Selection(selection) => selection.bound = within,
            PlanSource::Saved(.., bound) | PlanSource::Run(.., bound) => *bound = within,
        }
        source
    }

    /// How the claims are judged: as for the saved plan, over the settings in force.
    pub fn policy(&self, policy: Policy) -> Result<Policy, OpsError> {
        match self {
            PlanSource::Selection(_) | PlanSource::Run(..) => Ok(policy),
            PlanSource::Saved(name, saved, _) => saved_policy(name, &saved.policy, policy),
        }
    }

    /// True if the operator named jobs, and expects an answer for each.
    pub fn is_by_name(&self) -> bool {
        match self {
            PlanSource::Selection(selection) => selection.is_by_name(),
            PlanSource::Saved(..) | PlanSource::Run(..) => true,
        }
    }
}

impl Plan {
    pub fn to_save(&self) -> SavedPlan {
        // The owners' rows are read anew.
        let saved = |(step, _): &(Step, StepJob)| {
            step.at(Write::Act {
                precondition: Precondition(step.precondition().to_owned()),
                evidence_row: EvidenceRow::None,
                fail_code: step.fail_code(),
                or_fail: step.fails_if_refused(),
                refusal: None,
            })
        };
        SavedPlan {
            schema: SavedPlan::SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            store_time: self.store_time,
            target: self.target.clone(),
            policy: SavedPolicy {
                older_seconds: self.policy.older.map(|older| older.as_secs_f64()),
                older_overrules: self.policy.thresholds.overruled,
                rules: self.policy.act_on.iter().map(|rule| rule.name().to_owned()).collect(),
                to: self.policy.to,
                interrupted: self.policy.interrupted.is_some(),
            },
            digest: self.digest.clone(),
            steps: self.steps().map(saved).collect(),
        }
    }
}

/// The policy that a saved plan was judged by, over what is in force now.
fn saved_policy(name: &str, saved: &SavedPolicy, policy: Policy) -> Result<Policy, OpsError> {
    let broken = |what: String| OpsError::from(SpecError::whole(name, what));
    let threshold = |seconds: f64| {
        let older = Duration::try_from_secs_f64(seconds).ok().filter(|older| *older >= Duration::from_secs(1));
        older.ok_or_else(|| broken(format!("older_seconds is {seconds}, which is not a threshold")))
    };
    let older = saved.older_seconds.map(threshold).transpose()?;
    let rule = |name: &String| Rule::iter().find(|rule| rule.name() == name);
    let rules = saved.rules.iter().map(|name| rule(name).ok_or_else(|| broken(format!("there is no rule `{name}`"))));
    let policy = Policy { older, act_on: rules.collect::<Result<_, _>>()?, to: saved.to, ..policy };
    Ok(if saved.older_overrules { policy.with_older(older) } else { policy })
}

/// Makes sure that a file from elsewhere is a plan for this queue, and whole.
fn fits(name: &str, saved: &SavedPlan, here: &Target, mapping: &str) -> Result<(), OpsError> {
    let broken = |what: String| Err(OpsError::from(SpecError::whole(name, what)));
    if let Some((what, then, now)) = saved.target.difference(here) {
        return broken(format!("it was made for another {what}: `{then}`, and this one is `{now}`"));
    }
    let (mut digest, mut seen) = (Digest::default(), BTreeSet::new());
    for step in &saved.steps {
        if step.id != step.key.to_string() {
            return broken(format!("job {}: its key is that of job {}", step.id, step.key));
        }
        if !seen.insert(step.key.exact()) {
            return broken(format!("job {} is in it twice", step.id));
        }
        digest.add(Digest::print(step));
    }
    if digest.hex(mapping) != saved.digest {
        let changed = if mapping.is_empty() { "" } else { "the mapping has changed since, or " };
        return broken(format!(
            "its digest does not match its steps: {changed}it was altered or damaged. Make a new plan"
        ));
    }
    Ok(())
}

/// Compares a draft with the steps of a saved plan, by the job's exact key: a step stays one only if it comes to what it
/// was then.
pub(super) fn compared(saved: &BTreeMap<String, &Step>, key: &Key, draft: Draft) -> Draft {
    let Draft::Step(step) = draft else { return draft };
    let unchanged = saved.get(&key.exact()).filter(|then| then.precondition() == step.precondition());
    let of = |step: &Step| (step.action, step.fails_if_refused(), step.state_after.clone(), step.attempts_after);
    if unchanged.is_some_and(|then| of(then) == of(&step)) {
        return Draft::Step(step);
    }
    let findings = unchanged.map(|then| Finding::Planned(then.action, step.action)).into_iter().collect();
    Draft::Skipped(Skipped { reason: SkipReason::Changed, findings })
}

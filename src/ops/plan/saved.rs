//! A plan in a file: written by one run, and carried out by another as far as nothing has changed.

use super::Plan;
use crate::model::Key;
use crate::ops::OpsError;
use crate::output::{SavedPlan, SavedPolicy, SavedStep, SavedTarget, Target};
use crate::policy::{Digest, Draft, Policy, Rule, SkipReason, Skipped};
use crate::preset::SpecError;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

impl Plan {
    /// The plan as a file keeps it.
    ///
    /// # Errors
    /// When the temporary file of a long plan cannot be read.
    pub fn to_save(&self) -> Result<SavedPlan, OpsError> {
        let mut steps = Vec::with_capacity(self.claims.steps.len());
        for (step, job) in self.claims.steps.iter().zip(self.claims.jobs.iter()) {
            let (step, job) = (step?, job?.job);
            steps.push(SavedStep {
                id: job.id,
                key: step.key,
                queue: job.queue,
                kind: job.kind,
                owner: job.owner,
                action: step.action,
                state_after: step.state_after,
                attempts_after: step.attempts_after,
                precondition: step.precondition.0,
            });
        }
        Ok(SavedPlan {
            schema: SavedPlan::SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            store_time: self.store_time,
            target: place(&self.target),
            policy: SavedPolicy {
                older_seconds: self.policy.older.map(|older| older.as_secs_f64()),
                older_overrules: self.policy.thresholds.overruled,
                rules: self.policy.act_on.iter().map(|rule| rule.name().to_owned()).collect(),
                to: self.policy.to,
            },
            digest: self.digest.clone(),
            steps,
        })
    }
}

/// The policy that a saved plan was judged by, over what is in force now.
///
/// # Errors
/// When it makes no sense: the file was altered.
pub(super) fn saved_policy(name: &str, saved: &SavedPolicy, policy: Policy) -> Result<Policy, OpsError> {
    let broken = |what: String| OpsError::from(SpecError::whole(name, what));
    let older = match saved.older_seconds {
        None => None,
        Some(seconds) => Some(
            Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|older| *older >= Duration::from_secs(1))
                .ok_or_else(|| broken(format!("older_seconds is {seconds}, which is no threshold")))?,
        ),
    };
    let rule = |name: &String| Rule::ALL.into_iter().find(|rule| rule.name() == name);
    let rules = saved.rules.iter().map(|name| rule(name).ok_or_else(|| broken(format!("there is no rule `{name}`"))));
    let policy = Policy { older, act_on: rules.collect::<Result<_, _>>()?, to: saved.to, ..policy };
    Ok(if saved.older_overrules { policy.with_older(older) } else { policy })
}

/// Makes sure that a file from elsewhere is a plan for this queue, and whole.
///
/// # Errors
/// When it is not; nothing was read then.
pub(super) fn fits(name: &str, saved: &SavedPlan, target: &Target) -> Result<(), OpsError> {
    let broken = |what: String| Err(OpsError::from(SpecError::whole(name, what)));
    let here = place(target);
    let differs = [
        ("engine", &saved.target.engine, &here.engine),
        ("preset", &saved.target.preset, &here.preset),
        ("table", &saved.target.table, &here.table),
        ("database", &saved.target.database, &here.database),
    ];
    for (what, then, now) in differs {
        if then != now {
            return broken(format!("it was made for another {what}: `{then}`, and this one is `{now}`"));
        }
    }
    let mut digest = Digest::default();
    let mut seen = BTreeSet::new();
    for step in &saved.steps {
        if step.id != step.key.to_string() {
            return broken(format!("job {}: its key is that of job {}", step.id, step.key));
        }
        let key = step.key.exact();
        if seen.contains(&key) {
            return broken(format!("job {} is in it twice", step.id));
        }
        digest.add_parts(&key, &step.precondition, step.action.name(), &step.state_after, step.attempts_after);
        seen.insert(key);
    }
    let digest = digest.finish();
    if digest != saved.digest {
        return broken("its steps are not those of its digest: it was altered or damaged. Make a new plan".to_owned());
    }
    Ok(())
}

/// The steps of a saved plan, by the job's exact key.
pub(super) struct ByKey<'a>(BTreeMap<String, &'a SavedStep>);

impl ByKey<'_> {
    /// The steps of a plan.
    pub(super) fn of(saved: &SavedPlan) -> ByKey<'_> {
        ByKey(saved.steps.iter().map(|step| (step.key.exact(), step)).collect())
    }

    /// A step stays one only if it comes to what it was then.
    pub(super) fn compared(&self, key: &Key, draft: Draft) -> Draft {
        let Draft::Step(step) = draft else { return draft };
        let then = self.0.get(&key.exact());
        if then.is_some_and(|then| then.is(&step)) {
            return Draft::Step(step);
        }
        let detail = match then {
            Some(then) if then.precondition == step.precondition.0 => {
                format!("the plan was to {} it, not to {}", then.action, step.action)
            }
            _ => "it is no longer what the plan saw".to_owned(),
        };
        Draft::Skipped(Skipped { reason: SkipReason::Changed, detail })
    }
}

fn place(target: &Target) -> SavedTarget {
    let database = match target.engine.as_str() {
        // One file may have many names.
        "sqlite" => std::fs::canonicalize(&target.database)
            .map_or_else(|_| target.database.clone(), |path| path.display().to_string()),
        // The user says nothing about the place.
        _ => target.database.rsplit_once('@').map_or(target.database.as_str(), |(_, place)| place).to_owned(),
    };
    SavedTarget { engine: target.engine.clone(), preset: target.preset.clone(), database, table: target.table.clone() }
}

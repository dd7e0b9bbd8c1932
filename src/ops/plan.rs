use super::OpsError;
use super::document::{held, job, order};
use super::selection::{Selection, hosts_are_named};
use super::session::Look;
use super::show::not_in_flight;
use super::stale::findings;
use crate::model::{Claim, Step, Timestamp, age};
use crate::policy::{Digest, Draft, Judgement, Policy, Proves, RestartScope, draft, judge};
use crate::report::{Filter, HeldJob, Spool, StepJob, Target};
use crate::spec::{LateFinish, Liveness, QueueSpec, SilentAfter};
use crate::store::Wanted;
use std::collections::BTreeSet;

/// What is to be done, as a value: it can be printed, and it can be executed. Nothing in it can write.
pub struct Plan {
    pub(super) spec: QueueSpec,
    pub(super) store_time: Timestamp,
    pub(super) target: Target,
    pub(super) filter: Filter,
    /// What is done, with the fences; and, in the same order, the jobs as documents show them.
    pub(super) steps: Spool<Step>,
    pub(super) jobs: Spool<StepJob>,
    pub(super) held: Spool<HeldJob>,
    pub(super) in_flight: u64,
    pub(super) beyond_limit: u64,
    pub(super) not_found: Vec<String>,
    pub(super) digest: String,
    pub(super) warnings: Vec<String>,
}

impl Plan {
    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// How many claims are in the whole queue.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// True if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// Drafts what to do about the claims asked for. The dry run and the apply take the same plan.
///
/// # Errors
/// When the store cannot be read, or what is asked for makes no sense for this queue.
pub fn plan(look: &mut Look, selection: &Selection, policy: &Policy) -> Result<Plan, OpsError> {
    if let Some(restart) = &policy.restart {
        scope_is_sound(look, &restart.scope)?;
    }
    move_is_offered(&look.spec, policy)?;
    let in_flight = look.reader.in_flight(&look.spec)?;
    let mut drafts = Drafts::default();
    let mut not_found = Vec::new();
    if selection.ids.is_empty() {
        findings(look, selection, policy, &mut |spec, claim, judgement| {
            let draft = draft(spec, claim, &judgement, policy);
            drafts.add(spec, claim, &judgement, draft)
        })?;
    } else {
        selection.check(&look.spec, policy)?;
        not_found = named(look, selection, policy, &mut drafts)?;
    }
    let Drafts { mut steps, mut jobs, mut held, sources, troubled } = drafts;
    steps.sort();
    jobs.sort();
    held.sort();
    let beyond_limit = selection.limit.map_or(0, |limit| steps.truncate(limit).min(jobs.truncate(limit)));
    let mut digest = Digest::default();
    for step in steps.iter() {
        digest.add(&step?);
    }
    let warnings = if steps.is_empty() { Vec::new() } else { warnings(&look.spec, policy, &sources, troubled) };
    Ok(Plan {
        spec: look.spec.clone(),
        store_time: look.now(),
        target: look.target.clone(),
        filter: selection.filter(policy),
        steps,
        jobs,
        held,
        in_flight,
        beyond_limit: beyond_limit as u64,
        not_found,
        digest: digest.finish(),
        warnings,
    })
}

/// The jobs that were named: each is a step, or is held with why, or is not found.
fn named(
    look: &mut Look,
    selection: &Selection,
    policy: &Policy,
    drafts: &mut Drafts,
) -> Result<Vec<String>, OpsError> {
    let now = look.now();
    let found = look.reader.find(&look.spec, &selection.ids)?;
    for found in found.iter().filter(|found| selection.admits(&found.claim)) {
        let judgement = judge(&look.spec, &found.claim, policy, now);
        let draft = match found.in_flight {
            true => draft(&look.spec, &found.claim, &judgement, policy),
            false => not_in_flight(&found.claim.state),
        };
        drafts.add(&look.spec, &found.claim, &judgement, draft)?;
    }
    let ids: BTreeSet<&String> = found.iter().flat_map(|found| &found.names).collect();
    Ok(selection.ids.iter().filter(|id| !ids.contains(id)).cloned().collect())
}

#[derive(Default)]
struct Drafts {
    steps: Spool<Step>,
    jobs: Spool<StepJob>,
    held: Spool<HeldJob>,
    /// Which sources of liveness the steps rest on.
    sources: BTreeSet<&'static str>,
    /// Whether a step rests on trouble alone.
    troubled: bool,
}

impl Drafts {
    fn add(&mut self, spec: &QueueSpec, claim: &Claim, judgement: &Judgement, draft: Draft) -> Result<(), OpsError> {
        let job = job(spec, claim, judgement, &draft);
        let place = order(job.last_sign_at);
        match draft {
            Draft::Held(why) => self.held.push(place, &HeldJob { job, held: held(&why) })?,
            Draft::Step(step) => {
                self.sources.extend(judgement.liveness);
                self.troubled |= !judgement.verdict.is_death();
                let job = StepJob {
                    job,
                    state_after: step.state_after.clone(),
                    attempts_after: step.attempts_after,
                    outcome: None,
                    error: None,
                };
                self.jobs.push(place, &job)?;
                self.steps.push(place, &step)?;
            }
        }
        Ok(())
    }
}

/// Refuses a move that this queue does not have at all.
fn move_is_offered(spec: &QueueSpec, policy: &Policy) -> Result<(), OpsError> {
    match policy.to {
        Some(to) if !spec.moves.contains_key(&to) => {
            let known: Vec<&str> = spec.moves.keys().map(|known| known.name()).collect();
            Err(OpsError::usage(
                format!("--to {to}: preset {} has no such move", spec.preset),
                format!("it has {}", known.join(", ")),
            ))
        }
        _ => Ok(()),
    }
}

/// Refuses a scope that this queue cannot answer or that is likely to mean less than it matches.
fn scope_is_sound(look: &mut Look, scope: &RestartScope) -> Result<(), OpsError> {
    match scope {
        RestartScope::AllOwners => Ok(()),
        RestartScope::Hosts(_) => hosts_are_named(&look.spec),
        RestartScope::Owners(_) if look.spec.owner.id.is_none() => Err(OpsError::usage(
            format!("--owner: preset {} does not say who holds a job", look.spec.preset),
            "stop every worker and sweep with --all-owners",
        )),
        RestartScope::Owners(globs) => {
            let ends_open = |pattern: &&String| {
                let before = pattern.strip_suffix('*').and_then(|rest| rest.chars().last());
                before.is_some_and(char::is_alphanumeric)
            };
            let Some(pattern) = globs.patterns().iter().find(ends_open).cloned() else { return Ok(()) };
            let mut hosts = BTreeSet::new();
            let spec = &look.spec;
            look.reader.scan(spec, &Wanted::All, &mut |claim| {
                if let Some(owner) = claim.owner.as_ref().filter(|_| scope.covers(&claim)) {
                    hosts.insert(owner.host.clone().unwrap_or_else(|| owner.name.clone()));
                }
            })?;
            if hosts.len() < 2 {
                return Ok(());
            }
            let seen: Vec<String> = hosts.into_iter().take(20).collect();
            Err(OpsError::usage(
                format!("--owner {pattern} covers more than one host: {}", seen.join(", ")),
                "name the hosts with --host, or end the pattern before its `*` with the separator, as in 'web1:*'",
            ))
        }
    }
}

/// What an operator should know before applying the plan.
fn warnings(spec: &QueueSpec, policy: &Policy, sources: &BTreeSet<&'static str>, troubled: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(older) = policy.older {
        let own = spec.liveness.iter().filter(|source| sources.contains(source.name())).find_map(|source| match source
            .silent_after()
        {
            Some(SilentAfter::Span(span)) => Some(*span),
            _ => None,
        });
        if let Some(own) = own.filter(|own| older < *own) {
            warnings.push(format!("--older {} is shorter than the {} of preset {}", age(older), age(own), spec.preset));
        }
    }
    let age_only = spec.liveness.iter().any(|source| matches!(source, Liveness::Age { .. })) && sources.contains("age");
    if age_only && policy.restart.is_none() {
        warnings.push("age only: nothing but the age of the claim tells these jobs from slow ones".to_owned());
    }
    if troubled {
        warnings.push(format!(
            "some of these jobs show {} only: their workers may still be running",
            Proves::Trouble.name()
        ));
    }
    // What the preset knows of it says more than the bare fact.
    let late = spec.cautions.iter().find(|(name, _)| name == "late").map(|(_, text)| text.as_str());
    warnings.extend(late.or(late_in_short(spec.late_finish)).map(str::to_owned));
    warnings.extend(spec.cautions.iter().filter(|(name, _)| name != "late").map(|(_, text)| text.clone()));
    warnings
}

/// What a worker that comes back late does to the job; `None` if it does nothing.
fn late_in_short(late_finish: LateFinish) -> Option<&'static str> {
    match late_finish {
        LateFinish::Fenced => None,
        LateFinish::ByState => Some("a worker that comes back late is stopped by the job's state alone"),
        LateFinish::ById => Some("a worker that comes back late overwrites what happened meanwhile"),
        LateFinish::Unknown => Some("it is not known what a worker that comes back late does to the job"),
    }
}

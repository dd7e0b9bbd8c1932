//! Remembers which thresholds the steps of a plan rest on, for its warnings and the brake.

use crate::model::Claim;
use crate::policy::{Allowed, Judgement, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The most kinds to remember; more make no better warning.
const MOST_KINDS: usize = 100;

/// The thresholds by which steps were judged, and the kinds that they concern.
#[derive(Default)]
pub(super) struct ThresholdsUsed {
    /// Liveness sources, and the silence that each was allowed.
    silences: BTreeSet<(&'static str, Allowed)>,
    /// Liveness sources, with a threshold or, like a lease, without.
    sources: BTreeSet<&'static str>,
    /// The limits of steps that rest on run time alone, by queue and kind.
    runs: BTreeMap<(Option<String>, Option<String>), Limits>,
}

type Limits = BTreeSet<(Limit, Allowed)>;

/// What is limited where a step rests on how long a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    /// The age of its claim: the table shows nothing else.
    Age,
    MaxRuntime,
}

impl Limit {
    pub(super) fn key(self) -> &'static str {
        match self {
            Limit::Age => "older",
            Limit::MaxRuntime => "max_runtime",
        }
    }
}

impl ThresholdsUsed {
    /// Takes the judgement of a step in.
    pub(super) fn add(&mut self, claim: &Claim, judgement: &Judgement) {
        self.sources.extend(judgement.liveness);
        if let (Some(source), Some(allowed)) = (judgement.liveness, judgement.allowed) {
            self.silences.insert((source, allowed));
        }
        let fires = |rule: Rule| judgement.verdict.reasons().iter().any(|reason| reason.rule == rule);
        let by_age = judgement.allowed.filter(|_| fires(Rule::ClaimAge)).map(|allowed| (Limit::Age, allowed));
        let by_run_time = || judgement.overrun.map(|allowed| (Limit::MaxRuntime, allowed));
        let by_trouble = by_run_time().filter(|_| !judgement.verdict.is_death() && fires(Rule::MaxRuntime));
        let Some(limit) = by_age.or(by_trouble) else { return };
        let whose = (claim.queue.clone(), claim.kind.clone());
        if self.runs.len() < MOST_KINDS || self.runs.contains_key(&whose) {
            self.runs.entry(whose).or_default().insert(limit);
        }
    }

    pub(super) fn silences(&self, source: &str) -> impl Iterator<Item = Allowed> {
        self.silences.iter().filter(move |(known, _)| *known == source).map(|(_, allowed)| *allowed)
    }

    /// True if a step rests on that source.
    pub(super) fn has(&self, source: &str) -> bool {
        self.sources.contains(source)
    }

    /// The longest silence that any of those sources was allowed.
    pub(super) fn longest_silence(&self, sources: &[&'static str]) -> Option<Duration> {
        let known = self.silences.iter().filter(|(source, _)| sources.contains(source));
        known.map(|(_, allowed)| allowed.span).max()
    }

    /// The limits on run times by kind; by queue if the table has no kinds.
    pub(super) fn limits(&self, by_kind: bool) -> BTreeMap<Option<String>, Limits> {
        let mut limits: BTreeMap<_, Limits> = BTreeMap::new();
        for ((queue, kind), known) in &self.runs {
            limits.entry(if by_kind { kind } else { queue }.clone()).or_default().extend(known);
        }
        limits
    }
}

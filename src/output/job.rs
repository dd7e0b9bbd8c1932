use super::findings::{Wording, sentence};
use crate::model::{Action, Claim, End, Outcome, RowError, Step, Timestamp};
use crate::policy::{
    self, Finding, Group, Judgement, Policy, Proves, Rule, SkipReason, Skipped, Verdict, VerdictKind, why_failed,
};
use crate::preset::{Jobs, Liveness};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// One job, as every document shows it.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Job {
    /// What identifies it, in one line: the parts of its key, joined by slashes, quoted where they must be.
    pub id: String,
    /// The parts of its key as they are.
    pub key: Vec<String>,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Its state, in the queue's own words.
    pub state: String,
    /// Who holds it.
    pub owner: Option<String>,
    /// The host of the owner, where owners name it.
    pub host: Option<String>,
    /// When it was claimed.
    #[schemars(with = "Option<String>")]
    pub claimed_at: Option<Timestamp>,
    /// The newest sign of life: the later of heartbeat and claim; of an interrupted job when its library failed it.
    #[schemars(with = "Option<String>")]
    pub last_seen_at: Option<Timestamp>,
    /// The store's time minus that.
    pub silence_seconds: Option<f64>,
    /// When its lease ends or ended.
    #[schemars(with = "Option<String>")]
    pub lease_expires_at: Option<Timestamp>,
    /// Attempts as stored.
    pub attempts: Option<i64>,
    /// The most attempts it may have; null is no limit that the table knows.
    pub max_attempts: Option<i64>,
    /// How often it was lost before; null where nothing counts that.
    pub stalls: Option<i64>,
    /// What the judge says; null for a job that was not judged, as in an undo.
    pub verdict: Option<VerdictKind>,
    /// What judged: `lease`, `heartbeat`, `owner`, `lock` or `age`; `live_owner_list` for a list of living owners;
    /// `change` (of signs of life) or `progress` for what has changed between snapshots.
    pub liveness: Option<&'static str>,
    /// Why; for an unknown one, what is missing.
    pub reasons: Vec<Reason>,
    /// What `reclaim` would do; null if it would skip the job.
    pub action: Option<Action>,
    /// By which its diagnosis is found; `None` if it has nothing in common with others.
    #[serde(skip)]
    pub group: Option<Group>,
}

/// Why a job is called stuck or unknown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Reason {
    /// The rule; `unknown` where something is missing, `max_stalls` where the stall budget fails the job, `skipped` of an
    /// interrupted job that is not to be retried.
    pub rule: &'static str,
    /// What it proves; null where it proves neither death nor trouble.
    pub proves: Option<Proves>,
    /// In words.
    #[serde(rename = "detail", serialize_with = "in_words")]
    #[schemars(rename = "detail", with = "String")]
    pub finding: Finding,
}

fn in_words<S: Serializer>(finding: &Finding, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&sentence(finding))
}

/// A job that is to be moved, or was: the document of a [`Step`](crate::model::Step), which has the stored values that
/// are compared and is never printed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StepJob {
    /// The job.
    #[serde(flatten)]
    pub job: Box<Job>,
    /// The state it comes to, in the queue's own words.
    pub state_after: String,
    /// Its attempts then.
    pub attempts_after: Option<i64>,
    /// `fail` for a requeue that becomes a fail if a unique key refuses it and the job that holds the key is seen.
    pub if_refused: Option<Action>,
    /// How it ended; null if the plan was only printed.
    pub outcome: Option<Outcome>,
    /// Why the database refused it; in a plan, why it will; of a fail in the place of a requeue, what refused the
    /// requeue.
    pub error: Option<RowError>,
}

/// A job that was examined and is not acted on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SkippedJob {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// Why.
    #[serde(flatten, serialize_with = "with_detail")]
    #[schemars(with = "WhySkipped")]
    pub skipped: Skipped,
}

/// Why a job is not acted on, as documents say it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WhySkipped {
    /// Why.
    pub reason: SkipReason,
    /// A sentence for people.
    pub detail: String,
}

impl From<&Skipped> for WhySkipped {
    fn from(Skipped { reason, findings }: &Skipped) -> WhySkipped {
        WhySkipped { reason: *reason, detail: Wording::default().skipped(*reason, findings) }
    }
}

fn with_detail<S: Serializer>(skipped: &Skipped, serializer: S) -> Result<S::Ok, S::Error> {
    WhySkipped::from(skipped).serialize(serializer)
}

impl Job {
    /// What the judge says of a claim, and the step that is drafted for it, if one is.
    pub fn of(jobs: &Jobs, claim: &Claim, policy: &Policy, judgement: &Judgement, step: Option<&Step>) -> Job {
        let reason = |rule, proves, finding: &Finding| Reason { rule, proves, finding: finding.clone() };
        let stuck = |why: &policy::Reason| reason(why.rule.name(), Some(why.proves), &why.finding);
        let mut reasons: Vec<Reason> = match &judgement.verdict {
            Verdict::Healthy => Vec::new(),
            Verdict::Stuck(reasons) => reasons.iter().map(stuck).collect(),
            Verdict::Unknown(lacking) => lacking.iter().map(|what| reason("unknown", None, what)).collect(),
        };
        reasons.extend(
            step.and_then(|step| why_failed(claim, policy, step)).map(|lost| reason("max_stalls", None, &lost)),
        );
        let lease = jobs.liveness.iter().zip(&claim.signs).find(|(source, _)| matches!(source, Liveness::Lease { .. }));
        Job {
            id: claim.key.to_string(),
            key: claim.key.parts(),
            queue: claim.queue.clone(),
            kind: claim.kind.clone(),
            state: claim.state.clone(),
            owner: claim.owner.as_ref().map(|owner| owner.name.clone()),
            host: claim.owner.as_ref().and_then(|owner| owner.host.clone()),
            claimed_at: claim.claimed_at.at().filter(|_| !jobs.waited() && !jobs.are_interrupted()),
            last_seen_at: judgement.last_seen_at,
            silence_seconds: judgement.silence.map(|silence| silence.as_secs_f64()),
            lease_expires_at: lease.and_then(|(_, sign)| sign.at.at()),
            attempts: claim.attempts.as_integer(),
            max_attempts: claim.max_attempts.as_integer(),
            stalls: claim.stalls,
            verdict: Some(judgement.verdict.kind()),
            liveness: judgement.liveness,
            reasons,
            action: step.map(|step| step.action),
            group: None,
        }
    }

    /// The job of a recorded step, as that left it.
    pub fn recorded(step: &Step<End>) -> Job {
        Job {
            id: step.id.clone(),
            key: step.key.parts(),
            queue: step.queue.clone(),
            kind: step.kind.clone(),
            state: step.state_after.clone(),
            owner: step.owner.clone(),
            attempts: step.attempts_after,
            action: Some(step.action),
            ..Job::default()
        }
    }

    /// True if it waited without an owner, too long: it says nothing about workers.
    pub fn has_waited(&self) -> bool {
        self.owner.is_none() && self.reasons.iter().all(|reason| reason.rule == Rule::TooLong.name())
    }

    /// Its place in a list.
    pub fn order(&self) -> i64 {
        order(self.last_seen_at)
    }
}

impl StepJob {
    /// The document of a planned step.
    pub fn of(step: &Step, job: Job) -> StepJob {
        let (state_after, attempts_after) = (step.state_after.clone(), step.attempts_after);
        let if_refused = step.fails_if_refused().then_some(Action::Fail);
        StepJob { job: Box::new(job), state_after, attempts_after, if_refused, outcome: None, error: None }
    }

    /// Adds how the step ended that was tried last.
    pub fn set_end(&mut self, step: &Step, end: End) {
        // A fail in the place of a requeue is told where it was done.
        if matches!(end.outcome, Outcome::Moved | Outcome::Unknown) {
            self.job.action = Some(step.action);
            (self.state_after, self.attempts_after) = (step.state_after.clone(), step.attempts_after);
        }
        (self.outcome, self.error) = (Some(end.outcome), end.error);
    }

    /// True for a wake-up, which moves nothing.
    pub fn is_wake_up(&self) -> bool {
        self.job.action == Some(Action::Wake)
    }

    /// True if a worker lost the job, and it is moved or will be. A job that waited without an owner says nothing about
    /// workers.
    pub fn is_lost(&self) -> bool {
        !self.job.has_waited() && (self.outcome.is_none() || self.was_moved())
    }

    /// True if the job was moved.
    pub fn was_moved(&self) -> bool {
        self.outcome == Some(Outcome::Moved) && !self.is_wake_up()
    }
}

/// The place of a job in a list, by its last sign of life: longest silent first, and last those whose silence is
/// unknown.
pub fn order(last_seen_at: Option<Timestamp>) -> i64 {
    last_seen_at.map_or(i64::MAX, Timestamp::micros)
}

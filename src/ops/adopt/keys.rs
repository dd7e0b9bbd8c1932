//! The keys of a draft in one table. Each is settled in the same way: as the operator answered; else as the catalog or
//! the rows show; else, where a wrong guess could harm a job, by a question; else as is likely.

use super::draft::{Draft, answered};
use super::facts::{Facts, Support};
use super::roles::Role;
use super::table::SubjectColumn;
use super::{actions, attempts, condition, liveness, owner, states, times};
use crate::output::{DraftKey, Question};
use toml_edit::{Array, Value};

/// A key, or a family of keys.
pub(super) struct Entry {
    key: &'static str,
    find: fn(&Facts<'_>) -> Vec<Finding>,
    /// What is asked, with `{}` for what it is about, and what a wrong answer does; `None` for a key that harms no job.
    asks: Option<(&'static str, &'static str)>,
}

/// What the catalog and the rows say of a key.
#[derive(Default)]
pub(super) struct Finding {
    /// The key, where the entry is for a family of them.
    pub(super) key: Option<String>,
    /// The value; without one, there is nothing to propose.
    pub(super) value: Option<Value>,
    pub(super) support: Option<Support>,
    pub(super) why: String,
    pub(super) about: String,
    /// How an answer is written on a command line, if not as the value.
    pub(super) form: String,
    /// What a person looks at to answer.
    pub(super) seen: Vec<String>,
}

impl Finding {
    pub(super) fn new(value: impl Into<Value>, support: Support, why: impl Into<String>) -> Finding {
        Finding { value: Some(value.into()), support: Some(support), why: why.into(), ..Finding::default() }
    }

    pub(super) fn of(self, key: impl Into<String>) -> Finding {
        Finding { key: Some(key.into()), ..self }
    }

    pub(super) fn asked(self, about: impl Into<String>, form: impl Into<String>, seen: Vec<String>) -> Finding {
        Finding { about: about.into(), form: form.into(), seen, ..self }
    }

    /// Nothing to propose: a question.
    pub(super) fn open(about: impl Into<String>, form: impl Into<String>, seen: Vec<String>) -> Finding {
        Finding::default().asked(about, form, seen)
    }
}

const fn told(key: &'static str, find: fn(&Facts<'_>) -> Vec<Finding>) -> Entry {
    Entry { key, find, asks: None }
}

const fn asks(
    key: &'static str,
    find: fn(&Facts<'_>) -> Vec<Finding>,
    question: &'static str,
    harm: &'static str,
) -> Entry {
    Entry { key, find, asks: Some((question, harm)) }
}

const KEYS: [Entry; 29] = [
    told("claim.table", |facts| vec![Finding::new(&facts.subject.written, Support::Shown, "the catalog has it")]),
    asks(
        "claim.key",
        key,
        "which columns tell its rows apart? it has no unique key",
        "an action on one job changes every row with its key",
    ),
    told("claim.state", states::column),
    asks(
        "claim.where",
        condition::condition,
        "which rows are jobs in flight? {}",
        "rows that no worker holds are moved, or a dead worker's job is never found",
    ),
    asks(
        "states.in_flight",
        states::in_flight,
        "in which states of `{}` does a worker hold the job?",
        "jobs that wait or have ended are taken for stuck ones and run again",
    ),
    asks(
        "states.waiting",
        states::waiting,
        "in which states of `{}` does a job wait for a worker?",
        "a requeue puts jobs where no worker takes them",
    ),
    asks(
        "states.failed",
        states::failed,
        "in which states of `{}` has a job failed for good, so that no worker takes it again?",
        "a job without attempts left goes where it is run again, or is never seen again",
    ),
    told("states.", states::ended),
    asks(
        "states.ignored",
        states::rest,
        "what do these states of `{}` mean? name them under waiting, done, failed or cancelled, or ignore them",
        "counts are wrong; no job is moved",
    ),
    told("claim.claimed_at", liveness::claimed_at),
    told("waiting.", times::waiting),
    asks(
        "claim.liveness",
        liveness::sources,
        "what shows that a worker still works on a job, and after which silence is it dead? heartbeat COLUMN 2m, lease COLUMN, \
         owner 2m, age COLUMN 30m (above the longest run), or none",
        "a living worker's job is run twice",
    ),
    asks(
        "time.",
        times::times,
        "how does `{}` spell time, and in which zone? native, epoch s, text ..., and for a spelling without a zone utc or a name \
         like Europe/Paris behind it",
        "every job of a living worker looks silent for hours",
    ),
    told("owner.", owner::keys),
    asks(
        "owner.missing",
        owner::missing,
        "what does it mean if table {} has no row for an owner: dead, next (ask the next source) or unknown?",
        "with dead, the jobs of a worker that is new, quiet or cleaned up are run twice",
    ),
    told("claim.queue", |facts| by_name(facts, Role::Queue)),
    told("claim.kind", |facts| by_name(facts, Role::Kind)),
    told("claim.payload", |facts| by_name(facts, Role::Payload)),
    told("claim.last_error", |facts| by_name(facts, Role::LastError)),
    asks(
        "attempts.column",
        attempts::column,
        "does `{}` count a job's attempts, those made or those left? its name, or none",
        "a job that kills its workers is requeued for ever",
    ),
    told("attempts.direction", attempts::direction),
    asks(
        "attempts.max",
        attempts::max,
        "how many attempts may a job have, by `{}`? a number, a column, or none",
        "with none, or too many, a job that kills its workers is requeued for ever; with too few it fails at once",
    ),
    asks(
        "attempts.counted",
        attempts::counted,
        "when does `{}` count a run: at claim, on error, at end, at next claim or at reclaim?",
        "a lost run costs two attempts or none",
    ),
    told("attempts.exhausted", attempts::exhausted),
    asks(
        "waiting.is",
        condition::waits,
        "which rows does a worker take, now or later?",
        "a requeue leaves jobs where no worker takes them, and what has ended counts as due",
    ),
    told("action.requeue.to", actions::requeue_to),
    asks(
        "action.requeue.clear",
        actions::requeue,
        "which columns does a requeue set back? of those below no row shows that they are the claim's own",
        "a column too many loses what it keeps; one too few, and no worker takes the job",
    ),
    told("action.fail.to", actions::fail_to),
    asks(
        "action.fail.stamp",
        actions::fail,
        "which columns does a failure set to now? {}, or none",
        "an end is recorded that others read, or is missing",
    ),
];

/// Settles every key.
pub(super) fn settle(facts: &Facts<'_>) -> Draft {
    let mut draft = Draft { keys: Vec::new(), questions: Vec::new() };
    for entry in &KEYS {
        for finding in (entry.find)(facts) {
            entry.settle(facts, finding, &mut draft);
        }
    }
    draft
}

impl Entry {
    fn settle(&self, facts: &Facts<'_>, finding: Finding, draft: &mut Draft) {
        let key = finding.key.as_deref().unwrap_or(self.key);
        let support = finding.support.unwrap_or(Support::Name);
        let is_sure = self.asks.is_none() || support >= Support::Both;
        match (finding.value, facts.answers.get(key), self.asks) {
            (_, Some("none"), _) => {}
            (Some(value), answer, _) if support == Support::Answered || (answer.is_none() && is_sure) => {
                draft.keys.push(DraftKey::new(key, value, support.grade(), finding.why));
            }
            (_, Some(answer), _) => {
                draft.keys.push(answered(key, answer));
            }
            (value, None, Some((question, harm))) => {
                let of_value = || value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
                draft.questions.push(Question {
                    key: key.to_owned(),
                    question: question.replace("{}", &finding.about),
                    seen: finding.seen,
                    harm: harm.to_owned(),
                    is_proposal: support == Support::Rows,
                    form: if finding.form.is_empty() { of_value() } else { finding.form },
                });
            }
            (_, None, None) => {}
        }
    }
}

fn key(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(key) = facts.subject.key() else { return vec![Finding::open("", "COLUMN", Vec::new())] };
    let why = if facts.subject.primary.is_empty() { "a unique key without NULL" } else { "the primary key" };
    let value: Value = match key.as_slice() {
        [one] => one.into(),
        several => several.iter().map(String::as_str).collect::<Array>().into(),
    };
    vec![Finding::new(value, Support::Shown, why)]
}

/// The first column that is called so and has no part in the claim.
fn by_name(facts: &Facts<'_>, role: Role) -> Vec<Finding> {
    let (owner, key) = (facts.owner.as_ref().map(owner::OwnerId::column), facts.subject.key().unwrap_or_default());
    let is_free = |column: &&SubjectColumn| Some(column.name.as_str()) != owner && !key.contains(&column.name);
    let mut free = facts.subject.of_role(role).filter(is_free);
    free.next().map(|column| Finding::new(&column.name, Support::Name, "by name and type")).into_iter().collect()
}

//! Which jobs the library failed because their worker died, and how its own retry brings one back: `[interrupted]`.

use super::actions::ActionDoc;
use super::{AttemptsDoc, Document, OwnerDoc, WaitingDoc};
use crate::model::{Action, AttemptsChange};
use crate::preset::field::{Fragment, Written, complete_when_read, named};
use crate::preset::queue::{Exhausted, Liveness, Skip, StateValue};
use crate::preset::{SpecError, did_you_mean};

/// `[interrupted]`. What it does not say is as in `[claim]` and `[owner]`; with a `from` of its own it says all.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct InterruptedDoc {
    /// Why the library fails no job for its worker's sake, or why no row tells.
    pub(crate) never: Option<String>,
    pub(crate) states: Vec<Written>,
    pub(crate) from: Option<Fragment>,
    key: Vec<Written>,
    state: Option<Written>,
    #[serde(rename = "where")]
    pub(crate) filter: Option<Fragment>,
    /// When the library failed it.
    pub(crate) since: Option<Written>,
    queue: Option<Written>,
    kind: Option<Written>,
    payload: Option<Written>,
    last_error: Option<Written>,
    precondition: Vec<Written>,
    owner: Option<OwnerDoc>,
    /// How often the job was lost before this time.
    stalls: Option<Written>,
    /// A query that counts the jobs that ended, well or not, since an instant.
    pub(crate) ended: Option<Fragment>,
    /// The library's own command, with `{ids}` or, for one job a line, `{id}`; and `{schema}`.
    pub(crate) command: Option<String>,
    pub(crate) retry: Option<ActionDoc>,
    #[serde(rename = "skip", deserialize_with = "named")]
    skips: Vec<(String, Skip<Fragment>)>,
    #[serde(rename = "caution", deserialize_with = "named")]
    pub(crate) cautions: Vec<(String, String)>,
}

complete_when_read!(InterruptedDoc);

impl InterruptedDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        if let Some(retry) = &mut self.retry {
            // The lost run was counted when the library failed the job.
            retry.attempts.get_or_insert(AttemptsChange::Keep);
        }
        let is_refused = self.retry.as_ref().is_some_and(|retry| retry.refused.is_some());
        match (&self.never, &self.filter, &self.since, &self.retry) {
            (Some(_), None, None, None) => Ok(()),
            (Some(_), ..) => Err("`never` says that there are none"),
            (None, Some(_), Some(_), Some(_)) if is_refused != self.command.is_some() => {
                Err("a retry that is `refused` needs the library's own `command`, and no other one does")
            }
            (None, Some(_), Some(_), Some(_)) if self.from.is_some() == self.key.is_empty() => {
                Err("`from` and `key` go together")
            }
            (None, Some(_), Some(_), Some(_)) => Ok(()),
            (None, None, None, None) => Ok(()),
            _ => Err("needs `where`, `since` and `retry`, or `never`"),
        }
    }
}

impl Document {
    /// Turns a document about claims into one about the jobs that were interrupted: their state stands for the one in
    /// flight, and the time of their failure for that of the claim. Of what shows life the owner's own row is left, and a
    /// lease that is renewed; of the rules what asks for an end.
    pub(crate) fn turn_to_interrupted(&mut self) -> Result<(), SpecError> {
        let doc = self.interrupted.clone();
        if doc.since.is_none() {
            let why = doc.never.map_or_else(|| "it has no [interrupted]".to_owned(), |never| format!("never: {never}"));
            return Err(SpecError::whole(&format!("interrupted jobs of preset {}", self.name), why));
        }
        let known = || self.states.all();
        let find = |name: &Written| {
            let hint = || did_you_mean(&name.text, known().map(|state| state.name.as_str()));
            let found = known().find(|state| state.name == name.text).cloned();
            found.ok_or_else(|| name.error(format!("[states] has no state `{}`{}", name.text, hint())))
        };
        let turned: Vec<StateValue> = doc.states.iter().map(find).collect::<Result<_, _>>()?;
        let is_other = |state: &StateValue| !turned.contains(state);
        self.states.failed.retain(is_other);
        self.states.cancelled.retain(is_other);
        // Known all the same: a retry may lead there.
        self.states.waiting.append(&mut self.states.in_flight);
        self.states.in_flight = turned;
        let is_own = doc.from.is_none();
        let claim = &mut self.claim;
        if let Some(from) = doc.from {
            (claim.table, claim.from, claim.lock, claim.key) = (None, from, None, doc.key);
            (claim.queue, claim.kind, claim.payload, claim.last_error, claim.guard) = (None, None, None, None, None);
            claim.precondition.clear();
            claim.liveness.clear();
            self.rules = Default::default();
            (self.owner, self.attempts) = (OwnerDoc::default(), AttemptsDoc::default());
        }
        for (own, of_interrupted) in [
            (&mut claim.state, doc.state),
            (&mut claim.queue, doc.queue),
            (&mut claim.kind, doc.kind),
            (&mut claim.payload, doc.payload),
            (&mut claim.last_error, doc.last_error),
        ] {
            *own = of_interrupted.or(own.take());
        }
        claim.precondition.extend(doc.precondition);
        (claim.filter, claim.claimed_at, claim.created_at) = (doc.filter, doc.since, None);
        claim.progress.clear();
        claim.veto = None;
        self.owner = doc.owner.unwrap_or(std::mem::take(&mut self.owner));
        let has_owners = self.owner.table.is_some();
        claim.liveness.retain(|source| match source {
            Liveness::Owner { .. } => has_owners,
            // One that is computed, or counted from the claim, is how long a run may take, and no sign of life.
            Liveness::Lease { column, plus } => plus.is_none() && !column.text.contains('.'),
            _ => false,
        });
        (self.rules.max_runtime, self.finished) = (None, None);
        (self.attempts.exhausted, self.attempts.stalls) = (Exhausted::Leave, doc.stalls);
        self.actions = doc.retry.into_iter().map(|retry| (Action::Requeue, retry)).collect();
        let waiting = std::mem::take(&mut self.waiting);
        // Where its row is a claim's own, a retry leads to what waits there.
        let is = waiting.is.filter(|_| is_own && waiting.from.is_none());
        self.waiting = WaitingDoc { tables: waiting.tables, is, ..WaitingDoc::default() };
        (self.skips, self.cautions) = (doc.skips, doc.cautions);
        self.places.clear();
        self.checks.clear();
        self.show.clear();
        Ok(())
    }
}

//! The views of a queue as its document has them: `[claim]` and what belongs to it, and what each other section lays
//! over that.

use super::{
    ActionDoc, AttemptsDoc, ClaimDoc, Document, FinishedDoc, InterruptedDoc, OwnerDoc, PlaceDoc, RulesDoc, WaitingDoc,
};
use crate::model::Action;
use crate::preset::SpecError;
use crate::preset::field::{Fragment, Written};
use crate::preset::queue::{Exhausted, Liveness, Skip, StateValue, Waits};
use crate::preset::template::{Piece, Template};

/// What a document says of the jobs of a queue that are seen in one way.
#[derive(Debug, Clone, Default)]
pub(crate) struct ViewDoc {
    /// The states that they are in.
    pub(crate) states: Vec<StateValue>,
    pub(crate) claim: ClaimDoc,
    pub(crate) owner: OwnerDoc,
    pub(crate) attempts: AttemptsDoc,
    pub(crate) rules: RulesDoc,
    pub(crate) finished: Option<FinishedDoc>,
    pub(crate) actions: Vec<(Action, ActionDoc)>,
    /// Where and how a row waits, where no state says it.
    pub(crate) waiting: WaitingDoc,
    pub(crate) skips: Vec<(String, Skip<Fragment>)>,
    pub(crate) cautions: Vec<(String, String)>,
    pub(crate) show: Vec<(String, Written)>,
    /// True for rows of which nothing is judged.
    pub(crate) is_only_looked_at: bool,
}

impl Document {
    /// The jobs in flight.
    pub(crate) fn claims(&self) -> ViewDoc {
        ViewDoc {
            states: self.states.in_flight.clone(),
            claim: self.claim.clone(),
            owner: self.owner.clone(),
            attempts: self.attempts.clone(),
            rules: self.rules.clone(),
            finished: self.finished.clone(),
            actions: self.actions.clone(),
            waiting: self.waiting.clone(),
            skips: self.skips.clone(),
            cautions: self.cautions.clone(),
            show: self.show.clone(),
            is_only_looked_at: false,
        }
    }

    /// Jobs that wait in one state. No worker holds them, so no age of a claim counts; what else shows life is asked: a
    /// worker may hold a job before it says so.
    pub(crate) fn waited(&self, waits: &Waits) -> Result<ViewDoc, SpecError> {
        let states = vec![self.states.waiting_named(&waits.state)?];
        let mut view = ViewDoc { states, ..self.claims() };
        view.claim.claimed_at = Some(waits.since.clone());
        view.claim.liveness.retain(|source| !matches!(source, Liveness::Age { .. }));
        view.claim.progress.clear();
        (view.claim.veto, view.finished) = (None, None);
        view.rules = RulesDoc::default();
        // A job that never ran has used up nothing.
        (view.attempts.exhausted, view.attempts.stalls) = (Exhausted::Leave, None);
        view.actions.clone_from(&self.waiting.actions);
        view.cautions.clear();
        Ok(view)
    }

    /// The jobs that the library failed because their worker died. Of what shows life the owner's own row is left, and a
    /// lease that is renewed; of the rules what asks for an end.
    pub(crate) fn interrupted(&self) -> Result<ViewDoc, SpecError> {
        let InterruptedDoc { never, states, from, key, filter, since, owner, stalls, retry, skips, cautions, .. } =
            self.interrupted.clone();
        if since.is_none() {
            let why = never.map_or_else(|| "it has no [interrupted]".to_owned(), |never| format!("never: {never}"));
            return Err(SpecError::whole(&format!("interrupted jobs of preset {}", self.name), why));
        }
        let mut view = self.claims();
        view.states = states.iter().map(|name| self.states.named(name)).collect::<Result<_, _>>()?;
        let is = view.waiting.is.take().filter(|_| from.is_none() && view.waiting.from.is_none());
        // Where its row is a claim's own, a retry leads to what waits there.
        view.waiting = WaitingDoc { is, ..WaitingDoc::default() };
        if let Some(from) = from {
            (view.owner, view.attempts, view.rules) = Default::default();
            view.claim =
                ClaimDoc { from, key, state: view.claim.state, optional: view.claim.optional, ..ClaimDoc::default() };
        }
        let (claim, doc) = (&mut view.claim, &self.interrupted);
        for (own, of_interrupted) in [
            (&mut claim.state, &doc.state),
            (&mut claim.queue, &doc.queue),
            (&mut claim.kind, &doc.kind),
            (&mut claim.payload, &doc.payload),
            (&mut claim.last_error, &doc.last_error),
        ] {
            *own = of_interrupted.clone().or(own.take());
        }
        claim.precondition.extend(doc.precondition.iter().cloned());
        (claim.filter, claim.claimed_at, claim.created_at) = (filter, since, None);
        claim.progress.clear();
        claim.veto = None;
        view.owner = owner.unwrap_or(view.owner);
        let has_owners = view.owner.table.is_some();
        claim.liveness.retain(|source| match source {
            Liveness::Owner { .. } => has_owners,
            // One that is computed, or counted from the claim, is how long a run may take, and no sign of life.
            Liveness::Lease { column, plus } => plus.is_none() && !column.text.contains('.'),
            _ => false,
        });
        (view.rules.max_runtime, view.finished) = (None, None);
        (view.attempts.exhausted, view.attempts.stalls) = (Exhausted::Leave, stalls);
        view.actions = retry.into_iter().map(|retry| (Action::Requeue, retry)).collect();
        (view.skips, view.cautions) = (skips, cautions);
        view.show.clear();
        Ok(view)
    }

    /// The jobs of `[waiting]` or `[waiting.staged]` in these states, in their own table, or in rows of the claims' own one,
    /// which is given by its logical name.
    pub(crate) fn due(&self, doc: &WaitingDoc, own: &str, states: Vec<StateValue>) -> ViewDoc {
        let alias = self.claim.lock.clone().map_or_else(|| self.row().1, |lock| lock.text);
        let from = doc.from.clone().unwrap_or_else(|| {
            let sql = Template(vec![Piece::Name(own.to_owned()), Piece::Text(format!(" AS {alias}"))]);
            Fragment { written: Written::default(), sql }
        });
        let is_own = from.sql.names().next().is_some_and(|table| table == own);
        let mut view = self.looked_at(from, &doc.key);
        let claim = &mut view.claim;
        if doc.from.is_none() {
            claim.table = Some(Written { text: own.to_owned(), ..Written::default() });
        }
        claim.state = if is_own { self.claim.state.clone() } else { Some(Written::place("")) };
        (claim.claimed_at, claim.queue) = (doc.since.clone(), doc.queue.clone());
        view.rules.deadline.clone_from(&doc.due);
        view.show = doc.held.iter().map(|held| (String::new(), held.clone())).collect();
        ViewDoc { states, ..view }
    }

    /// The jobs that stand in a table of their own; what holds them there, or how they ended, is shown.
    pub(crate) fn place(&self, name: &str, doc: &PlaceDoc) -> ViewDoc {
        let mut view = self.looked_at(doc.from.clone(), &doc.key);
        let claim = &mut view.claim;
        claim.state = Some(Written::place(name));
        (claim.filter, claim.claimed_at) = (doc.filter.clone(), doc.since.clone());
        (claim.queue, claim.kind) = (doc.queue.clone(), doc.kind.clone());
        view.show = doc.held.iter().chain(&doc.says).take(1).map(|says| (String::new(), says.clone())).collect();
        view
    }

    /// Rows of which nothing is judged.
    fn looked_at(&self, from: Fragment, key: &[Written]) -> ViewDoc {
        let optional = self.claim.optional.clone();
        let claim = ClaimDoc { from, key: key.to_vec(), optional, ..ClaimDoc::default() };
        ViewDoc { claim, is_only_looked_at: true, ..ViewDoc::default() }
    }
}

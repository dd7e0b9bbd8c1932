//! What may be done to a job: `[action]` and `[waiting.action]`.

use crate::model::{Action, AttemptsChange};
use crate::preset::WrittenAt;
use crate::preset::field::{Fragment, Written, complete_when_read, named};
use crate::preset::queue::Rows;
use crate::preset::template::{Marker, Piece, Template};
use serde::de::{Deserialize, Deserializer, Error};

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct ActionDoc {
    pub(crate) to: Option<Written>,
    pub(crate) refused: Option<String>,
    /// What it does to the attempts counter, over the rule that `counted` implies.
    #[serde(deserialize_with = "attempts_change")]
    pub(crate) attempts: Option<AttemptsChange>,
    #[serde(rename = "step")]
    pub(crate) steps: Vec<StepDoc>,
    clear: Vec<Written>,
    stamp: Vec<Written>,
    #[serde(deserialize_with = "named")]
    set: Vec<(String, Fragment)>,
    pub(crate) delayed: Option<DelayedDoc>,
    /// The action on a job whose requeue a unique key refuses: none, or `fail`.
    pub(crate) if_refused: Option<Action>,
    #[serde(rename = "(place)")]
    pub(crate) at: WrittenAt,
}

/// A statement, where it has `sql`; else assignments to the claim's row: NULL, the time, and other values.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct StepDoc {
    pub(crate) sql: Option<Fragment>,
    pub(crate) rows: Option<Rows>,
    clear: Vec<Written>,
    stamp: Vec<Written>,
    #[serde(deserialize_with = "named")]
    pub(crate) set: Vec<(String, Fragment)>,
}

/// What a requeue does otherwise where the operator asks for a delay.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct DelayedDoc {
    pub(crate) refused: Option<String>,
    pub(crate) to: Option<Written>,
    /// Assignments besides those of the action, or in their place.
    #[serde(deserialize_with = "named")]
    pub(crate) set: Vec<(String, Fragment)>,
}

complete_when_read!(ActionDoc, StepDoc, DelayedDoc);

/// Reads `[action]` or `[waiting.action]`: what is done for each action, or why there is none.
pub(super) fn actions<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(Action, ActionDoc)>, D::Error> {
    #[derive(serde::Deserialize)]
    struct Actions {
        refused: Option<String>,
        requeue: Option<ActionDoc>,
        fail: Option<ActionDoc>,
        cancel: Option<ActionDoc>,
        time_out: Option<ActionDoc>,
    }

    let read = Actions::deserialize(from)?;
    let written = [
        (Action::Requeue, read.requeue),
        (Action::Fail, read.fail),
        (Action::Cancel, read.cancel),
        (Action::TimeOut, read.time_out),
    ];
    let actions: Vec<_> = written.into_iter().filter_map(|(action, doc)| Some((action, doc?))).collect();
    if let Some(refused) = read.refused {
        if !actions.is_empty() {
            return Err(D::Error::custom("is either `refused` or says what is done"));
        }
        let none = || ActionDoc { refused: Some(refused.clone()), ..ActionDoc::default() };
        return Ok([Action::Requeue, Action::Fail, Action::Cancel].map(|action| (action, none())).to_vec());
    }
    let fails = |(_, doc): &(Action, ActionDoc)| doc.if_refused.is_some();
    if actions.iter().any(|one| fails(one) && one.0 != Action::Requeue) {
        return Err(D::Error::custom("`if_refused` is about a requeue"));
    }
    let can_fail = actions.iter().any(|(action, doc)| *action == Action::Fail && doc.refused.is_none());
    if !can_fail && actions.iter().any(fails) {
        return Err(D::Error::custom("`if_refused` needs an action `fail`"));
    }
    Ok(actions)
}

fn attempts_change<'de, D: Deserializer<'de>>(from: D) -> Result<Option<AttemptsChange>, D::Error> {
    let word = String::deserialize(from)?;
    Ok(Some(match word.as_str() {
        "keep" => AttemptsChange::Keep,
        "+1" => AttemptsChange::Add(1),
        "-1" => AttemptsChange::Add(-1),
        "zero" => AttemptsChange::Zero,
        "max" => AttemptsChange::ToMax,
        _ => return Err(D::Error::unknown_variant(&word, &["keep", "+1", "-1", "zero", "max"])),
    }))
}

impl ActionDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        let [clear, stamp] = [&mut self.clear, &mut self.stamp].map(std::mem::take);
        let mut update = StepDoc { clear, stamp, set: std::mem::take(&mut self.set), ..StepDoc::default() };
        update.complete()?;
        match (&self.refused, self.steps.is_empty(), update.set.is_empty()) {
            (None, true, _) => self.steps.push(update),
            (_, _, true) => {}
            _ => return Err("takes `clear`, `stamp` and `set`, or `step`, or `refused`"),
        }
        match (&self.refused, &self.to, self.if_refused) {
            (None, None, _) => Err("`to` is missing: to which state does the job go?"),
            (_, _, None | Some(Action::Fail)) => Ok(()),
            _ => Err("`if_refused` must be \"fail\""),
        }
    }
}

impl StepDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        let null = Template(vec![Piece::Text("NULL".to_owned())]);
        let now = Template(vec![Piece::Marker(Marker::Now(None))]);
        let assigned = |list: &mut Vec<Written>, sql: Template| {
            let to = move |written: Written| (written.text.clone(), Fragment { written, sql: sql.clone() });
            std::mem::take(list).into_iter().map(to)
        };
        let assigned = assigned(&mut self.clear, null).chain(assigned(&mut self.stamp, now));
        self.set = assigned.chain(std::mem::take(&mut self.set)).collect();
        match (&self.sql, &self.rows) {
            (Some(_), None) => Err("`rows` is missing"),
            (Some(_), _) if !self.set.is_empty() => Err("takes `sql`, or `clear`, `stamp` and `set`"),
            (None, Some(_)) => Err("`rows` belongs to `sql`"),
            _ => Ok(()),
        }
    }
}

impl DelayedDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        match (&self.refused, self.to.is_some() || !self.set.is_empty()) {
            (Some(_), true) => Err("is either `refused` or says what is done"),
            (None, false) => Err("says nothing: it takes `to` and `set`, or `refused`"),
            _ => Ok(()),
        }
    }
}

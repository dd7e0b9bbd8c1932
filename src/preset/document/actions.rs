//! What may be done to a job, what stands in its way, and how workers are woken: `[action]`, `[waiting]`, `[skip]`,
//! `[check]` and `[notify]`.

use crate::model::{Action, AttemptsChange};
use crate::preset::fields::{Field, Fields, Fragment, Read, Word, Written};
use crate::preset::queue::Rows;
use crate::preset::{SpecError, WrittenAt};

#[derive(Debug, Clone, Default)]
pub(crate) struct ActionDoc {
    pub(crate) to: Option<Written>,
    pub(crate) refused: Option<String>,
    /// What it does to the attempts counter, over the rule that `counted` implies.
    pub(crate) attempts: Option<AttemptsChange>,
    pub(crate) steps: Vec<StepDoc>,
    pub(crate) delayed: Option<DelayedDoc>,
    /// Whether a job is failed whose requeue a unique key refuses: `if_refused = "fail"`.
    pub(crate) fails_refused: bool,
    pub(crate) at: WrittenAt,
}

#[derive(Debug, Clone)]
pub(crate) enum StepDoc {
    Update { clear: Vec<Written>, stamp: Vec<Written>, set: Vec<(String, Fragment)> },
    Sql { sql: Fragment, rows: Rows },
}

/// What a requeue does otherwise where the operator asks for a delay.
#[derive(Debug, Clone)]
pub(crate) struct DelayedDoc {
    /// Why there is no delay, if so.
    pub(crate) refused: Option<String>,
    /// The state the job comes to instead.
    pub(crate) to: Option<Written>,
    /// Assignments besides those of the action, or in their place.
    pub(crate) set: Vec<(String, Fragment)>,
}

#[derive(Debug, Clone)]
pub(crate) struct SkipDoc {
    pub(crate) condition: Fragment,
    pub(crate) actions: Vec<Action>,
    pub(crate) reason: String,
}

/// Jobs that never run although no worker holds them, which `check` counts.
#[derive(Debug, Clone)]
pub(crate) struct CheckDoc {
    pub(crate) sql: Fragment,
    pub(crate) finds: String,
    pub(crate) remedy: String,
}

#[derive(Debug, Clone)]
pub(crate) struct NotifyDoc {
    pub(crate) wake_up: WakeUpDoc,
}

#[derive(Debug, Clone)]
pub(crate) enum WakeUpDoc {
    Channel { channel: Fragment, payload: Fragment },
    Sql(Fragment),
}

/// The actions that a preset writes out, by their keys. A wake-up is the preset's `[notify]`.
const WRITTEN: [Action; 4] = [Action::Requeue, Action::Fail, Action::Cancel, Action::TimeOut];

impl ActionDoc {
    pub(super) fn all(field: Field<'_>) -> Result<Vec<(Action, ActionDoc)>, SpecError> {
        let mut fields = field.table()?;
        if let Some(refused) = fields.text("refused")? {
            fields.finish()?;
            let none = || ActionDoc { refused: Some(refused.clone()), ..ActionDoc::default() };
            return Ok([Action::Requeue, Action::Fail, Action::Cancel].map(|action| (action, none())).to_vec());
        }
        let mut actions = Vec::new();
        for action in WRITTEN {
            let doc: Option<ActionDoc> = fields.get(action.name())?;
            if doc.as_ref().is_some_and(|doc| doc.fails_refused && action != Action::Requeue) {
                return Err(fields.error("`if_refused` is about a requeue"));
            }
            actions.extend(doc.map(|doc| (action, doc)));
        }
        let can_fail = actions.iter().any(|(action, doc)| *action == Action::Fail && doc.refused.is_none());
        if !can_fail && actions.iter().any(|(_, doc)| doc.fails_refused) {
            return Err(fields.error("`if_refused` needs an action `fail`"));
        }
        fields.finish()?;
        Ok(actions)
    }

    /// Reads `[waiting]`: a job that never ran has lost no attempt.
    pub(super) fn all_of_waiting(field: Field<'_>) -> Result<Vec<(Action, ActionDoc)>, SpecError> {
        let mut actions = ActionDoc::all(field)?;
        for (_, action) in &mut actions {
            action.attempts.get_or_insert(AttemptsChange::Keep);
        }
        Ok(actions)
    }
}

impl Read for ActionDoc {
    fn read(field: Field<'_>) -> Result<ActionDoc, SpecError> {
        let mut fields = field.table()?;
        let at = fields.at();
        let refused = fields.text("refused")?;
        let to = state(&mut fields)?;
        let attempts = fields.get("attempts")?;
        let steps = match fields.take("step") {
            Some(field) => field.items()?.into_iter().map(StepDoc::read).collect::<Result<_, _>>()?,
            None if refused.is_some() => Vec::new(),
            None => vec![update(&mut fields)?],
        };
        let delayed = fields.get("delayed")?;
        let fails_refused = fields.take("if_refused").map(|field| field.word(&[("fail", ())])).transpose()?.is_some();
        if refused.is_none() && to.is_none() {
            return Err(fields.error("`to` is missing: which state does the job come to?"));
        }
        fields.why()?;
        fields.finish()?;
        Ok(ActionDoc { to, refused, attempts, steps, delayed, fails_refused, at })
    }
}

impl Word for AttemptsChange {
    const WORDS: &'static [(&'static str, AttemptsChange)] = &[
        ("keep", AttemptsChange::Keep),
        ("+1", AttemptsChange::Add(1)),
        ("-1", AttemptsChange::Add(-1)),
        ("zero", AttemptsChange::Zero),
        ("max", AttemptsChange::ToMax),
    ];
}

fn update(fields: &mut Fields<'_>) -> Result<StepDoc, SpecError> {
    let (clear, stamp) = (fields.get_or_default("clear")?, fields.get_or_default("stamp")?);
    Ok(StepDoc::Update { clear, stamp, set: assignments(fields)? })
}

/// `to`: the name of a state, which may be a number or a truth value.
fn state(fields: &mut Fields<'_>) -> Result<Option<Written>, SpecError> {
    fields.take("to").map(|field| field.spelled().written()).transpose()
}

/// `set`: columns and the SQL of their values, where numbers and truth values stand for themselves.
fn assignments(fields: &mut Fields<'_>) -> Result<Vec<(String, Fragment)>, SpecError> {
    let Some(field) = fields.take("set") else { return Ok(Vec::new()) };
    let assignment = |(column, field): (String, Field<'_>)| Ok((column, Fragment::read(field.spelled())?));
    field.table()?.rest().into_iter().map(assignment).collect()
}

impl Read for StepDoc {
    fn read(field: Field<'_>) -> Result<StepDoc, SpecError> {
        let mut fields = field.table()?;
        let step = match fields.get("sql")? {
            Some(sql) => StepDoc::Sql { sql, rows: fields.must("rows")? },
            None => update(&mut fields)?,
        };
        fields.finish()?;
        Ok(step)
    }
}

impl Word for Rows {
    const WORDS: &'static [(&'static str, Rows)] =
        &[("each", Rows::Each), ("at most each", Rows::AtMostEach), ("any", Rows::Any)];
}

impl Read for DelayedDoc {
    fn read(field: Field<'_>) -> Result<DelayedDoc, SpecError> {
        let mut fields = field.table()?;
        let (refused, to, set) = (fields.text("refused")?, state(&mut fields)?, assignments(&mut fields)?);
        let delayed = DelayedDoc { refused, to, set };
        fields.why()?;
        match (&delayed.refused, delayed.to.is_some() || !delayed.set.is_empty()) {
            (Some(_), true) => return Err(fields.error("is either `refused` or says what is done")),
            (None, false) => return Err(fields.error("says nothing: it takes `to` and `set`, or `refused`")),
            _ => {}
        }
        fields.finish()?;
        Ok(delayed)
    }
}

impl Read for SkipDoc {
    fn read(field: Field<'_>) -> Result<SkipDoc, SpecError> {
        let mut fields = field.table()?;
        let condition = fields.must("if")?;
        let actions = fields.get("actions")?.unwrap_or_else(|| Action::ALL.to_vec());
        let skip = SkipDoc { condition, actions, reason: fields.must("reason")? };
        fields.why()?;
        fields.finish()?;
        Ok(skip)
    }
}

impl Read for CheckDoc {
    fn read(field: Field<'_>) -> Result<CheckDoc, SpecError> {
        let mut fields = field.table()?;
        let check = CheckDoc { sql: fields.must("sql")?, finds: fields.must("finds")?, remedy: fields.must("remedy")? };
        fields.why()?;
        fields.finish()?;
        Ok(check)
    }
}

impl Read for NotifyDoc {
    fn read(field: Field<'_>) -> Result<NotifyDoc, SpecError> {
        let mut fields = field.table()?;
        let wake_up = match (fields.get("channel")?, fields.get("payload")?, fields.get::<Fragment>("sql")?) {
            (Some(channel), Some(payload), None) => WakeUpDoc::Channel { channel, payload },
            (None, None, Some(sql)) => {
                // A database explains no NOTIFY, so that `check` could not vouch for it.
                if sql.written.text.trim_start().to_uppercase().starts_with("NOTIFY") {
                    let message = "must be a query: write NOTIFY as `SELECT pg_notify('channel', 'payload')`";
                    return Err(sql.written.error(message));
                }
                WakeUpDoc::Sql(sql)
            }
            _ => return Err(fields.error("needs `channel` and `payload`, or `sql`")),
        };
        fields.why()?;
        fields.finish()?;
        Ok(NotifyDoc { wake_up })
    }
}

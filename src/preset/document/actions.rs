use super::delayed::{DelayedDoc, delayed};
use super::template;
use crate::model::Action;
use crate::preset::fields::{Field, Fields, Written};
use crate::preset::queue::Rows;
use crate::preset::template::Template;
use crate::preset::{SpecError, WrittenAt};

#[derive(Debug, Clone, Default)]
pub(in crate::preset) struct ActionDoc {
    pub(in crate::preset) to: Option<Written>,
    pub(in crate::preset) refused: Option<String>,
    pub(in crate::preset) attempts: Option<AttemptsWord>,
    pub(in crate::preset) steps: Vec<StepDoc>,
    /// What is otherwise where the job is to run later.
    pub(in crate::preset) delayed: Option<DelayedDoc>,
    /// Where the action stands.
    pub(in crate::preset) at: WrittenAt,
}

/// What an action says of the attempts counter, over the rule that `counted` implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::preset) enum AttemptsWord {
    Keep,
    Add(i64),
    Zero,
    Max,
}

#[derive(Debug, Clone)]
pub(in crate::preset) enum StepDoc {
    Update { clear: Vec<Written>, stamp: Vec<Written>, set: Vec<(String, Written, Template)> },
    Sql { sql: Template, written: Written, rows: Rows, does: Option<String> },
}

#[derive(Debug, Clone)]
pub(in crate::preset) struct SkipDoc {
    pub(in crate::preset) name: String,
    pub(in crate::preset) condition: (Written, Template),
    pub(in crate::preset) actions: Vec<Action>,
    pub(in crate::preset) reason: String,
}

#[derive(Debug, Clone)]
pub(in crate::preset) enum NotifyDoc {
    Channel { channel: (Written, Template), payload: (Written, Template) },
    Sql((Written, Template)),
}

/// The actions that a preset writes out, by their keys. A wake-up is the preset's `[notify]`.
const WRITTEN: [Action; 4] = [Action::Requeue, Action::Fail, Action::Cancel, Action::TimeOut];

pub(super) fn actions(mut fields: Fields<'_>) -> Result<Vec<(Action, ActionDoc)>, SpecError> {
    if let Some(refused) = fields.text("refused")? {
        fields.finish()?;
        let none = || ActionDoc { refused: Some(refused.clone()), ..ActionDoc::default() };
        let actions = [Action::Requeue, Action::Fail, Action::Cancel];
        return Ok(actions.into_iter().map(|action| (action, none())).collect());
    }
    let mut actions = Vec::new();
    for action in WRITTEN {
        if let Some(field) = fields.take(action.name()) {
            actions.push((action, action_named(field.table()?)?));
        }
    }
    fields.finish()?;
    Ok(actions)
}

fn action_named(mut fields: Fields<'_>) -> Result<ActionDoc, SpecError> {
    let at = fields.at();
    let refused = fields.text("refused")?;
    let to = fields.take("to").map(Field::written).transpose()?;
    let attempts = fields
        .take("attempts")
        .map(|field| {
            field.word(&[
                ("keep", AttemptsWord::Keep),
                ("+1", AttemptsWord::Add(1)),
                ("-1", AttemptsWord::Add(-1)),
                ("zero", AttemptsWord::Zero),
                ("max", AttemptsWord::Max),
            ])
        })
        .transpose()?;
    let steps = match fields.take("step") {
        Some(field) => field.items()?.into_iter().map(|item| step(item.table()?)).collect::<Result<Vec<_>, _>>()?,
        None if refused.is_some() => Vec::new(),
        None => vec![update(&mut fields)?],
    };
    let delayed = fields.take("delayed").map(|field| delayed(field.table()?)).transpose()?;
    if refused.is_none() && to.is_none() {
        return Err(fields.error("`to` is missing: which state does the job come to?"));
    }
    fields.finish()?;
    Ok(ActionDoc { to, refused, attempts, steps, delayed, at })
}

fn update(fields: &mut Fields<'_>) -> Result<StepDoc, SpecError> {
    let list = |field: Option<Field<'_>>| field.map(Field::all_written).transpose().map(Option::unwrap_or_default);
    Ok(StepDoc::Update {
        clear: list(fields.take("clear"))?,
        stamp: list(fields.take("stamp"))?,
        set: match fields.take("set") {
            Some(field) => field
                .table()?
                .rest()
                .into_iter()
                .map(|(column, field)| {
                    let (written, value) = template(field)?;
                    Ok((column, written, value))
                })
                .collect::<Result<_, SpecError>>()?,
            None => Vec::new(),
        },
    })
}

fn step(mut fields: Fields<'_>) -> Result<StepDoc, SpecError> {
    let step = match fields.take("sql") {
        Some(field) => {
            let (written, sql) = template(field)?;
            let rows = fields.need("rows")?.word(&[
                ("each", Rows::Each),
                ("at most each", Rows::AtMostEach),
                ("any", Rows::Any),
            ])?;
            StepDoc::Sql { sql, written, rows, does: fields.text("does")? }
        }
        None => update(&mut fields)?,
    };
    fields.finish()?;
    Ok(step)
}

pub(super) fn skip(name: String, mut fields: Fields<'_>) -> Result<SkipDoc, SpecError> {
    let words: Vec<(&str, Action)> = Action::ALL.iter().map(|action| (action.name(), *action)).collect();
    let skip = SkipDoc {
        name,
        condition: template(fields.need("if")?)?,
        actions: match fields.take("actions") {
            Some(field) => field.items()?.into_iter().map(|item| item.word(&words)).collect::<Result<_, _>>()?,
            None => Action::ALL.to_vec(),
        },
        reason: fields.need("reason")?.text()?,
    };
    fields.finish()?;
    Ok(skip)
}

pub(super) fn notify(_: String, mut fields: Fields<'_>) -> Result<NotifyDoc, SpecError> {
    let notify = match (fields.take("channel"), fields.take("payload"), fields.take("sql")) {
        (Some(channel), Some(payload), None) => {
            NotifyDoc::Channel { channel: template(channel)?, payload: template(payload)? }
        }
        (None, None, Some(sql)) => {
            let (written, sql) = template(sql)?;
            // A database explains no NOTIFY, so that `check` could not vouch for it.
            if written.text.trim_start().to_uppercase().starts_with("NOTIFY") {
                return Err(written.error("must be a query: write NOTIFY as `SELECT pg_notify('channel', 'payload')`"));
            }
            NotifyDoc::Sql((written, sql))
        }
        _ => return Err(fields.error("needs `channel` and `payload`, or `sql`")),
    };
    fields.finish()?;
    Ok(notify)
}

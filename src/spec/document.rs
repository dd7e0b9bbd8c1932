//! A preset or mapping as its author wrote it, for one engine and one set of variants: typed, but not yet held against the
//! live tables. The reference for every key is `docs` in the README's chapter on presets.

use super::SpecError;
use super::encoding::{Encoding, Encodings};
use super::fields::{Field, Fields, Written};
use super::node::{Node, Value};
use super::queue::{Absence, Counted, Exhausted, LateFinish, MaxCounts, Proof, Rows, StateValue, States};
use super::template::Template;
use crate::model::{Cell, Move, parse_duration};
use std::collections::BTreeMap;
use std::time::Duration;

/// See the module.
#[derive(Debug, Clone)]
pub struct Document {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) checked: Vec<String>,
    pub(super) proof: Proof,
    pub(super) late_finish: LateFinish,
    pub(super) schema: Option<String>,
    pub(super) tables: Vec<(String, String)>,
    pub(super) time: Times,
    pub(super) states: States,
    pub(super) claim: ClaimDoc,
    pub(super) owner: OwnerDoc,
    pub(super) attempts: AttemptsDoc,
    pub(super) rules: RulesDoc,
    pub(super) sql: BTreeMap<String, Template>,
    pub(super) moves: Vec<(Move, MoveDoc)>,
    pub(super) holds: Vec<HoldDoc>,
    pub(super) notify: Vec<NotifyDoc>,
    pub(super) cautions: Vec<String>,
    pub(super) show: Vec<(String, Written)>,
}

/// How time columns are spelled: `[time]`.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    pub(super) default: Option<Encodings>,
    pub(super) columns: BTreeMap<String, Encodings>,
    /// Stored values that stand for "no value", by column.
    pub(super) sentinels: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone)]
pub(super) struct ClaimDoc {
    pub(super) from: ClaimFrom,
    pub(super) lock: Option<Written>,
    pub(super) key: Vec<Written>,
    pub(super) state: Option<Written>,
    pub(super) filter: Option<(Written, Template)>,
    pub(super) queue: Option<Written>,
    pub(super) kind: Option<Written>,
    pub(super) claimed_at: Option<Written>,
    pub(super) fence: Vec<Written>,
    pub(super) optional: Vec<String>,
    pub(super) liveness: Vec<LivenessDoc>,
}

#[derive(Debug, Clone)]
pub(super) enum ClaimFrom {
    Table(Written),
    From(Written, Template),
}

#[derive(Debug, Clone)]
pub(super) struct LivenessDoc {
    pub(super) by: By,
    pub(super) column: Option<Written>,
    pub(super) plus: Option<Written>,
    pub(super) silent_after: Option<SilentAfterDoc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Lease,
    Heartbeat,
    Age,
    Owner,
}

#[derive(Debug, Clone)]
pub(super) enum SilentAfterDoc {
    Span(Duration),
    Column(Written),
    Required,
}

#[derive(Debug, Clone, Default)]
pub(super) struct OwnerDoc {
    pub(super) id: Option<Written>,
    pub(super) name: Option<Written>,
    pub(super) host: Option<Written>,
    pub(super) table: Option<Written>,
    pub(super) matches: Vec<(String, Written)>,
    pub(super) on: Option<Template>,
    pub(super) key: Option<Written>,
    pub(super) heartbeat: Option<Written>,
    pub(super) started: Option<Written>,
    pub(super) missing: Absence,
    pub(super) unset: Absence,
}

#[derive(Debug, Clone)]
pub(super) struct AttemptsDoc {
    pub(super) column: Option<Written>,
    pub(super) max: Option<MaxDoc>,
    pub(super) counted: Counted,
    pub(super) exhausted: Exhausted,
    pub(super) max_counts: MaxCounts,
}

#[derive(Debug, Clone)]
pub(super) enum MaxDoc {
    Number(i64),
    Column(Written),
}

#[derive(Debug, Clone, Default)]
pub(super) struct RulesDoc {
    pub(super) deadline: Option<Written>,
    pub(super) cancel_requested: Option<Written>,
    pub(super) max_runtime: Option<MaxRuntimeDoc>,
}

#[derive(Debug, Clone)]
pub(super) enum MaxRuntimeDoc {
    Span(Duration),
    Column(Written),
}

#[derive(Debug, Clone, Default)]
pub(super) struct MoveDoc {
    pub(super) to: Option<Written>,
    pub(super) refused: Option<String>,
    pub(super) attempts: Option<AttemptsWord>,
    pub(super) steps: Vec<StepDoc>,
}

/// What a move says of the attempts counter, over the rule that `counted` implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptsWord {
    Keep,
    Add(i64),
    Zero,
}

#[derive(Debug, Clone)]
pub(super) enum StepDoc {
    Update { clear: Vec<Written>, stamp: Vec<Written>, set: Vec<(String, Written)> },
    Sql { sql: Template, written: Written, rows: Rows },
}

#[derive(Debug, Clone)]
pub(super) struct HoldDoc {
    pub(super) name: String,
    pub(super) condition: (Written, Template),
    pub(super) moves: Vec<Move>,
    pub(super) reason: String,
}

#[derive(Debug, Clone)]
pub(super) enum NotifyDoc {
    Channel { channel: (Written, Template), payload: (Written, Template) },
    Sql((Written, Template)),
}

const ABSENCES: [(&str, Absence); 3] =
    [("dead", Absence::Dead), ("next", Absence::Next), ("unknown", Absence::Unknown)];

impl Document {
    /// Types a document whose engine leaves are picked and whose variants are laid over it.
    ///
    /// # Errors
    /// Unknown keys, wrong kinds of values, fragments that cannot be read; with key and line.
    pub(super) fn of(document: &str, name: &str, node: Node) -> Result<Document, SpecError> {
        let mut root = Fields::of(document, "", node)?;
        for key in ["format", "engines", "detect", "variant"] {
            // Read before the engine and the variants were known.
            root.take(key);
        }
        let claim = claim(root.need("claim")?.table()?)?;
        let mut tables = match root.take("tables") {
            Some(field) => field.text_table()?,
            None => Vec::new(),
        };
        if let ClaimFrom::Table(table) = &claim.from
            && !tables.iter().any(|(logical, _)| *logical == table.text)
        {
            tables.push((table.text.clone(), table.text.clone()));
        }
        let owner = root.take("owner").map(|field| owner(field.table()?)).transpose()?.unwrap_or_default();
        if let Some(table) = &owner.table
            && !tables.iter().any(|(logical, _)| *logical == table.text)
        {
            tables.push((table.text.clone(), table.text.clone()));
        }
        let document = Document {
            name: root.text("name")?.unwrap_or_else(|| name.to_owned()),
            title: root.text("title")?.unwrap_or_else(|| format!("the mapping {name}")),
            checked: root.texts("checked")?,
            proof: root
                .take("proof")
                .map(|field| field.word(&[("live", Proof::Live), ("schema", Proof::Schema), ("facts", Proof::Facts)]))
                .transpose()?
                .unwrap_or(Proof::Facts),
            late_finish: root.take("late_finish").map(late_finish).transpose()?.unwrap_or(LateFinish::Unknown),
            schema: root.text("schema")?,
            tables,
            time: root.take("time").map(|field| times(field.table()?)).transpose()?.unwrap_or_default(),
            states: root.take("states").map(|field| states(field.table()?)).transpose()?.unwrap_or_default(),
            claim,
            owner,
            attempts: match root.take("attempts") {
                Some(field) => attempts(field.table()?)?,
                None => AttemptsDoc {
                    column: None,
                    max: None,
                    counted: Counted::NotInTheTable,
                    exhausted: Exhausted::Leave,
                    max_counts: MaxCounts::Runs,
                },
            },
            rules: root.take("rules").map(|field| rules(field.table()?)).transpose()?.unwrap_or_default(),
            sql: fragments(root.take("sql"))?,
            moves: root.take("move").map(|field| moves(field.table()?)).transpose()?.unwrap_or_default(),
            holds: named(root.take("hold"), hold)?,
            notify: named(root.take("notify"), notify)?,
            cautions: match root.take("caution") {
                Some(field) => field.text_table()?.into_iter().map(|(_, text)| text).collect(),
                None => Vec::new(),
            },
            show: match root.take("show") {
                Some(field) => field
                    .table()?
                    .rest()
                    .into_iter()
                    .map(|(name, field)| Ok((name, field.written()?)))
                    .collect::<Result<_, SpecError>>()?,
                None => Vec::new(),
            },
        };
        root.finish()?;
        Ok(document)
    }
}

fn late_finish(field: Field<'_>) -> Result<LateFinish, SpecError> {
    field.word(&[
        ("fenced", LateFinish::Fenced),
        ("by state", LateFinish::ByState),
        ("by id", LateFinish::ById),
        ("unknown", LateFinish::Unknown),
    ])
}

fn encodings(field: Field<'_>) -> Result<Encodings, SpecError> {
    let written = field.all_written()?;
    let mut parsed = Vec::new();
    for text in &written {
        parsed.push(Encoding::parse(&text.text).map_err(|why| text.error(why))?);
    }
    let mut parsed = parsed.into_iter();
    match parsed.next() {
        Some(first) => Ok(Encodings::new(first, parsed.collect())),
        None => Err(SpecError::whole("time", "an empty list of encodings")),
    }
}

fn times(mut fields: Fields<'_>) -> Result<Times, SpecError> {
    let default = fields.take("default").map(encodings).transpose()?;
    let mut sentinels = BTreeMap::new();
    if let Some(field) = fields.take("sentinels") {
        for (column, field) in field.table()?.rest() {
            let mut raws = Vec::new();
            for (raw, meaning) in field.table()?.rest() {
                meaning.word(&[("none", ())])?;
                raws.push(raw);
            }
            sentinels.insert(column, raws);
        }
    }
    let columns =
        fields.rest().into_iter().map(|(column, field)| Ok((column, encodings(field)?))).collect::<Result<_, _>>()?;
    Ok(Times { default, columns, sentinels })
}

fn states(mut fields: Fields<'_>) -> Result<States, SpecError> {
    let mut take = |key| fields.take(key).map(state_values).transpose().map(Option::unwrap_or_default);
    let states = States {
        waiting: take("waiting")?,
        in_flight: take("in_flight")?,
        done: take("done")?,
        failed: take("failed")?,
        cancelled: take("cancelled")?,
    };
    fields.finish()?;
    Ok(states)
}

fn state_values(field: Field<'_>) -> Result<Vec<StateValue>, SpecError> {
    if let Value::Table(_) = field.value() {
        let stored = |field: Field<'_>| match field.value() {
            Value::Text(text) => Ok(Cell::Text(text.clone())),
            Value::Integer(number) => Ok(Cell::Integer(*number)),
            _ => Err(field.error("must be the stored value: text or an integer")),
        };
        let entries = field.table()?.rest();
        return entries.into_iter().map(|(name, field)| Ok(StateValue { name, stored: stored(field)? })).collect();
    }
    Ok(field.texts()?.into_iter().map(|text| StateValue { name: text.clone(), stored: Cell::Text(text) }).collect())
}

fn template(field: Field<'_>) -> Result<(Written, Template), SpecError> {
    let written = field.written()?;
    let template = Template::parse(&written.text).map_err(|why| written.error(why.0))?;
    Ok((written, template))
}

fn claim(mut fields: Fields<'_>) -> Result<ClaimDoc, SpecError> {
    let from = match (fields.take("table"), fields.take("from")) {
        (Some(table), None) => ClaimFrom::Table(table.written()?),
        (None, Some(from)) => {
            let (written, template) = template(from)?;
            ClaimFrom::From(written, template)
        }
        _ => return Err(fields.error("needs either `table` or `from`, and not both")),
    };
    let written = |field: Option<Field<'_>>| field.map(Field::written).transpose();
    let claim = ClaimDoc {
        from,
        lock: written(fields.take("lock"))?,
        key: fields.need("key")?.all_written()?,
        state: written(fields.take("state"))?,
        filter: fields.take("where").map(template).transpose()?,
        queue: written(fields.take("queue"))?,
        kind: written(fields.take("kind"))?,
        claimed_at: written(fields.take("claimed_at"))?,
        fence: fields.take("fence").map(Field::all_written).transpose()?.unwrap_or_default(),
        optional: fields.texts("optional")?,
        liveness: match fields.take("liveness") {
            Some(field) => field.items()?.into_iter().map(|item| liveness(item.table()?)).collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
    };
    if claim.state.is_none() && claim.filter.is_none() {
        return Err(fields.error("needs `state` or `where`: what makes a row in flight?"));
    }
    fields.finish()?;
    Ok(claim)
}

fn liveness(mut fields: Fields<'_>) -> Result<LivenessDoc, SpecError> {
    let by = fields.need("by")?.word(&[
        ("lease", By::Lease),
        ("heartbeat", By::Heartbeat),
        ("age", By::Age),
        ("owner", By::Owner),
    ])?;
    let column = fields.take("column").map(Field::written).transpose()?;
    let plus = fields.take("plus").map(Field::written).transpose()?;
    let silent_after = fields.take("silent_after").map(silent_after).transpose()?;
    let wrong = match by {
        By::Owner if column.is_some() => Some("`owner` takes no `column`; its heartbeat stands in [owner]"),
        By::Lease if silent_after.is_some() => Some("a lease takes no `silent_after`: its end is the threshold"),
        By::Lease | By::Heartbeat | By::Age if column.is_none() => Some("`column` is missing"),
        By::Heartbeat | By::Age | By::Owner if plus.is_some() => Some("`plus` belongs to a lease"),
        By::Heartbeat | By::Age | By::Owner if silent_after.is_none() => Some("`silent_after` is missing"),
        _ => None,
    };
    if let Some(why) = wrong {
        return Err(fields.error(why));
    }
    fields.finish()?;
    Ok(LivenessDoc { by, column, plus, silent_after })
}

fn silent_after(field: Field<'_>) -> Result<SilentAfterDoc, SpecError> {
    let written = field.written()?;
    if written.text == "required" {
        return Ok(SilentAfterDoc::Required);
    }
    if super::template::is_name(&written.text.replace('.', "_")) && !written.text.starts_with(|c: char| c.is_numeric())
    {
        return Ok(SilentAfterDoc::Column(written));
    }
    parse_duration(&written.text).map(SilentAfterDoc::Span).map_err(|why| written.error(why))
}

fn owner(mut fields: Fields<'_>) -> Result<OwnerDoc, SpecError> {
    let written = |field: Option<Field<'_>>| field.map(Field::written).transpose();
    let owner = OwnerDoc {
        id: written(fields.take("id"))?,
        name: written(fields.take("name"))?,
        host: written(fields.take("host"))?,
        table: written(fields.take("table"))?,
        matches: match fields.take("match") {
            Some(field) => field
                .table()?
                .rest()
                .into_iter()
                .map(|(column, field)| Ok((column, field.written()?)))
                .collect::<Result<_, SpecError>>()?,
            None => Vec::new(),
        },
        on: fields.take("on").map(template).transpose()?.map(|(_, template)| template),
        key: written(fields.take("key"))?,
        heartbeat: written(fields.take("heartbeat"))?,
        started: written(fields.take("started"))?,
        missing: fields.take("missing").map(|field| field.word(&ABSENCES)).transpose()?.unwrap_or_default(),
        unset: fields.take("unset").map(|field| field.word(&ABSENCES)).transpose()?.unwrap_or_default(),
    };
    match (&owner.table, owner.matches.is_empty() && owner.on.is_none()) {
        (Some(_), true) => return Err(fields.error("an owners' `table` needs `match` or `on`")),
        (None, false) => return Err(fields.error("`match` and `on` need an owners' `table`")),
        (None, true) if owner.heartbeat.is_some() || owner.started.is_some() => {
            return Err(fields.error("`heartbeat` and `started` are columns of an owners' `table`"));
        }
        _ => {}
    }
    if owner.on.is_some() && owner.key.is_none() {
        return Err(fields.error("`on` needs `key`: a column of the owner's row that is never NULL"));
    }
    fields.finish()?;
    Ok(owner)
}

fn attempts(mut fields: Fields<'_>) -> Result<AttemptsDoc, SpecError> {
    let max = match fields.take("max") {
        None => None,
        Some(field) => match field.value() {
            Value::Integer(number) => Some(MaxDoc::Number(*number)),
            _ => Some(MaxDoc::Column(field.written()?)),
        },
    };
    let attempts = AttemptsDoc {
        column: fields.take("column").map(Field::written).transpose()?,
        max,
        counted: fields.need("counted")?.word(&[
            ("at claim", Counted::AtClaim),
            ("at next claim", Counted::AtNextClaim),
            ("at end", Counted::AtEnd),
            ("on error", Counted::OnError),
            ("at reclaim", Counted::AtReclaim),
            ("not in the table", Counted::NotInTheTable),
        ])?,
        exhausted: fields
            .take("exhausted")
            .map(|field| field.word(&[("fail", Exhausted::Fail), ("leave", Exhausted::Leave)]))
            .transpose()?
            .unwrap_or(Exhausted::Fail),
        max_counts: fields
            .take("max_counts")
            .map(|field| field.word(&[("runs", MaxCounts::Runs), ("retries", MaxCounts::Retries)]))
            .transpose()?
            .unwrap_or(MaxCounts::Runs),
    };
    fields.finish()?;
    Ok(attempts)
}

fn rules(mut fields: Fields<'_>) -> Result<RulesDoc, SpecError> {
    let max_runtime = match fields.take("max_runtime").map(Field::written).transpose()? {
        Some(written) => match parse_duration(&written.text) {
            Ok(span) => Some(MaxRuntimeDoc::Span(span)),
            Err(_) => Some(MaxRuntimeDoc::Column(written)),
        },
        None => None,
    };
    let rules = RulesDoc {
        deadline: fields.take("deadline").map(Field::written).transpose()?,
        cancel_requested: fields.take("cancel_requested").map(Field::written).transpose()?,
        max_runtime,
    };
    fields.finish()?;
    Ok(rules)
}

fn fragments(field: Option<Field<'_>>) -> Result<BTreeMap<String, Template>, SpecError> {
    let Some(field) = field else { return Ok(BTreeMap::new()) };
    field.table()?.rest().into_iter().map(|(name, field)| Ok((name, template(field)?.1))).collect()
}

fn named<T>(
    field: Option<Field<'_>>,
    read: impl Fn(String, Fields<'_>) -> Result<T, SpecError>,
) -> Result<Vec<T>, SpecError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    field.table()?.rest().into_iter().map(|(name, field)| read(name, field.table()?)).collect()
}

fn moves(mut fields: Fields<'_>) -> Result<Vec<(Move, MoveDoc)>, SpecError> {
    if let Some(refused) = fields.text("refused")? {
        fields.finish()?;
        let none = || MoveDoc { refused: Some(refused.clone()), ..MoveDoc::default() };
        return Ok(Move::ALL.into_iter().map(|r#move| (r#move, none())).collect());
    }
    let mut moves = Vec::new();
    for (r#move, key) in [(Move::Requeue, "requeue"), (Move::Fail, "fail"), (Move::Cancel, "cancel")] {
        if let Some(field) = fields.take(key) {
            moves.push((r#move, a_move(field.table()?)?));
        }
    }
    fields.finish()?;
    Ok(moves)
}

fn a_move(mut fields: Fields<'_>) -> Result<MoveDoc, SpecError> {
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
            ])
        })
        .transpose()?;
    let steps = match fields.take("step") {
        Some(field) => field.items()?.into_iter().map(|item| step(item.table()?)).collect::<Result<Vec<_>, _>>()?,
        None if refused.is_some() => Vec::new(),
        None => vec![update(&mut fields)?],
    };
    if refused.is_none() && to.is_none() {
        return Err(fields.error("`to` is missing: which state does the job come to?"));
    }
    fields.finish()?;
    Ok(MoveDoc { to, refused, attempts, steps })
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
                .map(|(column, field)| Ok((column, field.written()?)))
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
            StepDoc::Sql { sql, written, rows }
        }
        None => update(&mut fields)?,
    };
    fields.finish()?;
    Ok(step)
}

fn hold(name: String, mut fields: Fields<'_>) -> Result<HoldDoc, SpecError> {
    let words: Vec<(&str, Move)> = Move::ALL.iter().map(|r#move| (r#move.name(), *r#move)).collect();
    let hold = HoldDoc {
        name,
        condition: template(fields.need("if")?)?,
        moves: match fields.take("moves") {
            Some(field) => field.items()?.into_iter().map(|item| item.word(&words)).collect::<Result<_, _>>()?,
            None => Move::ALL.to_vec(),
        },
        reason: fields.need("reason")?.text()?,
    };
    fields.finish()?;
    Ok(hold)
}

fn notify(_: String, mut fields: Fields<'_>) -> Result<NotifyDoc, SpecError> {
    let notify = match (fields.take("channel"), fields.take("payload"), fields.take("sql")) {
        (Some(channel), Some(payload), None) => {
            NotifyDoc::Channel { channel: template(channel)?, payload: template(payload)? }
        }
        (None, None, Some(sql)) => NotifyDoc::Sql(template(sql)?),
        _ => return Err(fields.error("needs `channel` and `payload`, or `sql`")),
    };
    fields.finish()?;
    Ok(notify)
}

//! What makes a row a claim, what shows its life, and who holds it: `[claim]` and `[owner]`.

use crate::model::{HostSpelling, is_threshold, parse_duration};
use crate::preset::SpecError;
use crate::preset::fields::{Field, Fragment, Read, Word, Written};
use crate::preset::node::Value;
use crate::preset::queue::{Absence, Free};
use crate::preset::template::is_name;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct ClaimDoc {
    pub(crate) from: ClaimFrom,
    pub(crate) lock: Option<Written>,
    pub(crate) key: Vec<Written>,
    pub(crate) state: Option<Written>,
    pub(crate) filter: Option<Fragment>,
    pub(crate) queue: Option<Written>,
    pub(crate) kind: Option<Written>,
    pub(crate) claimed_at: Option<Written>,
    pub(crate) created_at: Option<Written>,
    pub(crate) payload: Option<Written>,
    pub(crate) last_error: Option<Written>,
    pub(crate) precondition: Vec<Written>,
    pub(crate) progress: Vec<Written>,
    pub(crate) optional: Vec<String>,
    pub(crate) liveness: Vec<LivenessDoc>,
    pub(crate) guard: Option<Fragment>,
}

#[derive(Debug, Clone)]
pub(crate) enum ClaimFrom {
    Table(Written),
    From(Fragment),
}

#[derive(Debug, Clone)]
pub(crate) struct LivenessDoc {
    pub(crate) by: By,
    pub(crate) column: Option<Written>,
    pub(crate) plus: Option<Written>,
    pub(crate) silent_after: Option<SilentAfterDoc>,
    pub(crate) held: Option<Fragment>,
    pub(crate) free: Option<Free>,
}

/// How many rows of its table an owner has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OwnerRows {
    #[default]
    One,
    /// Several, a log of heartbeats, of which the newest counts.
    Newest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Lease,
    Heartbeat,
    Age,
    Owner,
    Lock,
}

#[derive(Debug, Clone)]
pub(crate) enum SilentAfterDoc {
    Span(Duration),
    Column(Written),
    Required,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct OwnerDoc {
    pub(crate) id: Option<Written>,
    pub(crate) name: Option<Written>,
    pub(crate) host: Option<Written>,
    pub(crate) host_spelling: HostSpelling,
    pub(crate) table: Option<Written>,
    pub(crate) matches: Vec<(String, Written)>,
    pub(crate) on: Option<Fragment>,
    pub(crate) rows: OwnerRows,
    pub(crate) key: Option<Written>,
    pub(crate) heartbeat: Option<Written>,
    pub(crate) started: Option<Written>,
    pub(crate) missing: Absence,
    pub(crate) unset: Absence,
}

impl Read for ClaimDoc {
    fn read(field: Field<'_>) -> Result<ClaimDoc, SpecError> {
        let mut fields = field.table()?;
        let from = match (fields.get("table")?, fields.get("from")?) {
            (Some(table), None) => ClaimFrom::Table(table),
            (None, Some(from)) => ClaimFrom::From(from),
            _ => return Err(fields.error("needs either `table` or `from`, and not both")),
        };
        let mut claim = ClaimDoc {
            from,
            lock: fields.get("lock")?,
            key: fields.must("key")?,
            state: fields.get("state")?,
            filter: fields.get("where")?,
            queue: fields.get("queue")?,
            kind: fields.get("kind")?,
            claimed_at: fields.get("claimed_at")?,
            created_at: fields.get("created_at")?,
            payload: fields.get("payload")?,
            last_error: fields.get("last_error")?,
            precondition: fields.get_or_default("precondition")?,
            progress: fields.get_or_default("progress")?,
            optional: fields.get_or_default("optional")?,
            liveness: fields.get_or_default("liveness")?,
            guard: fields.get("guard")?,
        };
        fields.why()?;
        if claim.state.is_none() && claim.filter.is_none() {
            return Err(fields.error("needs `state` or `where`: what makes a row in flight?"));
        }
        for source in claim.liveness.iter_mut().filter(|source| source.by == By::Age && source.column.is_none()) {
            // The age of a claim is the time since its beginning.
            source.column.clone_from(&claim.claimed_at);
            if source.column.is_none() {
                return Err(fields.error("liveness by `age` needs `claimed_at` in [claim], or a `column` of its own"));
            }
        }
        fields.finish()?;
        Ok(claim)
    }
}

impl By {
    /// Its name in presets, in lists and on pages.
    pub(crate) fn name(self) -> &'static str {
        By::WORDS.iter().find(|(_, by)| *by == self).map_or("", |(name, _)| name)
    }
}

impl Word for By {
    const WORDS: &'static [(&'static str, By)] = &[
        ("lease", By::Lease),
        ("heartbeat", By::Heartbeat),
        ("age", By::Age),
        ("owner", By::Owner),
        ("lock", By::Lock),
    ];
}

impl Word for Free {
    const WORDS: &'static [(&'static str, Free)] = &[("dead", Free::Dead), ("next", Free::Next)];
}

impl Read for LivenessDoc {
    fn read(field: Field<'_>) -> Result<LivenessDoc, SpecError> {
        let mut fields = field.table()?;
        let source = LivenessDoc {
            by: fields.must("by")?,
            column: fields.get("column")?,
            plus: fields.get("plus")?,
            silent_after: fields.get("silent_after")?,
            held: fields.get("held")?,
            free: fields.get("free")?,
        };
        fields.why()?;
        if let Some(why) = source.misfit() {
            return Err(fields.error(why));
        }
        fields.finish()?;
        Ok(source)
    }
}

impl LivenessDoc {
    /// What is missing of a source of its kind, or does not belong to it.
    fn misfit(&self) -> Option<&'static str> {
        let LivenessDoc { column, plus, silent_after, held, free, .. } = self;
        match self.by {
            By::Lock if column.is_some() || plus.is_some() || silent_after.is_some() => {
                Some("`lock` takes `held` and `free` only")
            }
            By::Lock if held.is_none() => Some("`held` is missing"),
            By::Lock if free.is_none() => Some("`free` is missing"),
            By::Lock => None,
            _ if held.is_some() || free.is_some() => Some("`held` and `free` belong to a lock"),
            By::Owner if column.is_some() => Some("`owner` takes no `column`; its heartbeat stands in [owner]"),
            By::Lease if silent_after.is_some() => Some("a lease takes no `silent_after`: its end is the threshold"),
            By::Lease | By::Heartbeat if column.is_none() => Some("`column` is missing"),
            By::Lease => None,
            _ if plus.is_some() => Some("`plus` belongs to a lease"),
            _ if silent_after.is_none() => Some("`silent_after` is missing"),
            _ => None,
        }
    }
}

impl Read for SilentAfterDoc {
    fn read(field: Field<'_>) -> Result<SilentAfterDoc, SpecError> {
        let written = field.written()?;
        if written.text == "required" {
            return Ok(SilentAfterDoc::Required);
        }
        let is_plain = is_name(&written.text.replace('.', "_")) && !written.text.starts_with(|c: char| c.is_numeric());
        if is_plain || written.text.ends_with('"') {
            return Ok(SilentAfterDoc::Column(written));
        }
        // The library's own rule: so many heartbeats of so long each.
        let (count, each) = written.text.split_once(" * ").unwrap_or(("1", &written.text));
        let count: u32 = count.parse().map_err(|_| written.error(format!("`{count}` is no number of heartbeats")))?;
        let span = parse_duration(each).map_err(|why| written.error(why))?.saturating_mul(count);
        if !is_threshold(span) {
            let (rule, value) = (written.as_written(), &written.text);
            return Err(written
                .error(format!("`{rule}` is {value}, which is no threshold: the shortest is 1s, the longest 10y")));
        }
        Ok(SilentAfterDoc::Span(span))
    }
}

impl Word for OwnerRows {
    const WORDS: &'static [(&'static str, OwnerRows)] = &[("one", OwnerRows::One), ("newest", OwnerRows::Newest)];
}

impl Word for Absence {
    const WORDS: &'static [(&'static str, Absence)] =
        &[("dead", Absence::Dead), ("next", Absence::Next), ("unknown", Absence::Unknown)];
}

impl Read for OwnerDoc {
    fn read(field: Field<'_>) -> Result<OwnerDoc, SpecError> {
        let mut fields = field.table()?;
        let owner = OwnerDoc {
            id: fields.get("id")?,
            name: fields.get("name")?,
            host: fields.get("host")?,
            host_spelling: fields.get_or_default("host_spelling")?,
            table: fields.get("table")?,
            matches: fields.named("match")?,
            on: fields.get("on")?,
            rows: fields.get_or_default("rows")?,
            key: fields.get("key")?,
            heartbeat: fields.get("heartbeat")?,
            started: fields.get("started")?,
            missing: fields.get_or_default("missing")?,
            unset: fields.get_or_default("unset")?,
        };
        match (&owner.table, owner.matches.is_empty() && owner.on.is_none()) {
            (Some(_), true) => return Err(fields.error("an owners' `table` needs `match` or `on`")),
            (None, false) => return Err(fields.error("`match` and `on` need an owners' `table`")),
            (None, true) if owner.heartbeat.is_some() || owner.started.is_some() => {
                return Err(fields.error("`heartbeat` and `started` are columns of an owners' `table`"));
            }
            _ => {}
        }
        if owner.rows == OwnerRows::Newest
            && (owner.matches.is_empty() || owner.on.is_some() || owner.heartbeat.is_none())
        {
            return Err(fields.error("`rows = \"newest\"` needs `match` and `heartbeat`, and takes no `on`"));
        }
        if owner.on.is_some() && owner.key.is_none() {
            return Err(fields.error("`on` needs `key`: a column of the owner's row that is never NULL"));
        }
        fields.why()?;
        fields.finish()?;
        Ok(owner)
    }
}

impl Read for HostSpelling {
    fn read(field: Field<'_>) -> Result<HostSpelling, SpecError> {
        let mut fields = field.table()?;
        let mut spelling = HostSpelling::default();
        if let Some(written) = fields.get::<Written>("dot")? {
            let mut characters = written.text.chars();
            spelling.dot = characters.next();
            if characters.next().is_some() {
                return Err(written.error("must be one character, which stands for a dot"));
            }
        }
        if let Some(field) = fields.take("longest") {
            spelling.longest = match field.value() {
                Value::Integer(bytes) if *bytes > 0 => usize::try_from(*bytes).ok(),
                _ => return Err(field.error("must be a number of bytes above 0")),
            };
        }
        fields.finish()?;
        Ok(spelling)
    }
}

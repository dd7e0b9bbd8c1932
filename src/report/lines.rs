use super::{History, HistoryOne, Owners, Reclaim, Spool, Stale, Target, Undo};
use crate::model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::io::{self, Write};

/// One line of a `jsonl` document.
#[derive(Serialize)]
struct Line<'a, T> {
    r#type: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// A document that can be told line by line.
pub trait Lines {
    /// Writes a head, one object a line, and a summary.
    ///
    /// # Errors
    /// When the writer fails.
    fn lines(&self, out: &mut dyn Write) -> io::Result<()>;
}

pub(super) fn line<T: Serialize>(out: &mut dyn Write, kind: &str, body: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Line { r#type: kind, body })?;
    out.write_all(b"\n")
}

fn list<T: Serialize + DeserializeOwned>(out: &mut dyn Write, kind: &str, list: &Spool<T>) -> io::Result<()> {
    list.iter().try_for_each(|item| line(out, kind, &item?))
}

/// Every document begins alike; `more` are the fields that are its own and neither lists of jobs nor the summary.
pub(super) fn head(
    out: &mut dyn Write,
    schema: &str,
    store_time: Timestamp,
    target: &Target,
    more: &[(&str, Value)],
) -> io::Result<()> {
    let mut fields = Map::new();
    fields.insert("schema".to_owned(), schema.into());
    fields.insert("store_time".to_owned(), serde_json::to_value(store_time)?);
    fields.insert("target".to_owned(), serde_json::to_value(target)?);
    fields.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    line(out, "head", &fields)
}

impl Lines for Stale {
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more =
            [("filter", serde_json::to_value(&self.filter)?), ("not_found", serde_json::to_value(&self.not_found)?)];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.diagnoses.iter().try_for_each(|diagnosis| line(out, "diagnosis", diagnosis))?;
        list(out, "job", &self.jobs)?;
        list(out, "unknown", &self.unknown)?;
        line(out, "summary", &self.summary)
    }
}

impl Lines for Reclaim {
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [
            ("filter", serde_json::to_value(&self.filter)?),
            ("applied", self.applied.into()),
            ("run_id", serde_json::to_value(&self.run_id)?),
            ("digest", self.digest.clone().into()),
            ("brake", serde_json::to_value(&self.brake)?),
            ("delay_seconds", serde_json::to_value(self.delay_seconds)?),
            ("jitter_seconds", serde_json::to_value(self.jitter_seconds)?),
            ("confirmed_after_seconds", self.confirmed_after_seconds.into()),
            ("journal", serde_json::to_value(&self.journal)?),
            ("undoable", self.undoable.into()),
            ("refused", serde_json::to_value(&self.refused)?),
            ("warnings", serde_json::to_value(&self.warnings)?),
            ("not_found", serde_json::to_value(&self.not_found)?),
            ("verified", serde_json::to_value(&self.verified)?),
        ];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        list(out, "step", &self.steps)?;
        list(out, "skipped", &self.skipped)?;
        line(out, "summary", &self.summary)
    }
}

impl Lines for Owners {
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [("findings", serde_json::to_value(&self.findings)?)];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.owners.iter().try_for_each(|owner| line(out, "owner", owner))?;
        line(out, "summary", &self.summary)
    }
}

impl Lines for Undo {
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [
            ("undoes", self.undoes.clone().into()),
            ("recorded_in", self.recorded_in.clone().into()),
            ("applied", self.applied.into()),
            ("run_id", serde_json::to_value(&self.run_id)?),
            ("journal", serde_json::to_value(&self.journal)?),
            ("undoable", self.undoable.into()),
            ("refused", serde_json::to_value(&self.refused)?),
            ("warnings", serde_json::to_value(&self.warnings)?),
        ];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        list(out, "step", &self.steps)?;
        list(out, "left", &self.left)?;
        line(out, "summary", &self.summary)
    }
}

impl Lines for History {
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut fields = Map::new();
        fields.insert("schema".to_owned(), self.schema.into());
        fields.insert("journal".to_owned(), serde_json::to_value(&self.journal)?);
        fields.insert("ledger".to_owned(), serde_json::to_value(&self.ledger)?);
        fields.insert("warnings".to_owned(), serde_json::to_value(&self.warnings)?);
        line(out, "head", &fields)?;
        self.runs.iter().try_for_each(|run| line(out, "run", run))?;
        line(out, "summary", &self.summary)
    }
}

impl Lines for HistoryOne {
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut fields = Map::new();
        fields.insert("schema".to_owned(), self.schema.into());
        fields.insert("run".to_owned(), serde_json::to_value(&self.run)?);
        line(out, "head", &fields)?;
        list(out, "step", &self.steps)?;
        line(out, "summary", &self.summary)
    }
}

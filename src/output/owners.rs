use super::document::{Document, ROWS, csv_of, head, line};
use super::format::{Cell, Format, Screen, Table, Tone};
use super::{Target, columns};
use crate::model::{Timestamp, age};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// `jobdoctor.owners/v1`: who holds what.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Owners {
    /// `jobdoctor.owners/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// The counts.
    pub summary: OwnersSummary,
    /// The owners: those with stuck claims first, then by silence.
    pub owners: Vec<OwnerEntry>,
    /// What is wrong with the ownership data itself, as sentences.
    pub findings: Vec<String>,
}

/// The counts of an [`Owners`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct OwnersSummary {
    /// Claims looked at.
    pub in_flight: u64,
    /// Owners that hold claims; claims without an owner count as one.
    pub owners: u64,
    /// Owners all of whose claims show their death.
    pub dead: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that nobody can judge.
    pub unknown: u64,
}

/// One owner.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OwnerEntry {
    /// Its name; null for claims that name none.
    pub owner: Option<String>,
    /// Its host, where owners name it.
    pub host: Option<String>,
    /// `alive`, `dead`, `mixed` (some claims show its death, some do not) or `unknown`.
    pub status: String,
    /// Claims it holds.
    pub claims: u64,
    /// Stuck ones among them.
    pub stuck: u64,
    /// Unknown ones among them.
    pub unknown: u64,
    /// Its newest sign of life over all claims.
    #[schemars(with = "Option<String>")]
    pub last_seen_at: Option<Timestamp>,
    /// The store's time minus that.
    pub silence_seconds: Option<f64>,
    /// The queues it works on.
    pub queues: Vec<String>,
    /// What judged its claims.
    pub liveness: Option<String>,
}

impl OwnerEntry {
    /// The columns of `csv`, in order; the same names as in JSON.
    pub const COLUMNS: [&'static str; 10] = [
        "owner",
        "host",
        "status",
        "claims",
        "stuck",
        "unknown",
        "last_seen_at",
        "silence_seconds",
        "queues",
        "liveness",
    ];

    /// The values of those columns; what is not known is empty.
    pub fn values(&self) -> Vec<String> {
        vec![
            self.owner.clone().unwrap_or_default(),
            self.host.clone().unwrap_or_default(),
            self.status.clone(),
            self.claims.to_string(),
            self.stuck.to_string(),
            self.unknown.to_string(),
            self.last_seen_at.map(|time| time.to_string()).unwrap_or_default(),
            self.silence_seconds.map(|seconds| seconds.to_string()).unwrap_or_default(),
            self.queues.join(" "),
            self.liveness.clone().unwrap_or_default(),
        ]
    }
}

impl Document for Owners {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let columns = vec![
            columns::column("owner", 0, Some(12)),
            columns::column("status", 0, None),
            columns::right("claims", 1),
            columns::right("stuck", 1),
            columns::right("unknown", 4),
            columns::right("silent", 0),
            columns::column("judged by", 5, None),
            columns::column("queues", 3, Some(8)),
        ];
        let mut table = Table { columns, rows: Vec::new() };
        for owner in self.owners.iter().take(rows) {
            table.rows.push(vec![
                owner.owner.as_deref().map_or_else(|| Cell::new("(no owner)", Tone::Warn), Cell::from),
                status(owner),
                owner.claims.to_string().into(),
                owner.stuck.to_string().into(),
                owner.unknown.to_string().into(),
                last_seen(owner),
                columns::text(owner.liveness.as_deref()),
                columns::text(Some(&owner.queues.join(" "))),
            ]);
        }
        let mut text = if self.owners.is_empty() { String::new() } else { table.render(screen) };
        for finding in &self.findings {
            text.push_str(&format!("! {finding}\n"));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv_of(&OwnerEntry::COLUMNS, self.owners.iter().map(Ok), |owner| owner.values(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.owners.iter().filter_map(|owner| owner.owner.as_ref()).try_for_each(|owner| writeln!(out, "{owner}"))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [("findings", serde_json::to_value(&self.findings)?)];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.owners.iter().try_for_each(|owner| line(out, "owner", owner))?;
        line(out, "summary", &self.summary)
    }
}

fn status(owner: &OwnerEntry) -> Cell {
    let tone = match owner.status.as_str() {
        "alive" => Tone::Good,
        "dead" => Tone::Bad,
        _ => Tone::Warn,
    };
    Cell::new(owner.status.as_str(), tone)
}

fn last_seen(owner: &OwnerEntry) -> Cell {
    match owner.silence_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(silence) => age(silence).into(),
        None => Cell::new("?", Tone::Dim),
    }
}

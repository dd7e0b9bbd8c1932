use super::document::{Document, ROWS, csv_of, head, json_of, line};
use super::format::{Cell, Format, Page, Screen, Table, Times, Tone};
use super::{Target, columns};
use crate::model::Timestamp;
use crate::policy::{Inconsistency, exactly};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// `jobdoctor.owners/v1`: the owners and their claims.
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
    /// The owners, with --dead the dead ones: those with stuck claims first, then by silence.
    pub owners: Vec<OwnerEntry>,
    /// Inconsistencies in the ownership data, as sentences.
    pub findings: Vec<String>,
    /// Why the list may be incomplete, or say less than it seems to.
    pub warnings: Vec<String>,
}

/// The counts of an [`Owners`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct OwnersSummary {
    /// Claims.
    pub in_flight: u64,
    /// Owners that hold claims; claims without an owner count as one.
    pub owners: u64,
    /// Owners whose claims all prove their death.
    pub dead: u64,
    /// Owners that are late.
    pub late: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that cannot be judged.
    pub unknown: u64,
}

/// One owner.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OwnerEntry {
    /// Its name; null for claims that name none.
    pub owner: Option<String>,
    /// Its host, where owners name one.
    pub host: Option<String>,
    /// What all of its claims say, whatever the filter: `alive`, `late` (alive, but 80 % of its lease, or of the silence that it is
    /// allowed, are over), `dead`, `mixed` (some claims prove its death, some do not) or `unknown`.
    pub status: String,
    /// Claims it holds.
    pub claims: u64,
    /// Stuck ones among them.
    pub stuck: u64,
    /// Unknown ones among them.
    pub unknown: u64,
    /// Its newest sign of life, over all claims.
    #[schemars(with = "Option<String>")]
    pub last_seen_at: Option<Timestamp>,
    /// The store's time minus that.
    pub silence_seconds: Option<f64>,
    /// The queues it works on.
    pub queues: Vec<String>,
    /// The liveness source that judged its claims.
    pub liveness: Option<String>,
}

impl Owners {
    /// The titles of its table.
    pub fn titles(times: Times) -> Vec<&'static str> {
        owners(std::iter::empty(), times).map(|table| table.titles()).unwrap_or_default()
    }

    /// The sentence for so many claims with that inconsistency.
    pub fn finding(inconsistency: Inconsistency, claims: u64) -> String {
        let what = match inconsistency {
            Inconsistency::NoOwner => "in flight without an owner",
            Inconsistency::OwnerMissing => "held by an owner that has no row",
            Inconsistency::OwnerRestarted => "older than the process that goes by their owner's name",
            Inconsistency::NoClaimTime => "in flight without a claim time that can be read",
        };
        format!("claims {what}: {claims}")
    }
}

impl OwnerEntry {
    /// True if every claim proves its death.
    pub fn is_dead(&self) -> bool {
        self.status == "dead"
    }

    /// The columns of `csv`.
    pub(super) const COLUMNS: &'static str = "\
        owner host status claims stuck unknown last_seen_at silence_seconds queues liveness";
}

impl Document for Owners {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let mut page = Page::default();
        if !self.owners.is_empty() {
            page.table("", &owners(self.owners.iter().take(rows), screen.times)?, screen);
        }
        self.findings.iter().for_each(|finding| page.push(&screen.paragraph(&format!("! {finding}").into())));
        Ok(page)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv_of(OwnerEntry::COLUMNS, json_of(&self.owners), out)
    }

    /// The dead alone, each as a pattern that `--owner` takes and that matches no other name: the list is made to be swept. A name
    /// with a line break would be two names, so it is left out.
    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        let dead = self.owners.iter().filter(|owner| owner.is_dead()).filter_map(|owner| owner.owner.as_ref());
        dead.filter(|owner| !owner.contains(['\n', '\r', '\0']))
            .try_for_each(|owner| writeln!(out, "{}", exactly(owner)))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more =
            [("findings", serde_json::to_value(&self.findings)?), ("warnings", serde_json::to_value(&self.warnings)?)];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.owners.iter().try_for_each(|owner| line(out, "owner", owner))?;
        line(out, "summary", &self.summary)
    }
}

fn status(owner: &OwnerEntry) -> Cell {
    let tone = match owner.status.as_str() {
        "alive" => Tone::Plain,
        "dead" => Tone::Bad,
        _ => Tone::Warn,
    };
    Cell::new(owner.status.as_str(), tone)
}

fn owners<'a>(owners: impl Iterator<Item = &'a OwnerEntry>, times: Times) -> io::Result<Table> {
    let silence = |owner: &&OwnerEntry| {
        let tone = if owner.stuck > 0 { Tone::Bad } else { Tone::Plain };
        columns::silence(owner.silence_seconds, owner.last_seen_at, times, tone)
    };
    let mut table = columns::table(
        &[
            (columns::names("owner", 0, 10), &|owner: &&OwnerEntry| match &owner.owner {
                Some(name) => name.as_str().into(),
                None => Cell::new("(no owner)", Tone::Warn),
            }),
            (columns::column("status", 0, None), &|owner| status(owner)),
            (columns::right("claims", 1), &|owner| owner.claims.to_string().into()),
            (columns::right("stuck", 1), &|owner| owner.stuck.to_string().into()),
            (columns::right("unknown", 4), &|owner| owner.unknown.to_string().into()),
            (columns::silent(times, 0), &silence),
            (columns::column("judged by", 5, None), &|owner| columns::text(owner.liveness.as_deref())),
            (columns::names("queues", 3, 8), &|owner| columns::text(Some(&owner.queues.join(" ")))),
        ],
        owners.map(Ok),
    )?;
    columns::shade(&mut table);
    Ok(table)
}

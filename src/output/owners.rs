use super::Target;
use super::columns::{self, Columns, column, names, right};
use super::document::{Document, List};
use super::format::{Cell, Format, Screen, Times, Tone};
use crate::model::Timestamp;
use crate::policy::{Inconsistency, exactly};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// `jobdoctor.owners/v1`: the owners and their claims.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Owners {
    /// All but the counts and the owners.
    #[serde(flatten)]
    pub head: OwnersHead,
    /// The counts.
    pub summary: OwnersSummary,
    /// The owners, with --dead the dead ones: those with stuck claims first, then by silence.
    pub owners: Vec<OwnerEntry>,
}

/// The head of an [`Owners`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct OwnersHead {
    /// `jobdoctor.owners/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
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
    /// Owners whose claims are all stuck by their age alone: slow jobs look the same.
    pub silent: u64,
    /// Owners that are late.
    pub late: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that cannot be judged.
    pub unknown: u64,
}

/// One owner.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct OwnerEntry {
    /// Its name; null for claims that name none.
    pub owner: Option<String>,
    /// Its host, where owners name one.
    pub host: Option<String>,
    /// What all of its claims say, whatever the filter: `alive`, `late` (alive, but 80 % of its lease, or of the
    /// silence that it is allowed, are over), `dead`, `silent` (all of its claims are stuck, by their age alone),
    /// `mixed` (some claims prove its death, some do not) or `unknown`.
    pub status: &'static str,
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
    #[schemars(with = "Vec<String>")]
    pub queues: BTreeSet<String>,
    /// The liveness source that judged its claims.
    pub liveness: Option<&'static str>,
}

impl Owners {
    pub fn titles(times: Times) -> Vec<&'static str> {
        owners(true, times).titles()
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

    /// True if every claim is stuck by its age alone.
    pub fn is_silent(&self) -> bool {
        self.status == "silent"
    }
}

impl Document for Owners {
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, format: Format, times: Times) -> Vec<List<'_>> {
        let is_told = |owner: &OwnerEntry| {
            let name = owner.owner.as_deref().unwrap_or_default();
            owner.host.as_deref().is_none_or(|host| name.contains(host))
        };
        let shows_host = format.is_machine() || format == Format::Wide || !self.owners.iter().all(is_told);
        vec![List::of("owner", &self.owners, owners(shows_host, times))]
    }

    /// The dead, and the silent ones if they were asked for, each as a pattern that `--owner` takes and that matches no
    /// other name: the list is made to be swept. A name with a line break would be two names, so it is left out.
    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        let dead = self.owners.iter().filter(|owner| owner.is_dead() || owner.is_silent());
        let dead = dead.filter_map(|owner| owner.owner.as_ref());
        dead.filter(|owner| !owner.contains(['\n', '\r', '\0']))
            .try_for_each(|owner| writeln!(out, "{}", exactly(owner)))
    }

    fn below(&self, screen: &Screen) -> String {
        screen.findings(&self.head.findings)
    }
}

fn status(owner: &OwnerEntry) -> Cell {
    let tone = match owner.status {
        "alive" => Tone::Plain,
        "dead" => Tone::Bad,
        _ => Tone::Warn,
    };
    Cell::new(owner.status, tone)
}

/// The host has a column of its own where some owner's name does not tell it.
fn owners<'a>(shows_host: bool, times: Times) -> Columns<'a, OwnerEntry> {
    Columns::<OwnerEntry>::new()
        .add(names("owner", 0, 10), "owner", |owner| match &owner.owner {
            Some(name) => name.as_str().into(),
            None => Cell::new("(no owner)", Tone::Warn),
        })
        .add_if(shows_host, names("host", 2, 8), "host", |owner| columns::text(owner.host.as_deref()))
        .add(column("status", 0, None), "status", status)
        .add(right("claims", 1), "claims", |owner| owner.claims.to_string().into())
        .add(right("stuck", 1), "stuck", |owner| owner.stuck.to_string().into())
        .add(right("unknown", 4), "unknown", |owner| owner.unknown.to_string().into())
        .add(columns::silent(times, 0), "last_seen_at silence_seconds", move |owner| {
            let tone = if owner.stuck > 0 { columns::how_bad(owner.silence_seconds) } else { Tone::Plain };
            columns::silence(owner.silence_seconds, owner.last_seen_at, times, tone)
        })
        .add(column("judged by", 5, None), "liveness", |owner| columns::text(owner.liveness))
        .add(names("queues", 3, 8), "queues", |owner| {
            let queues: Vec<&str> = owner.queues.iter().map(String::as_str).collect();
            columns::text(Some(&queues.join(" ")))
        })
}

//! Diagnoses: the probable causes of several findings.

use super::StaleSummary;
use super::format::{Cell, Screen, Tone, count, grouped};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The probable cause of several stuck jobs, or an inconsistency in their ownership data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// `all_silent` (everything in flight went silent within minutes), `vanished` (hosts or owners of which every claim is
    /// dead), `silent` (the same by age alone, or with claims that cannot be judged), `hangs` (stuck jobs of owners that
    /// live); and inconsistencies: `no_owner`, `owner_missing`, `owner_restarted`, `no_claim_time`. A stuck job is part of one diagnosis at
    /// most, but for `no_claim_time`.
    pub diagnosis: String,
    /// In words.
    pub text: String,
    /// The host, if it is about one.
    pub host: Option<String>,
    /// The owner, if it is about one.
    pub owner: Option<String>,
    /// The kind of work, if it is about one.
    pub kind: Option<String>,
    /// When it began: the last sign of life of the first that went; of what hangs the first claim; of an inconsistency the oldest sign.
    #[schemars(with = "Option<String>")]
    pub since_at: Option<Timestamp>,
    /// When it was complete: the last sign of life of the last that went; of what hangs the last claim; of an inconsistency the newest.
    #[schemars(with = "Option<String>")]
    pub until_at: Option<Timestamp>,
    /// The stuck jobs that it explains, whatever the limit; for `no_claim_time` also unknown ones.
    pub jobs: u64,
    /// Their hosts; null where owners name none.
    pub hosts: Option<u64>,
    /// Their owners; null where there are none, or too many to count.
    pub owners: Option<u64>,
}

/// Diagnoses in a table; documents hold more.
const MOST: usize = 10;

/// The diagnoses in sentences, the one with the most jobs first.
pub fn diagnoses(list: &[Diagnosis], summary: &StaleSummary, screen: &Screen) -> String {
    let mut text: String = list.iter().take(MOST).map(|diagnosis| screen.paragraph(&sentence(diagnosis))).collect();
    let more = summary.diagnoses.saturating_sub(list.len().min(MOST) as u64);
    if more > 0 {
        text.push_str(&screen.paragraph(&Cell::new(format!("and {} more", grouped(more)), Tone::Dim)));
    }
    text
}

/// The count of stuck jobs without a diagnosis.
pub fn alone(summary: &StaleSummary, screen: &Screen) -> String {
    if summary.alone == 0 {
        return String::new();
    }
    let text = format!("{} without a diagnosis", count(summary.alone, "stuck job", "stuck jobs"));
    screen.paragraph(&Cell::new(text, Tone::Dim))
}

fn sentence(diagnosis: &Diagnosis) -> Cell {
    let tone = match diagnosis.diagnosis.as_str() {
        "all_silent" | "vanished" => Tone::Bad,
        _ => Tone::Warn,
    };
    Cell::new(diagnosis.text.as_str(), tone)
}

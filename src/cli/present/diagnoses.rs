//! What is likely to have happened, a line each.

use crate::render::{Cell, Screen, Tone, count, grouped};
use crate::report::{Diagnosis, StaleSummary};

/// Diagnoses for people; machines get more.
const MOST: usize = 10;

/// The diagnoses in sentences, most jobs first.
pub fn diagnoses(list: &[Diagnosis], summary: &StaleSummary, screen: &Screen) -> String {
    let mut text: String = list.iter().take(MOST).map(|diagnosis| screen.paragraph(&sentence(diagnosis))).collect();
    let more = summary.diagnoses.saturating_sub(list.len().min(MOST) as u64);
    if more > 0 {
        text.push_str(&screen.paragraph(&Cell::new(format!("and {} more", grouped(more)), Tone::Dim)));
    }
    text
}

/// How many stuck jobs are part of none.
pub fn alone(summary: &StaleSummary, screen: &Screen) -> String {
    if summary.alone == 0 {
        return String::new();
    }
    let verb = if summary.alone == 1 { "stands" } else { "stand" };
    let text = format!("{} {verb} alone", count(summary.alone, "stuck job", "stuck jobs"));
    screen.paragraph(&Cell::new(text, Tone::Dim))
}

fn sentence(diagnosis: &Diagnosis) -> Cell {
    let tone = match diagnosis.diagnosis.as_str() {
        "all_silent" | "vanished" => Tone::Bad,
        _ => Tone::Warn,
    };
    Cell::new(diagnosis.text.as_str(), tone)
}

//! What is likely to have happened, a line each.

use crate::render::{Cell, Screen, Tone, count, grouped};
use crate::report::{Event, StaleSummary};

/// Events for people; machines get more.
const EVENTS: usize = 10;

/// The events in sentences, most jobs first.
pub fn events(list: &[Event], summary: &StaleSummary, screen: &Screen) -> String {
    let mut text: String = list.iter().take(EVENTS).map(|event| screen.paragraph(&sentence(event))).collect();
    let more = summary.events.saturating_sub(list.len().min(EVENTS) as u64);
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

fn sentence(event: &Event) -> Cell {
    let tone = match event.event.as_str() {
        "all_silent" | "vanished" => Tone::Bad,
        _ => Tone::Warn,
    };
    Cell::new(event.text.as_str(), tone)
}

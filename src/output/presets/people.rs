use super::page::{PresetPage, head};
use crate::output::format::{Cell, Facts, Screen, Tone};

/// The page of one queue, for a screen.
pub fn people(page: &PresetPage, screen: &Screen) -> String {
    let mut facts = Facts::new();
    facts.add("preset", Cell::new(page.name.as_str(), Tone::Strong)).add("queue", page.title.as_str());
    for fact in head(page) {
        facts.add(fact.label, fact.text);
    }
    let mut text = facts.render(screen);
    for section in &page.sections {
        let mut facts = Facts::new();
        let mut above = "";
        for fact in &section.facts {
            facts.add(if fact.label == above { "" } else { &fact.label }, fact.with_engine());
            above = &fact.label;
        }
        text.push('\n');
        text.push_str(&screen.heading(&section.title));
        text.push_str(&facts.render(screen));
    }
    text
}

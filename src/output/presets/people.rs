use super::PresetsShow;
use super::page::page;
use crate::output::format::{Cell, Facts, Screen, Tone};

/// The page of one queue, for a screen.
pub fn people(document: &PresetsShow, screen: &Screen) -> String {
    let page = page(document);
    let mut head = Facts::new();
    head.add("preset", Cell::new(document.name.as_str(), Tone::Strong)).add("queue", document.title.as_str());
    page.head.iter().for_each(|line| {
        head.add(line.label.text(), line.text.as_str());
    });
    let mut text = head.render(screen);
    for part in &page.parts {
        let mut facts = Facts::new();
        let mut above = "";
        for entry in &part.entries {
            let label = entry.label.text();
            facts.add(if label == above { "" } else { label }, entry.said());
            above = label;
        }
        text.push('\n');
        text.push_str(&screen.heading(&part.title));
        text.push_str(&facts.render(screen));
    }
    text
}

//! The page of one queue on a screen, and the pages in `docs/presets/`.

use super::Presets;
use super::list::columns;
use super::page::{PresetPage, head};
use crate::output::format::{Cell, Facts, Screen, Tone};

const MADE: &str = "<!-- Made by the program from the presets: JOBDOCTOR_BLESS=1 cargo test writes it anew. -->";

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

/// The page of one queue, as Markdown.
pub fn markdown(page: &PresetPage) -> String {
    let mut text = format!("{MADE}\n\n# {}\n\n{}.\n\n", page.name, plain(&page.title));
    for fact in head(page) {
        text.push_str(&format!("- **{}**: {}\n", plain(&fact.label), plain(&fact.text)));
    }
    for section in &page.sections {
        text.push_str(&format!("\n## {}\n\n", section.title));
        let mut above = None;
        for fact in &section.facts {
            let words = plain(&fact.with_engine());
            // More about what the line above is about goes below it.
            text.push_str(&match (fact.is_name, &fact.label) {
                (_, label) if above == Some(label) => format!("  - {words}\n"),
                (true, label) => format!("- `{label}`: {words}\n"),
                (false, label) => format!("- **{}**: {words}\n", plain(label)),
            });
            above = Some(&fact.label);
        }
    }
    text
}

/// The table of all queues, with links to their pages.
pub fn index(document: &Presets) -> String {
    let mut text = format!(
        "{MADE}\n\n# The queues that jobdoctor knows\n\n\
         **Liveness** is what shows life, best first; after a semicolon, what some versions of the queue have\n\
         instead. **Proof**: `live`, the real library is run in our tests; `schema`, our own copy of its tables, after its\n\
         source.\n\n\
         | preset | queue | engines | liveness | can | proof | checked with |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    let columns = columns();
    for preset in &document.presets {
        let rest = columns.row(preset).into_iter().skip(1).map(|cell| plain(&cell.text).replace('|', "\\|"));
        let rest = rest.collect::<Vec<_>>().join(" | ");
        text.push_str(&format!("| [{0}]({0}.md) | {rest} |\n", preset.name));
    }
    text
}

/// Text that Markdown shows as it is. What stands in backquotes is that already.
fn plain(text: &str) -> String {
    let escaped = |part: &str| {
        part.chars().fold(String::with_capacity(part.len()), |mut text, c| {
            if matches!(c, '*' | '<' | '[' | '\\') {
                text.push('\\');
            }
            text.push(c);
            text
        })
    };
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(n, part)| if n % 2 == 0 { escaped(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

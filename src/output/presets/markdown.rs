//! The pages in `docs/presets/`.

use super::list::cells;
use super::page::page;
use super::sections::Label;
use super::{Presets, PresetsShow};

const MADE: &str = "<!-- Made by the program from the presets: JOBDOCTOR_BLESS=1 cargo test writes it anew. -->";

/// The page of one queue.
pub fn markdown(document: &PresetsShow) -> String {
    let page = page(document);
    let mut text = format!("{MADE}\n\n# {}\n\n{}.\n\n", document.name, plain(&document.title));
    for line in &page.head {
        text.push_str(&format!("- **{}**: {}\n", plain(line.label.text()), plain(&line.text)));
    }
    for part in &page.parts {
        text.push_str(&format!("\n## {}\n\n", part.title));
        let mut above = None;
        for entry in &part.entries {
            let label = match &entry.label {
                Label::Word(word) => format!("**{}**", plain(word)),
                Label::Name(name) => format!("`{name}`"),
            };
            let said = plain(&entry.said());
            // More about the same goes below it.
            let bullet =
                if above == Some(&entry.label) { format!("  - {said}\n") } else { format!("- {label}: {said}\n") };
            text.push_str(&bullet);
            above = Some(&entry.label);
        }
    }
    text
}

/// The table of all queues, with links to their pages.
pub fn index(document: &Presets) -> String {
    let mut text = format!(
        "{MADE}\n\n# The queues that jobdoctor knows\n\n\
         **Liveness** is what tells life from death, best first; after a semicolon, what some versions of the queue have\n\
         instead. **Proof**: `live`, the real library is run in our tests; `schema`, our own copy of its tables, after its\n\
         source.\n\n\
         | preset | queue | engines | liveness | can | proof | checked with |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for preset in &document.presets {
        let [name, rest @ ..] = cells(preset);
        let rest: Vec<String> = rest.iter().map(|cell| plain(cell).replace('|', "\\|")).collect();
        text.push_str(&format!("| [{name}]({name}.md) | {} |\n", rest.join(" | ")));
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

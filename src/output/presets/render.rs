//! The pages in `docs/presets/`.

use super::Presets;
use super::list::columns;
use super::page::{PresetPage, head};

const MADE: &str = "<!-- Made by the program from the presets: JOBDOCTOR_BLESS=1 cargo test writes it anew. -->";

/// The page of one queue, as Markdown.
pub fn markdown(page: &PresetPage) -> String {
    let fact = |(label, text): (String, String)| format!("- **{}**: {}\n", plain(&label), plain(&text));
    let head: String = head(page).into_iter().map(fact).collect();
    format!("{MADE}\n\n# {}\n\n{}.\n\n{head}\n```toml\n{}```\n", page.name, plain(&page.title), page.toml)
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

//! Lists of job ids, as `-o name` and `-o jsonl` write them.

use super::error::CliError;
use super::exit::Exit;
use super::input::Source;
use crate::store::Interrupt;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The part of a line of `-o jsonl` that counts here.
#[derive(Deserialize)]
struct Line {
    r#type: String,
    id: Option<String>,
}

/// Reads a list; `-` is standard input. Each id comes once, in the order of the list.
///
/// # Errors
/// When it cannot be read, or a line of it is neither an id nor a line of `-o jsonl`.
pub(super) fn read(path: &Path, interrupt: &Interrupt, patience: Duration) -> Result<Vec<String>, CliError> {
    let source = Source { what: "the list of jobs", flag: "--from-file", path };
    let text = source.read(interrupt, patience)?.text;
    parse(&text).map_err(|(line, why)| {
        CliError::new(Exit::Usage, format!("{}, line {line}: {why}", source.name()))
            .hint("give one id a line, as `jobdoctor stale -o name` prints them, or the lines of `-o jsonl`")
    })
}

/// The ids of a list, each once: one a line, whatever it begins with, or lines of `-o jsonl`, as the first line is one or not.
/// Blanks around an id stay, because a stored one may have them; where none has, it is found without them.
///
/// # Errors
/// The number of the first line that is neither an id nor a line of `-o jsonl`, and why.
pub fn parse(text: &str) -> Result<Vec<String>, (usize, String)> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let is_jsonl = lines.clone().next().is_some_and(|(_, line)| is_line(line.trim()));
    let mut ids = Vec::new();
    let mut seen = BTreeSet::new();
    for (n, line) in lines {
        let id = if is_jsonl { id_of(line).map_err(|why| (n + 1, why))? } else { Some(line.to_owned()) };
        ids.extend(id.filter(|id| seen.insert(id.clone())));
    }
    Ok(ids)
}

/// True if a list that begins with this line is one of JSON: of `-o jsonl`, or of another format, which is refused.
fn is_line(line: &str) -> bool {
    let begins = |beginning: &&str| line.starts_with(*beginning);
    line == "{" || ["{\"type\":\"", "{\"schema\":\""].iter().any(begins) || matches!(id_of(line), Ok(Some(_)))
}

/// The id of a line of `-o jsonl`; `None` for the lines that are about no stuck job.
fn id_of(line: &str) -> Result<Option<String>, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| format!("it is no line of -o jsonl: {error}"))?;
    match (line.r#type.as_str(), line.id) {
        ("job" | "step", Some(id)) => Ok(Some(id)),
        ("job" | "step", None) => Err("the job in it has no id".to_owned()),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_one_a_line() {
        let cases: [(&str, &[&str]); 9] = [
            ("\u{feff}42\r\n43", &["42", "43"]),
            ("{a}\n{\"b\":1}\n7", &["{a}", "{\"b\":1}", "7"]),
            ("7\n{\"type\":\"job\",\"id\":\"8\"}", &["7", "{\"type\":\"job\",\"id\":\"8\"}"]),
            (" 42 \n", &[" 42 "]),
            ("", &[]),
            ("\n \n", &[]),
            ("42\r\n7\n42\n", &["42", "7"]),
            ("web1/42\n", &["web1/42"]),
            (
                "{\"type\":\"head\",\"schema\":\"jobdoctor.stale/v1\"}\n{\"type\":\"job\",\"id\":\"42\",\"x\":1}\n\
                 {\"type\":\"unknown\",\"id\":\"43\"}\n{\"type\":\"summary\",\"stuck\":1}\n",
                &["42"],
            ),
        ];
        for (text, ids) in cases {
            assert_eq!(parse(text).unwrap(), ids, "{text:?}");
        }
    }

    #[test]
    fn what_is_neither_is_refused_with_its_line() {
        assert_eq!(parse("{\"type\":\"job\",\"id\":\"42\"}\n{\"type\":\"jo\n").unwrap_err().0, 2);
        assert_eq!(parse("{\n  \"schema\": \"jobdoctor.stale/v1\"\n}").unwrap_err().0, 1);
        assert_eq!(parse("{\"schema\":\"jobdoctor.stale/v1\"}").unwrap_err().0, 1);
        assert_eq!(parse("{\"type\":\"job\"}").unwrap_err(), (1, "the job in it has no id".to_owned()));
    }
}

//! Every page of help there is, and the examples on it.

use crate::support::cli::Doctor;

/// The words of every command, those below others included; the program itself has none.
pub fn commands() -> Vec<Vec<String>> {
    fn below(command: &clap::Command, path: &[String], all: &mut Vec<Vec<String>>) {
        all.push(path.to_vec());
        for command in command.get_subcommands() {
            below(command, &[path, &[command.get_name().to_owned()]].concat(), all);
        }
    }
    let mut all = Vec::new();
    below(&jobdoctor::cli::command(), &[], &mut all);
    assert!(all.len() > 20 && all.contains(&vec!["presets".to_owned(), "show".to_owned()]), "{all:?}");
    all
}

pub const TOPICS: [&str; 7] = ["config", "environment", "exit-codes", "json", "mapping", "presets", "recipes"];

pub fn help(command: &[String], flag: &str) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).chain([flag]).collect();
    Doctor::new().run(&words).exits(code_of_help(&words)).stdout
}

/// Help ends with 0; a monitoring plugin's with 3, as their guidelines want it.
pub fn code_of_help(words: &[&str]) -> i32 {
    if words.first() == Some(&"health") { 3 } else { 0 }
}

pub fn examples(help: &str) -> Vec<String> {
    let below = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    below.take_while(|line| !line.is_empty()).map(|line| line.trim().to_owned()).collect()
}

/// What is shown as it stands on the page of a topic.
pub fn shown(topic: &str) -> Vec<String> {
    let page = Doctor::new().run(&["man", topic]).exits(0).stdout;
    let page = match topic {
        // The command's own page has that name.
        "config" | "presets" => {
            let (_, own) = jobdoctor::cli::man_pages()
                .unwrap()
                .into_iter()
                .find(|(name, _)| *name == format!("jobdoctor-{topic}.7"))
                .unwrap();
            String::from_utf8(own).unwrap()
        }
        _ => page,
    };
    literal(&page)
}

/// What stands between `.nf` and `.fi` in a manual page, in plain text.
pub fn literal(page: &str) -> Vec<String> {
    let mut is_literal = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        match line {
            ".nf" => is_literal = true,
            ".fi" => is_literal = false,
            _ if is_literal => {
                let plain = line.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\&", "").replace("\\e", "\\");
                lines.push(plain.trim().to_owned());
            }
            _ => {}
        }
    }
    lines
}

//! What is said about the program beside its commands: topics, each a page of text in a file of its own, and the examples on
//! top of every help. Tables in the pages are made from what the code goes by.

mod config_keys;
mod examples;
mod page;
mod roff;

pub use examples::{Examples, dressed};
pub use page::Page;
pub use roff::{examples_section, manual};

use super::environment::VARIABLES;
use super::exit::Exit;
use crate::output::SCHEMA_NAMES;
use config_keys::KEYS;

/// A page.
pub struct Topic {
    /// What it is called.
    pub name: &'static str,
    /// What it is about, in the list of pages.
    pub about: &'static str,
    text: &'static str,
}

/// The pages. `presets` is the end of that command's own help.
pub const TOPICS: [Topic; 6] = [
    Topic { name: "config", about: "the config file, key by key", text: include_str!("config.txt") },
    Topic { name: "environment", about: "every variable that is read", text: include_str!("environment.txt") },
    Topic { name: "exit-codes", about: "how it ends, and what to make of it", text: include_str!("exit-codes.txt") },
    Topic { name: "json", about: "documents for programs", text: include_str!("json.txt") },
    Topic { name: "presets", about: "the queues it knows, and your own", text: include_str!("presets.txt") },
    Topic { name: "recipes", about: "commands to copy", text: include_str!("recipes.txt") },
];

impl Topic {
    /// The page of that name.
    pub fn find(name: &str) -> Option<&'static Topic> {
        TOPICS.iter().find(|topic| topic.name == name)
    }

    /// Its text, with the tables in it.
    pub fn page(&self) -> Page {
        Page::parse(self.text, |table| match table {
            "exit-codes" => Exit::ALL.iter().map(|exit| (exit.code().to_string(), exit.meaning().to_owned())).collect(),
            "environment" => pairs(&VARIABLES),
            "config-keys" => pairs(&KEYS),
            "documents" => SCHEMA_NAMES.iter().map(|name| (format!("jobdoctor.{name}/v1"), String::new())).collect(),
            _ => Vec::new(),
        })
    }
}

fn pairs(table: &[(&str, &str)]) -> Vec<(String, String)> {
    table.iter().map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned())).collect()
}

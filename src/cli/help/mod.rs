//! Topics of help, each a page in Markdown whose tables may come from the code, and the examples on top of every
//! command's help.

mod examples;
mod page;

pub use examples::{Examples, Form, dressed};
pub use page::{Block, Page};

use super::environment::VARIABLES;
use super::exit::ENDS;
use super::setting::explained;
use crate::output::SCHEMA_NAMES;

/// A page of help that belongs to no single command.
pub struct Topic {
    /// Its name, as after `jobdoctor help`.
    pub name: &'static str,
    /// Its subject, for the list of topics.
    pub about: &'static str,
    text: &'static str,
}

/// Every topic. `presets` also ends the help of the command of that name.
pub const TOPICS: [Topic; 7] = [
    Topic { name: "config", about: "keys of the config file", text: include_str!("config.md") },
    Topic { name: "environment", about: "environment variables", text: include_str!("environment.md") },
    Topic { name: "exit-codes", about: "what each exit code means", text: include_str!("exit-codes.md") },
    Topic { name: "json", about: "JSON documents and their schemas", text: include_str!("json.md") },
    Topic {
        name: "mapping",
        about: "keys and examples of a mapping, for your own table",
        text: include_str!("../../../docs/mapping.md"),
    },
    Topic { name: "presets", about: "known queues, and mappings of your own tables", text: include_str!("presets.md") },
    Topic { name: "recipes", about: "commands to copy", text: include_str!("recipes.md") },
];

impl Topic {
    pub fn find(name: &str) -> Option<&'static Topic> {
        TOPICS.iter().find(|topic| topic.name == name)
    }

    /// Its page, tables filled in.
    pub fn page(&self) -> Page {
        Page::markdown(self.text, |table| match table {
            "exit-codes" => ENDS.iter().map(|end| (end.code.to_string(), end.meaning.to_owned())).collect(),
            "environment" => {
                VARIABLES.iter().map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned())).collect()
            }
            "config-keys" => explained(),
            "documents" => SCHEMA_NAMES.iter().map(|name| (format!("jobdoctor.{name}/v1"), String::new())).collect(),
            _ => Vec::new(),
        })
    }
}

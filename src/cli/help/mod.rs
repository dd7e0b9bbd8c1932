//! Topics of help, each a page in Markdown, and the examples on top of every command's help.

mod page;

pub use page::{Block, Page};

use super::environment::VARIABLES;
use super::setting::explained;
use crate::cli::exit::ENDS;
use crate::output::format::Screen;
use crate::output::schema_names;
use clap::builder::{Resettable, StyledStr};
use clap::{Arg, Command};

/// A page of help that belongs to no single command.
pub struct Topic {
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

    pub fn page(&self) -> Page {
        Page::markdown(self.text, |table| match table {
            "exit-codes" => ENDS.iter().map(|end| (end.code.to_string(), end.meaning.to_owned())).collect(),
            "environment" => {
                VARIABLES.iter().map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned())).collect()
            }
            "config-keys" => explained(),
            "documents" => schema_names().iter().map(|name| (format!("jobdoctor.{name}/v1"), String::new())).collect(),
            _ => Vec::new(),
        })
    }
}

/// First line of the examples in a command's `after_help`.
const TITLE: &str = "Examples:\n";
/// The most examples that `-h` shows.
const MOST_EXAMPLES: usize = 3;
/// Commands with at most so many options show all of them in `-h`.
const FEW_OPTIONS: usize = 8;
/// The options that `-h` shows of a command with more options, by their ids.
const COMMON: [&str; 17] = [
    "apply",
    "critical",
    "db",
    "exit_code",
    "help",
    "host",
    "limit",
    "older",
    "output",
    "owner",
    "queue",
    "restart",
    "target",
    "to",
    "wait",
    "warning",
    "watch",
];

/// Which form of the help a command line is dressed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Short,
    Long,
}

pub struct Examples {
    /// One a line, as written.
    pub lines: Vec<String>,
    /// The rest of the command's `after_help`.
    pub rest: Option<String>,
}

impl Examples {
    /// The examples of a command, before [`dressed`] has moved them.
    pub fn of(command: &Command) -> Option<Examples> {
        let after = command.get_after_help()?.to_string();
        let (lines, rest) = match after.strip_prefix(TITLE)?.split_once("\n\n") {
            Some((lines, rest)) => (lines, Some(rest.to_owned())),
            None => (after.strip_prefix(TITLE)?, None),
        };
        Some(Examples { lines: lines.lines().map(str::to_owned).collect(), rest })
    }
}

/// Moves examples to the top of the help, hides the less common options from `-h`, and lists the topics.
pub fn dressed(root: Command, form: Form) -> Command {
    let topics = TOPICS.iter().map(|topic| format!("\n  {:11}  {}", topic.name, topic.about));
    let topics = format!("Topics (jobdoctor help TOPIC):{}", topics.collect::<String>());
    let rest = match Examples::of(&root).and_then(|examples| examples.rest) {
        Some(rest) => format!("{topics}\n\n{rest}"),
        None => topics,
    };
    let root = with_examples_on_top(root, form);
    // `-h` of the program is about its commands.
    root.after_long_help(rest).mut_args(|option| option.hide_short_help(true))
}

fn with_examples_on_top(command: Command, form: Form) -> Command {
    let command = command.mut_subcommands(|below| with_examples_on_top(below, form));
    let has_few = command.get_opts().count() <= FEW_OPTIONS;
    let command = command.mut_args(|arg| {
        let is_common = has_few || arg.is_positional() || COMMON.contains(&arg.get_id().as_str());
        let arg = arg.hide_short_help(!is_common);
        if form == Form::Long { arg } else { in_short(arg) }
    });
    let Some(Examples { lines, rest }) = Examples::of(&command) else { return command };
    let header = *command.get_styles().get_header();
    let shown = if form == Form::Short { MOST_EXAMPLES } else { lines.len() };
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{header}Examples:{header:#}\n{}\n\n\
         {{all-args}}{{after-help}}",
        lines.get(..shown).unwrap_or(&lines).join("\n")
    );
    let page = Topic::find(command.get_name())
        .map(|topic| topic.page().render(&Screen { width: None, color: false, ..Screen::default() }));
    let rest = rest.into_iter().chain(page).collect::<Vec<_>>().join("\n\n");
    let rest = (!rest.is_empty()).then(|| StyledStr::from(rest));
    command
        .help_template(StyledStr::from(template))
        .after_help(Resettable::Reset)
        .after_long_help(Resettable::from(rest))
}

/// The option below no heading, and with as much of its help as tells it from others.
fn in_short(arg: Arg) -> Arg {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let end = [". ", " [", " ("].iter().filter_map(|end| help.find(end)).min().unwrap_or(help.len());
    let help = help.get(..end).map(str::to_owned);
    arg.help(Resettable::from(help.map(StyledStr::from))).help_heading(Resettable::Reset)
}

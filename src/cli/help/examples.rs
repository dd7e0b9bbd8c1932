//! Puts the examples of a command between its usage and its options.

use super::{TOPICS, Topic};
use crate::output::format::Screen;
use clap::Command;
use clap::builder::{Resettable, StyledStr};

/// First line of the examples in a command's `after_help`.
const TITLE: &str = "Examples:\n";

/// The examples of a command.
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

/// Moves the examples of each command to the top of its help, and lists the topics.
pub fn dressed(root: Command) -> Command {
    let topics = TOPICS.iter().map(|topic| format!("\n  {:11}  {}", topic.name, topic.about));
    let topics = format!("Topics (jobdoctor help TOPIC):{}", topics.collect::<String>());
    let rest = match Examples::of(&root).and_then(|examples| examples.rest) {
        Some(rest) => format!("{topics}\n\n{rest}"),
        None => topics,
    };
    with_examples_on_top(root).after_help(rest)
}

fn with_examples_on_top(command: Command) -> Command {
    let command = command.mut_subcommands(with_examples_on_top);
    let Some(Examples { lines, rest }) = Examples::of(&command) else { return command };
    let header = *command.get_styles().get_header();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{header}Examples:{header:#}\n{}\n\n\
         {{all-args}}{{after-help}}",
        lines.join("\n")
    );
    let topic = Topic::find(command.get_name());
    let command =
        command.help_template(StyledStr::from(template)).after_help(Resettable::from(rest.map(StyledStr::from)));
    match topic {
        Some(topic) => command.after_long_help(topic.page().render(&Screen { width: None, color: false })),
        None => command,
    }
}

use super::{Cli, command};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::help::{TOPICS, Topic};
use crate::preset::did_you_mean;

/// `jobdoctor help`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor help exit-codes
  jobdoctor help sweep
  jobdoctor help presets show")]
pub struct Args {
    /// A topic, or a command
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let mut found = &command();
    for (n, word) in args.words.iter().enumerate() {
        match (found.find_subcommand(word), Topic::find(word)) {
            (Some(below), _) => found = below,
            (None, Some(topic)) if n == 0 && args.words.len() == 1 => {
                let screen = context.ui.screen();
                context.ui.report(|out| out.write_all(topic.page().render(&screen).as_bytes()))?;
                return Ok(Exit::Done);
            }
            (None, _) => return Err(unknown(word, found, n == 0)),
        }
    }
    // Clap prints the help, as for `--help`.
    let words = ["jobdoctor"].into_iter().chain(args.words.iter().map(String::as_str)).chain(["--help"]);
    match Cli::parsed(words.map(Into::into)) {
        Err(help) if !help.use_stderr() => {
            // A closed pipe is no reason to fail.
            let _ = help.print();
            Ok(Exit::Done)
        }
        _ => Err(CliError::new(Exit::Internal, "the help of this command cannot be printed")),
    }
}

fn unknown(word: &str, found: &clap::Command, has_topics: bool) -> CliError {
    let topics = TOPICS.iter().map(|topic| topic.name).filter(|_| has_topics);
    let commands = found.get_subcommands().map(|command| command.get_name());
    let hint = did_you_mean(word, commands.chain(topics.clone()));
    let what = if has_topics { "command or topic" } else { "command" };
    let error = CliError::new(Exit::Usage, format!("there is no {what} `{word}`{hint}"));
    match has_topics {
        true => error
            .hint(format!("topics: {}; `jobdoctor --help` lists the commands", topics.collect::<Vec<_>>().join(", "))),
        false => error,
    }
}

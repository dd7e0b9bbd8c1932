//! Commands that print what is compiled in: help, manual pages, schemas and completions.

use super::{Cli, command, plain_command};
use crate::cli::completion;
use crate::cli::generated::man_pages;
use crate::cli::help::{TOPICS, Topic};
use crate::cli::tips::no_database;
use crate::cli::{CliError, Context, Exit};
use crate::output::format::json;
use crate::output::{schema, schema_names};
use crate::preset::did_you_mean;
use clap::builder::{StringValueParser, TypedValueParser};
use clap_complete::Shell;

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor help exit-codes
  jobdoctor help sweep
  jobdoctor help presets show")]
pub struct HelpArgs {
    /// A topic, or a command
    #[arg(value_name = "TOPIC", value_parser = StringValueParser::new().try_map(no_database))]
    words: Vec<String>,
}

pub(super) fn print_help(args: &HelpArgs, context: &Context) -> Result<Exit, CliError> {
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
    match Cli::parsed(&mut plain_command(), &words.map(Into::into).collect::<Vec<_>>()) {
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
    let list = || format!("topics: {}; `jobdoctor --help` lists the commands", topics.collect::<Vec<_>>().join(", "));
    CliError::usage(format!("there is no {what} `{word}`{hint}")).hints(has_topics.then(list))
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor man | man -l -
  jobdoctor man stale > jobdoctor-stale.1
  jobdoctor man exit-codes > jobdoctor-exit-codes.7")]
pub struct ManArgs {
    /// The command or topic; without one, the page of the program
    #[arg(value_name = "COMMAND", value_parser = StringValueParser::new().try_map(no_database))]
    name: Option<String>,
}

pub(super) fn print_man_page(args: &ManArgs, context: &Context) -> Result<Exit, CliError> {
    let pages = man_pages().map_err(|error| CliError::new(Exit::Internal, error.to_string()))?;
    let name = args.name.as_ref().map_or_else(|| "jobdoctor".to_owned(), |name| format!("jobdoctor-{name}"));
    let is_it = |file: &str| file.rsplit_once('.').is_some_and(|(page, _)| page == name);
    let Some((_, page)) = pages.iter().find(|(file, _)| is_it(file)) else {
        let written = args.name.as_deref().unwrap_or_default();
        let known = pages.iter().filter_map(|(file, _)| Some(file.strip_prefix("jobdoctor-")?.rsplit_once('.')?.0));
        let message = format!("there is no command or topic `{written}`{}", did_you_mean(written, known));
        return Err(CliError::usage(message));
    };
    context.ui.report(|out| out.write_all(page))?;
    Ok(Exit::Done)
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor schema stale > stale.schema.json")]
pub struct SchemaArgs {
    /// The document
    #[arg(value_name = "DOCUMENT", value_parser = clap::builder::PossibleValuesParser::new(schema_names()))]
    name: String,
}

pub(super) fn print_schema(args: &SchemaArgs, context: &Context) -> Result<Exit, CliError> {
    let schema = schema(&args.name).ok_or_else(|| CliError::usage(format!("there is no document `{}`", args.name)))?;
    context.ui.report(|out| json(&schema, out))?;
    Ok(Exit::Done)
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor completions bash > /etc/bash_completion.d/jobdoctor

In ~/.bashrc or ~/.zshrc (after compinit): source <(jobdoctor completions bash), or zsh; in ~/.config/fish/config.fish:
jobdoctor completions fish | source. The script asks jobdoctor for targets, presets, queues, owners and runs, for at most
200 ms, and never writes. `JOBDOCTOR_COMPLETE=bash jobdoctor` prints it too, with the full path of the program.")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn print_completions(args: &CompletionsArgs, context: &Context) -> Result<Exit, CliError> {
    context.ui.report(|out| out.write_all(&completion::script(args.shell)))?;
    Ok(Exit::Done)
}

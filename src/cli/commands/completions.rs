use crate::cli::completion;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use clap_complete::Shell;

/// `jobdoctor completions`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor completions bash > /etc/bash_completion.d/jobdoctor

In ~/.bashrc or ~/.zshrc (after compinit): source <(jobdoctor completions bash), or zsh; in ~/.config/fish/config.fish:
jobdoctor completions fish | source. The script asks jobdoctor for targets, presets, queues, owners and runs, for at most
200 ms, and never writes. `JOBDOCTOR_COMPLETE=bash jobdoctor` prints it too, with the full path of the program.")]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    context.ui.report(|out| out.write_all(&completion::script(args.shell)))?;
    Ok(Exit::Done)
}

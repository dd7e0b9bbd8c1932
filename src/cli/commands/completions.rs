use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::generated::completions;
use crate::cli::help::dressed;
use clap_complete::Shell;

/// `jobdoctor completions`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor completions bash > /etc/bash_completion.d/jobdoctor")]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    context.ui.report(|out| out.write_all(&completions(args.shell, dressed(context.program()))))?;
    Ok(Exit::Done)
}

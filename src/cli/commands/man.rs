use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::generated::man_pages;
use crate::preset::did_you_mean;

/// `jobdoctor man`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor man | man -l -
  jobdoctor man stale > jobdoctor-stale.1
  jobdoctor man exit-codes > jobdoctor-exit-codes.7")]
pub struct Args {
    /// The command or topic; without one, the page of the program
    #[arg(value_name = "COMMAND")]
    name: Option<String>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let pages = man_pages(context.program()).map_err(|error| CliError::new(Exit::Internal, error.to_string()))?;
    let name = args.name.as_ref().map_or_else(|| "jobdoctor".to_owned(), |name| format!("jobdoctor-{name}"));
    let is_it = |file: &str| file.rsplit_once('.').is_some_and(|(page, _)| page == name);
    let Some((_, page)) = pages.iter().find(|(file, _)| is_it(file)) else {
        let written = args.name.as_deref().unwrap_or_default();
        let known = pages.iter().filter_map(|(file, _)| Some(file.strip_prefix("jobdoctor-")?.rsplit_once('.')?.0));
        let message = format!("there is no command or topic `{written}`{}", did_you_mean(written, known));
        return Err(CliError::new(Exit::Usage, message));
    };
    context.ui.report(|out| out.write_all(page))?;
    Ok(Exit::Done)
}

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::output::format::json;
use crate::output::{SCHEMA_NAMES, schema};

/// `jobdoctor schema`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor schema stale > stale.schema.json")]
pub struct Args {
    /// The document
    #[arg(value_name = "DOCUMENT", value_parser = clap::builder::PossibleValuesParser::new(SCHEMA_NAMES))]
    name: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let schema = schema(&args.name)
        .ok_or_else(|| CliError::new(Exit::Usage, format!("there is no document `{}`", args.name)))?;
    context.ui.report(|out| json(&schema, out))?;
    Ok(Exit::Done)
}

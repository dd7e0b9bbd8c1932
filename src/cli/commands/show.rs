use crate::cli::args::{EvidenceArgs, OlderArgs, OutputArgs, StoreArgs, TimeArg, few_formats};
use crate::cli::evidence_files::EvidenceFiles;
use crate::cli::{CliError, Context, Exit, READING, Settings};
use crate::ops;
use crate::output::{Target, no_such_job, show};
use std::path::PathBuf;

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", few_formats))]
#[command(after_help = "\
Examples:
  jobdoctor show 42 --db queue.db
  jobdoctor show 42 43 --older 5m --db queue.db -o json")]
pub struct Args {
    /// The jobs, by id
    #[arg(required = true, value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,
    #[command(flatten)]
    older: OlderArgs,
    /// Read the live owners from a list, one a line, as `stale` does; - is standard input. Reads every claim in flight
    #[arg(long, value_name = "FILE")]
    alive_from: Option<PathBuf>,
    /// Show the payload too, at most so many bytes of it [default without =: 4096]
    #[arg(long, value_name = "BYTES", num_args = 0..=1, require_equals = true, default_missing_value = "4096")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    payload: Option<u32>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    time: TimeArg,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    let evidence = EvidenceArgs { alive_from: args.alive_from.clone(), snapshot_file: None };
    let evidence = EvidenceFiles::read(&evidence, &settings, context, READING)?;
    let store = context.store(&settings)?;
    let mut snapshot = context.snapshot_of(store.as_ref(), &settings, "show")?;
    let (policy, list) = evidence.add_to(&mut snapshot, settings.policy(args.older.older), context, false)?;
    list.wrong.iter().for_each(|why| context.ui.warn(why));
    list.unmatched.iter().for_each(|warning| context.ui.warn_about_setup(warning));
    let payload = args.payload.map(|bytes| bytes as usize);
    let journals = context.environment.journals();
    let document = ops::show(&mut snapshot, &args.ids, &policy, payload, journals.as_ref())?;
    let missing = missing(&document.target, &document.not_found);
    if let Some(error) = missing.as_ref().filter(|_| document.jobs.is_empty()) {
        return Err(error.clone());
    }
    context.ui.print_page(args.output.format(), &document, |screen| show(&document, screen))?;
    Ok(missing.map_or(Exit::Done, |error| context.ui.error_after_report(&error)))
}

/// The error for ids that name no job; `None` if each of them names one.
pub(super) fn missing(target: &Target, ids: &[String]) -> Option<CliError> {
    let error = (!ids.is_empty()).then(|| CliError::new(Exit::NoInput, no_such_job(&target.table, ids)))?;
    Some(match target.key.as_slice() {
        [_] => error,
        parts => error.hint(format!("ids here have {} parts: {}", parts.len(), parts.join("/"))),
    })
}

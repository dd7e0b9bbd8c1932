use super::selection::selection;
use crate::cli::args::{IdArgs, ListOutputArgs, OlderArgs, SelectArgs, StoreArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::present::present;
use crate::ops;
use crate::policy::Policy;
use crate::render::{count, grouped};
use crate::report::Stale;

/// `jobdoctor stale`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor stale --db queue.db --older 5m
  jobdoctor stale --db postgres://ops@db/app --queue 'mail*' --limit 10
  jobdoctor stale --db queue.db -o json | jq '.jobs | length'")]
pub struct Args {
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    ids: IdArgs,
    /// End with 1 if stuck or unknown claims are found
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: ListOutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let selection = selection(&args.select, &args.ids)?;
    let (settings, mut look) = context.look(&args.store, "stale")?;
    let policy = Policy { older: args.older.older.or(settings.target.older), ..Policy::default() };
    let document = ops::stale(&mut look, &selection, &policy)?;
    context.warn_if_blind(&mut look, document.summary.in_flight)?;
    drop(look);
    let named = &args.ids;
    if !named.id.is_empty() && document.summary.stuck + document.summary.unknown < named.id.len() as u64 {
        context.ui.note("the other jobs named are not stuck, not in flight, or not there: `jobdoctor show` tells");
    }
    let format = args.output.format();
    present(&context.ui, format, &document)?;
    if !format.is_machine() {
        summary(context, &document);
    }
    let found = document.summary.stuck + document.summary.unknown > 0;
    Ok(if args.exit_code && found { Exit::Found } else { Exit::Done })
}

fn summary(context: &Context, document: &Stale) {
    let summary = &document.summary;
    let listed = document.unknown.len() as u64;
    let unknown = match summary.unknown {
        0 => String::new(),
        n if listed < n => format!(", {} unknown (of which {} are shown)", grouped(n), grouped(listed)),
        n => format!(", {} unknown", grouped(n)),
    };
    let shown = document.jobs.len().min(50);
    let more = match summary.stuck.saturating_sub(shown as u64) {
        0 => String::new(),
        _ if summary.truncated => format!("; the {} longest silent are shown", summary.returned),
        _ => "; the 50 longest silent are shown, --limit N shows more".to_owned(),
    };
    context.ui.note(&format!(
        "{} stuck{unknown}, of {} in flight{more}",
        count(summary.stuck, "job", "jobs"),
        grouped(summary.in_flight)
    ));
    if summary.stuck > 0 {
        context.ui.hint(&format!("to see what would be done: {}", context.next_command("reclaim", &[])));
    }
}

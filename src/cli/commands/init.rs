use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::{CliError, Context, Exit, READING, Settings};
use crate::ops;
use crate::output::advice::LEDGER_COUNTS;
use crate::output::format::{Format, json};
use crate::preset::LEDGER;

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", few_formats))]
#[command(after_help = "\
Examples:
  jobdoctor init --db queue.db                           a new SQLite file, or a table in an existing one
  jobdoctor init --db postgres://owner@db/app --print    print the statements
  jobdoctor init --ledger --db postgres://owner@db/app   the ledger of an existing queue")]
pub struct Args {
    /// Print the statements and run none
    #[arg(long)]
    print: bool,
    /// Create only the table jobdoctor_ledger in the schema of an existing queue; each action is then recorded there,
    /// in the same transaction
    #[arg(long)]
    ledger: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    if let Some(target) = settings.target_name.as_deref().filter(|_| settings.target.read_only && !args.print) {
        return Err(CliError::new(Exit::Refused, format!("target {target} is read-only in the config file")));
    }
    if let Some(preset) = settings.preset.as_deref().filter(|preset| !args.ledger && *preset != "lease") {
        return Err(CliError::usage(format!("init creates the reference schema, preset lease, not {preset}"))
            .hint("create the tables of a queue library with the library itself"));
    }
    let store = context.store(&settings)?;
    let limits = settings.limits("init", READING, &context.interrupt, true);
    let document = if args.ledger {
        let snapshot = settings.session(store.as_ref(), &limits).snapshot()?;
        context.report_queue(&snapshot);
        ops::init_ledger(store.as_ref(), &limits, snapshot, !args.print)?
    } else {
        ops::init(store.as_ref(), &limits, &settings.place, !args.print)?
    };
    let statements = || document.statements.iter().map(|statement| format!("{statement};\n")).collect::<String>();
    context.ui.report(|out| match args.output.format() {
        Format::Json => json(&document, out),
        Format::Table if args.print => out.write_all(statements().as_bytes()),
        _ => Ok(()),
    })?;
    if document.created {
        let table = if args.ledger { LEDGER } else { settings.place.table.as_deref().unwrap_or("jobs") };
        context.ui.note(&format!("created table {table} and its indexes in {}", document.database));
        if args.ledger && store.engine().has_roles() {
            context.ui.note(LEDGER_COUNTS);
        }
    }
    Ok(Exit::Done)
}

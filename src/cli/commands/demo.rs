use crate::cli::args::{StoreArgs, ToneArgs};
use crate::cli::next_command::shell_word;
use crate::cli::{CliError, Context, Exit, READING, Settings};
use crate::history::RecordOptions;
use crate::ops::{self, ApplyOptions, Guard, Mode, Selection};
use crate::output::format::{Format, inert};
use crate::output::{Collector, Document, ROWS, show};
use crate::policy::{Delay, Policy};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor demo                 make demo.db here
  jobdoctor demo incident.db     make another file")]
pub struct Args {
    /// The file to create; only a file of an earlier demo is replaced
    #[arg(value_name = "FILE", default_value = "demo.db")]
    file: PathBuf,
    #[command(flatten)]
    tone: ToneArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    ops::demo(&args.file)?;
    let file = args.file.display().to_string();
    let mut db = OsString::from("sqlite:");
    db.push(&args.file);
    let store_args = StoreArgs { db: Some(db), no_config: true, ..StoreArgs::default() };
    let settings = Settings::resolve(&store_args, &context.environment)?;
    let store = settings.database()?.store()?;
    let limits = settings.limits("demo", READING, &context.interrupt, false);
    let (selection, policy) = (Selection::default(), Policy::default());
    let session = settings.session(store.as_ref(), &limits);
    let mut snapshot = session.snapshot()?;
    let stale = ops::stale(&mut snapshot, &selection, &policy, Collector::first(ROWS), &mut |_, _| false)?;
    let shown = ops::show(&mut snapshot, &["5".to_owned()], &policy, None, None)?;
    let plan = ops::plan(&mut snapshot, &selection, &policy)?.ready(snapshot);
    let dry_run = ApplyOptions {
        schema: "jobdoctor.reclaim/v1",
        mode: Mode::Plan,
        guard: Guard::default(),
        run_id: String::new(),
        later: Delay::default(),
        fast: false,
        sweep_lock: None,
        record: RecordOptions::default(),
        next: None,
    };
    let plan = ops::reclaim(store.as_ref(), &limits, plan, &dry_run)?;
    let screen = context.ui.screen();
    let file = inert(&shell_word(&file)).into_owned();
    context.ui.report(|out| {
        writeln!(out, "Made {file}: a queue in which two hosts died some minutes ago.\n")?;
        writeln!(out, "$ jobdoctor stale --db {file}\n{}", stale.table(&screen, Format::Table))?;
        writeln!(out, "$ jobdoctor show 5 --db {file}\n{}", show(&shown, &screen))?;
        writeln!(out, "$ jobdoctor reclaim --db {file}\n{}", plan.document.table(&screen, Format::Table))?;
        writeln!(out, "Nothing was written to the queue. Its living workers hold leases for 30 days. Go on with:\n")?;
        writeln!(out, "  jobdoctor owners --db {file}             who is alive and who is dead")?;
        writeln!(out, "  jobdoctor reclaim --db {file} --apply    carry the plan out")?;
        writeln!(out, "  jobdoctor stale --db {file} -o json      the list for scripts")?;
        writeln!(out, "  rm {file}                                remove it")
    })?;
    Ok(Exit::Done)
}

use crate::cli::args::{ListArgs, OlderArgs, SelectArgs, TargetsArgs, TimeArg};
use crate::cli::targets::Several;
use crate::cli::{CliError, Context, Exit, Settings};
use crate::ops;
use crate::output::format::{Format, count, grouped};
use crate::output::{OwnerEntry, Owners};

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor owners --db queue.db
  jobdoctor owners --db queue.db --host web1
  jobdoctor owners --db queue.db --dead")]
pub struct Args {
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    select: SelectArgs,
    /// List only owners whose claims all prove their death; -o name lists no others unless --silent asks for them
    #[arg(long)]
    dead: bool,
    /// List only owners that are dead, or silent: all of their claims are stuck by age alone, as slow jobs are too
    #[arg(long, conflicts_with = "dead")]
    silent: bool,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    #[command(flatten)]
    time: TimeArg,
}

impl Args {
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("owners", &mut self.list.store, &mut self.targets)
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    args.list.check(&Owners::titles(args.time.times()))?;
    let selection = args.select.selection()?;
    let settings = Settings::resolve(&args.list.store, &context.environment)?;
    let mut snapshot = context.snapshot(&settings, "owners")?;
    let policy = settings.policy(args.older.older);
    let format = args.list.output.format();
    let is_listed = match (args.silent, args.dead || format == Format::Name) {
        (true, _) => |owner: &OwnerEntry| owner.is_dead() || owner.is_silent(),
        (false, true) => OwnerEntry::is_dead,
        (false, false) => |_: &OwnerEntry| true,
    };
    let document = ops::owners(&mut snapshot, &selection, &policy, is_listed)?;
    context.warn_of_caveats(&document.head.warnings, document.owners.is_empty());
    drop(snapshot);
    context.ui.print(format, &document)?;
    if !format.is_machine() {
        let summary = &document.summary;
        let silent = if summary.silent > 0 { format!("{} silent, ", grouped(summary.silent)) } else { String::new() };
        let late = if summary.late > 0 { format!("{} late, ", grouped(summary.late)) } else { String::new() };
        context.ui.note(&format!(
            "{} with {}; {} dead, {silent}{late}{} stuck",
            count(summary.owners, "owner", "owners"),
            count(summary.in_flight, "claim", "claims"),
            grouped(summary.dead),
            count(summary.stuck, "claim", "claims"),
        ));
        if summary.stuck > 0 {
            context.ui.hint(&format!("to list the stuck claims: {}", context.next_command("stale", &[])));
        }
    }
    Ok(Exit::Done)
}

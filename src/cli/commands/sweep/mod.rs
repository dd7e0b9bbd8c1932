mod lock;
mod scope;

use super::pass::{Options, PassCommand, ReportFile};
use crate::cli::args::{
    ActArgs, ConfirmArgs, EvidenceArgs, ListArgs, OlderArgs, PlanArgs, SelectArgs, TargetsArgs, TextfileArgs, TimeArg,
    UnattendedArgs, markdown_too,
};
use crate::cli::atomic_file::is_same;
use crate::cli::best_effort;
use crate::cli::monitor::Metrics;
use crate::cli::signal::sleep;
use crate::cli::targets::Several;
use crate::cli::{CliError, Context, Exit, Settings};
use crate::ops::{self, AlsoInterrupted, Mode, PlanSource, Selection, Snapshot};
use crate::output::Reclaim;
use crate::policy::INTERRUPTED_WITHIN;
use crate::store::chance;
use lock::LockRequest;
use scope::{Before, Scope, parse_before, refuse_waiting};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", markdown_too))]
#[command(after_help = "\
Examples:
  jobdoctor sweep --apply                                    from cron, with the target's settings
  jobdoctor sweep --apply --min-interval 60s --splay 10s     from cron on several hosts
  jobdoctor sweep --restart --host \"$(hostname)\" --apply     before this host's workers start
  jobdoctor sweep --restart --owner 'web1:*' --apply         by owner name instead of host
  jobdoctor sweep --restart --host \"$(hostname)\" --started-before boot --apply
  jobdoctor sweep --restart --alive-from alive.txt --apply   owners that are not on the list
  jobdoctor sweep --restart --all-owners --apply             while every worker is stopped")]
pub struct Args {
    /// Judge by who the owner is, whatever the age: its jobs are dead. Needs --host, --owner, --all-owners,
    /// --alive-from or --started-before; never touches a claim made after the sweep began
    #[arg(long, conflicts_with_all = ["older", "snapshot_file"])]
    restart: bool,
    /// With --restart: every owner is dead, and so are claims without one
    #[arg(long, requires = "restart", conflicts_with_all = ["host", "owner", "alive_from"])]
    all_owners: bool,
    /// With --restart: only claims made before this instant, as in 2026-11-20T10:00:00Z, are dead; or before the boot
    /// of this host, which needs --host, --owner or --alive-from to say whose claims are this host's. In a Linux
    /// container the boot is that of the host under it
    #[arg(long, value_name = "INSTANT|boot", requires = "restart", value_parser = parse_before)]
    started_before: Option<Before>,
    /// End with 0 unless the command line is wrong or a signal ends it, and take at most 30s, or --timeout, in all. One
    /// line on stderr says how it would have ended. For hooks that must not keep workers from starting
    #[arg(long)]
    best_effort: bool,
    #[command(flatten)]
    act: ActArgs,
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    unattended: UnattendedArgs,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    #[command(flatten)]
    textfile: TextfileArgs,
    #[command(flatten)]
    time: TimeArg,
}

impl Args {
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("sweep", &mut self.list.store, &mut self.targets)
            .single_only("--expect", self.act.expect.is_some(), "a digest belongs to one plan")
            .file("--snapshot-file", self.evidence.snapshot_file.as_mut())
            .list("--alive-from", self.evidence.alive_from.as_deref())
            .file("--report-file", self.unattended.report_file.as_mut())
            .file("--textfile", self.textfile.textfile.as_mut())
    }

    /// How long it takes at most, where it must not fail.
    pub(super) fn best_effort(&self) -> Option<Duration> {
        self.best_effort.then(|| self.list.store.timeout.unwrap_or(best_effort::LONGEST))
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    if !args.best_effort {
        return run_once(args, context);
    }
    // A mistake in the command line must be seen; one in a variable, a file or the database must not stop a start.
    Scope::of(args, &mut args.select.selection()?)?;
    let at_run_time = |exit| if exit == Exit::Usage { Exit::Config } else { exit };
    run_once(args, context).map_err(|error| CliError { exit: at_run_time(error.exit), ..error })
}

fn run_once(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let have_ended = args.act.mode() != Mode::Plan;
    args.list.check(&Reclaim::titles(have_ended, false, args.time.times()))?;
    let (report, textfile) = (args.unattended.report_file.as_deref(), args.textfile.textfile.as_deref());
    if let (Some(report), Some(textfile)) = (report, textfile)
        && is_same(report, textfile)
    {
        let message = format!("--report-file {} and --textfile are the same file", report.display());
        return Err(CliError::usage(message).hint("name two files: each is replaced as a whole"));
    }
    let report = report.map(ReportFile::at).transpose()?;
    let mut metrics = Metrics::begin("sweep", textfile, &args.list.store, context)?.with_outcomes();
    let ended = sweep(args, context, report.as_ref(), &mut metrics);
    if let (Err(error), Some(report)) = (&ended, &report) {
        let document = error.clone().after(context.caught.signal()).document();
        report.write(&document).unwrap_or_else(|error| context.ui.side_error(&error.message));
    }
    metrics.write_or_report(context, &ended);
    ended
}

fn sweep(args: &Args, context: &Context, report: Option<&ReportFile>, metrics: &mut Metrics) -> Result<Exit, CliError> {
    if let Some(splay) = args.unattended.splay.filter(|_| !args.restart) {
        wait(splay, context)?;
        metrics.began = Instant::now();
    }
    let mut store = args.list.store.clone();
    store.timeout = args.best_effort().map(best_effort::working_time).or(store.timeout);
    let settings = Settings::resolve(&store, &context.environment)?;
    metrics.set_target(settings.target_name.as_deref());
    let mut selection = args.select.selection()?;
    selection.with_due = !args.restart && args.act.mode() == Mode::Plan;
    let scope = Scope::of(args, &mut selection)?;
    if scope.is_of_some_owners() {
        refuse_waiting(&args.unattended)?;
    }
    let lock = LockRequest::of(args, &scope, &settings);
    let options = Options::of("sweep", &args.act, &args.evidence, &args.list.output);
    let mut options = options.resolve(&args.confirm, &settings)?;
    options.time += lock.wait;
    (options.is_restart, options.has_report_file) = (args.restart, report.is_some());
    // A restart sweep is about owners, and waiting jobs have none.
    selection.with_waited = !args.restart;
    let also = AlsoInterrupted { within: INTERRUPTED_WITHIN, is_overridden: options.overridden(&settings).is_some() };
    selection.with_interrupted = (settings.target.interrupted && !args.restart).then_some(also);
    let source = PlanSource::Selection(Box::new(selection.clone()));
    let pass = PassCommand::open(context, &settings, options, source)?;
    let mut snapshot = first_snapshot(&pass, &selection)?;
    let run_id = pass.run_id(&snapshot);
    // Claims made while the sweep waits belong to workers that started after it.
    let began = snapshot.now();
    let splay = args.unattended.splay.filter(|_| args.restart);
    let waits = splay.is_some() || !lock.wait.is_zero();
    let has_no_claim_time = snapshot.jobs.claim.claimed_at.is_none();
    let first =
        if args.restart && waits && has_no_claim_time { Some(Arc::new(ops::in_flight(&mut snapshot)?)) } else { None };
    if let Some(splay) = splay {
        drop(snapshot);
        wait(splay, context)?;
        metrics.began = Instant::now();
        snapshot = pass.snapshot()?;
    }
    let (mut snapshot, mut lock) = lock.acquire(&pass, snapshot, metrics)?;
    let mut policy = pass.policy().with_older(args.older.older);
    if let Some(restart) = scope.restart(&snapshot, pass.evidence.live_owners.as_ref(), began, first) {
        (policy.older, policy.restart) = (None, Some(restart));
    }
    let is_noted = !args.list.output.format().is_machine() && context.ui.is_watched();
    let (policy, list) = pass.with_evidence(&mut snapshot, policy, is_noted)?;
    metrics.measure(&mut snapshot, &selection, &policy)?;
    let plan = pass.plan(snapshot, &policy, &list)?;
    let apply = pass.apply_options(&plan, run_id, list.wrong, lock.options);
    let carried = pass.carry_out(plan, &policy, apply)?;
    lock.record_sweep(context, &carried.done);
    // Release the lock: `--verify` may watch for minutes.
    drop(lock);
    metrics.count_outcomes(&carried.done.document);
    let warn_above = settings.warn_above(args.unattended.warn_above);
    pass.end(carried, &PlanArgs::default(), warn_above.as_ref(), report)
}

/// Begins a snapshot, and refuses a queue in which nothing can be swept: a silent sweep would look like success for ever.
fn first_snapshot(pass: &PassCommand<'_>, selection: &Selection) -> Result<Snapshot, CliError> {
    let mut snapshot = pass.snapshot()?;
    pass.context.report_queue(&snapshot);
    if let Some(why) = snapshot.jobs.advice_only() {
        return Err(CliError::new(Exit::Config, format!("nothing can be swept here: {why}")));
    }
    if selection.with_interrupted.is_some() {
        ops::require_bounds(&mut snapshot, pass.options.max_stalls)?;
    }
    Ok(snapshot)
}

/// Waits for a random part of `--splay`, so that sweeps of several hosts do not begin together.
fn wait(splay: Duration, context: &Context) -> Result<(), CliError> {
    let span = splay.mul_f64(chance());
    let words = humantime::format_duration(Duration::from_millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)));
    let note = format!("beginning in {words} (--splay)");
    if context.ui.is_watched() {
        context.ui.note(&note);
    } else {
        context.ui.detail(&note);
    }
    sleep(span, &context.interrupt)
}

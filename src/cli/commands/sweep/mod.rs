mod lock;
mod report;
mod scope;
mod unknown_hosts;

use super::reclaim::{Next, Options, Run, exit, run_id};
use super::selection::selection;
use crate::cli::args::{
    ActArgs, ConfirmArgs, EvidenceArgs, IdArgs, OlderArgs, OutputArgs, SelectArgs, StoreArgs, TargetsArgs,
    TextfileArgs, ToneArgs, UnattendedArgs,
};
use crate::cli::atomic_file;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::metrics::Metrics;
use crate::cli::report_file::ReportFile;
use crate::cli::settings::Settings;
use crate::cli::splay;
use crate::cli::targets::Several;
use crate::ops::{self, PlanSource};
use crate::output::Closing;
use lock::LockRequest;
use report::Report;
use scope::{Before, Scope, parse_before, waits_for_nobody};
use std::sync::Arc;

/// `jobdoctor sweep`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor sweep --apply                                    from cron, with the target's settings
  jobdoctor sweep --apply --min-interval 60s --splay 10s             from cron on several hosts
  jobdoctor sweep --restart --host \"$(hostname)\" --apply     before this host's workers start
  jobdoctor sweep --restart --owner 'web1:*' --apply         the same, by how owners are named
  jobdoctor sweep --restart --host \"$(hostname)\" --started-before boot --apply
  jobdoctor sweep --restart --alive-from alive.txt --apply   whoever is not on the list
  jobdoctor sweep --restart --all-owners --apply             while every worker is stopped")]
pub struct Args {
    /// Judge by who the owner is, whatever the age: its jobs are dead. Needs --host, --owner, --all-owners, --alive-from or
    /// --started-before; never touches a claim made after the sweep began
    #[arg(long, conflicts_with_all = ["older", "snapshot_file"])]
    restart: bool,
    /// With --restart: every owner is dead, and so are claims without one
    #[arg(long, requires = "restart", conflicts_with_all = ["host", "owner", "alive_from"])]
    all_owners: bool,
    /// With --restart: only claims made before this instant, as in 2026-11-20T10:00:00Z, are dead; or before the boot of this
    /// host, which needs --host, --owner or --alive-from to say whose claims are this host's. In a Linux container the
    /// boot is that of the host under it
    #[arg(long, value_name = "INSTANT|boot", requires = "restart", value_parser = parse_before)]
    started_before: Option<Before>,
    #[command(flatten)]
    act: ActArgs,
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    beside: EvidenceArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    unattended: UnattendedArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    #[command(flatten)]
    textfile: TextfileArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

impl Args {
    pub(super) fn tone(&self) -> ToneArgs {
        ToneArgs { log_format: self.unattended.log_format, ..self.output.tone.clone() }
    }

    /// What is said of targets.
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("sweep", &mut self.store, &mut self.targets)
            .alone("--expect", self.act.expect.is_some(), "a digest is that of one plan")
            .alone("--emit-sql", self.act.emit_sql, "a script is for one database")
            .file("--snapshot-file", self.beside.snapshot_file.as_mut())
            .list("--alive-from", self.beside.alive_from.as_deref())
            .file("--report-file", self.unattended.report_file.as_mut())
            .file("--textfile", self.textfile.textfile.as_mut())
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let (report, textfile) = (args.unattended.report_file.as_deref(), args.textfile.textfile.as_deref());
    if let (Some(report), Some(textfile)) = (report, textfile)
        && atomic_file::is_same(report, textfile)
    {
        let message = format!("--report-file {} and --textfile are the same file", report.display());
        return Err(CliError::new(Exit::Usage, message).hint("name two: each replaces its own as a whole"));
    }
    let report = report.map(ReportFile::at).transpose()?;
    let metrics = Metrics::begin("sweep", textfile, &args.store, context)?.of_actions();
    let ended = sweep(args, context, report.as_ref(), &metrics);
    if let (Err(error), Some(report)) = (&ended, &report) {
        let document = error.clone().after(context.caught.signal()).document();
        report.write(&document).unwrap_or_else(|error| context.ui.complain(&error.message));
    }
    metrics.end_beside(context, ended)
}

fn sweep(args: &Args, context: &Context, report: Option<&ReportFile>, metrics: &Metrics) -> Result<Exit, CliError> {
    if let Some(splay) = args.unattended.splay.filter(|_| !args.restart) {
        splay::sleep(splay, &context.interrupt, &context.ui)?;
        metrics.begins_now();
    }
    let settings = Settings::resolve(&args.store, &context.environment)?;
    metrics.is_of(settings.target_name.as_deref());
    let mut selection = selection(&args.select, &IdArgs::default())?;
    let scope = Scope::of(args, &mut selection)?;
    if scope.is_of_some_owners() {
        waits_for_nobody(&args.unattended)?;
    }
    let lock = LockRequest::of(args, &scope, &settings);
    let name = ("sweep", "jobdoctor.sweep/v1");
    let options = Options::resolve(name, &args.act, &args.confirm, &settings, lock.wait)?;
    let run = Run::open(context, &settings, options, &args.beside)?;

    let mut snapshot = run.snapshot()?;
    context.say_where(&snapshot);
    if let Some(why) = snapshot.spec.advice_only() {
        // Silence would look like success for ever.
        return Err(CliError::new(Exit::Config, format!("nothing can be swept here: {why}")));
    }
    let run_id = run_id(&snapshot);
    context.ui.is_run(&run_id);
    // Whatever it waits for from here on: claims made meanwhile are those of workers that came after it.
    let began = snapshot.now();
    let splay = args.unattended.splay.filter(|_| args.restart);
    let waits = splay.is_some() || !lock.wait.is_zero();
    let tells_no_time = args.restart && waits && snapshot.spec.claim.claimed_at.is_none();
    let first = if tells_no_time { Some(Arc::new(ops::in_flight(&mut snapshot)?)) } else { None };
    if let Some(splay) = splay {
        drop(snapshot);
        splay::sleep(splay, &context.interrupt, &context.ui)?;
        metrics.begins_now();
        snapshot = run.snapshot()?;
    }
    let (mut snapshot, mut lock) = lock.acquire(&run, snapshot, metrics)?;

    let policy = run.policy().with_older(args.older.older);
    let policy = scope.policy(policy, &snapshot, run.beside.list.as_ref(), began, first);
    let format = args.output.format();
    let (policy, wrong_list) =
        run.with_evidence(&mut snapshot, policy, !format.is_machine() && context.ui.is_watched())?;
    metrics.measure(&mut snapshot, &selection, &policy)?;
    let asked = PlanSource::Selection(Box::new(selection));
    let mut plan = asked.plan(&mut snapshot, &policy)?;
    unknown_hosts::warn(context, &mut snapshot, &policy, &mut plan, args.act.apply)?;
    context.warn_if_blind(&mut snapshot, plan.in_flight())?;
    // A reader's snapshot must not stay open while writing: on SQLite it could keep the writer out.
    drop(snapshot);
    let mut plan = run.confirmed(plan, &asked, &policy)?;
    if let (PlanSource::Selection(selection), None) = (&asked, &policy.restart) {
        // A restart sweep is about owners, and a job that waits has none.
        ops::plan_waiting(&settings.session(run.store.as_ref(), &run.limits), &mut plan, selection, &policy)?;
    }
    let order = run.order(&plan, run_id, wrong_list, lock.options);
    if args.act.emit_sql {
        return run.emit(&plan, &order);
    }

    let mut follow_up = run.follow_up(&plan, &policy)?;
    let mut done = ops::reclaim(run.store.as_ref(), &run.limits, plan, &order)?;
    lock.ended(context, &done);
    // What follows may only watch, for minutes.
    drop(lock);
    metrics.note(&done.document);
    follow_up.run_before_report(format, &mut done);
    let warn_above = settings.warn_above(args.unattended.warn_above);
    let closing = Closing {
        is_machine: format.is_machine(),
        is_watched: context.ui.is_watched(),
        after: &done.after,
        stop: done.stop.as_ref().map(ToString::to_string),
        warn_above: warn_above.as_ref(),
        save_plan: None,
        next: &Next { context, name: "sweep", asked: &asked, save_plan: None },
    };
    let is_brief = !args.output.is_said() && args.act.apply && !context.ui.is_watched();
    let printed = Report { context, format, is_brief, closing }.print(&done);
    follow_up.run(&mut done);
    report.iter().for_each(|report| report.keep(context, &done.document));
    let exit = exit(&done, &asked).worse(follow_up.exit);
    // What was done counts, even if it cannot be printed.
    printed.map(|()| exit).map_err(|error| CliError { exit: error.exit.worse(exit), ..error })
}

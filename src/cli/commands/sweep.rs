use super::reclaim::{Reclaiming, Unattended};
use super::selection::selection;
use crate::cli::args::{
    ActArgs, BesideArgs, ConfirmArgs, IdArgs, ListOutputArgs, OlderArgs, SelectArgs, StoreArgs, TargetsArgs,
    TextfileArgs, ToneArgs, UnattendedArgs,
};
use crate::cli::boot::Boot;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::metrics::Metrics;
use crate::cli::own_file;
use crate::cli::report_file::ReportFile;
use crate::cli::settings::Settings;
use crate::cli::splay;
use crate::cli::targets::Several;
use crate::model::Timestamp;
use crate::ops::Asked;
use crate::policy::{Policy, Restart, RestartScope};

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
    beside: BesideArgs,
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
    pub(super) output: ListOutputArgs,
}

impl Args {
    pub(super) fn tone(&self) -> ToneArgs {
        ToneArgs { log_format: self.unattended.log_format, ..self.output.tone.clone() }
    }

    /// What is said of targets.
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("sweep", &mut self.store, &mut self.targets)
            .alone("--expect", self.act.expect.is_some(), "a digest is that of one plan")
            .alone("--emit-sql", self.act.emit.emit_sql, "a script is for one database")
            .file("--snapshot-file", self.beside.snapshot_file.as_mut())
            .list("--alive-from", self.beside.alive_from.as_deref())
            .file("--report-file", self.unattended.report_file.as_mut())
            .file("--textfile", self.textfile.textfile.as_mut())
    }
}

/// Before when a claim must have been made.
#[derive(Debug, Clone, Copy)]
enum Before {
    Instant(Timestamp),
    Boot,
}

fn parse_before(text: &str) -> Result<Before, String> {
    match (text, Timestamp::parse(text)) {
        ("boot", _) => Ok(Before::Boot),
        (_, Some(instant)) => Ok(Before::Instant(instant)),
        _ => Err("it is `boot`, or an instant with its zone, as in 2026-11-20T10:00:00Z".to_owned()),
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let (report, textfile) = (args.unattended.report_file.as_deref(), args.textfile.textfile.as_deref());
    if let (Some(report), Some(textfile)) = (report, textfile)
        && own_file::is_same(report, textfile)
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
    // With a list, the list is the scope; hosts and owners narrow it down.
    let by_list = args.restart && args.beside.alive_from.is_some();
    let scope = if args.restart && !by_list { Some(scope(args, &mut selection)?) } else { None };
    let is_scoped = by_list || scope.as_ref().is_some_and(|scope| !matches!(scope, RestartScope::AllOwners));
    if is_scoped {
        waits_for_nobody(&args.unattended)?;
    }
    let boot = match args.started_before {
        Some(Before::Boot) if is_scoped => Some(Boot::of_this_host()?),
        Some(Before::Boot) => return Err(boot_of_others()),
        Some(Before::Instant(_)) | None => None,
    };
    let before = |now| match args.started_before {
        Some(Before::Instant(instant)) => Some(instant),
        Some(Before::Boot) | None => boot.map(|boot| boot.by(now)),
    };
    Reclaiming {
        name: "sweep",
        schema: "jobdoctor.sweep/v1",
        act: &args.act,
        beside: &args.beside,
        confirm: &args.confirm,
        asked: Asked::Selection(Box::new(selection)),
        format: args.output.format(),
        settings,
        unattended: Some(Unattended {
            args: &args.unattended,
            splay: args.unattended.splay.filter(|_| args.restart),
            takes_turns: !is_scoped,
            is_restart: args.restart,
            is_brief: !args.output.is_said(),
            report,
        }),
        save_plan: None,
        metrics: Some(metrics),
    }
    .run(context, |snapshot, beside, policy| match (&scope, beside.list.as_ref().filter(|_| by_list)) {
        (Some(scope), _) => {
            let (began, scope) = (snapshot.now(), scope.clone());
            Policy {
                older: None,
                restart: Some(Restart { scope, before: before(began), began, first: None }),
                ..policy
            }
        }
        (None, Some(list)) => {
            let living = list.living(snapshot);
            let (began, before) = (living.made_at, before(snapshot.now()));
            Policy {
                older: None,
                restart: Some(Restart { scope: RestartScope::NotListed(living), before, began, first: None }),
                ..policy
            }
        }
        (None, None) => policy.with_older(args.older.older),
    })
}

/// A restart sweep of some owners takes no lock and is never called off: workers wait for it to start.
fn waits_for_nobody(args: &UnattendedArgs) -> Result<(), CliError> {
    let said = [("--min-interval", args.min_interval.is_some()), ("--lock-wait", args.lock_wait.is_some())];
    let Some((flag, _)) = said.into_iter().find(|(_, is_said)| *is_said) else { return Ok(()) };
    let message = format!("{flag}: a restart sweep of some owners waits for nobody, because workers wait for it");
    Err(CliError::new(Exit::Usage, message).hint(format!("leave out {flag}")))
}

fn boot_of_others() -> CliError {
    CliError::new(Exit::Usage, "--started-before boot: the boot of this host says nothing of workers on other ones")
        .hint("add --host \"$(hostname)\", --owner GLOB or --alive-from FILE, to say whose claims are this host's")
}

/// Which owners are dead. With `--restart`, `--host` and `--owner` are that scope and no filter beside it.
fn scope(args: &Args, selection: &mut crate::ops::Selection) -> Result<RestartScope, CliError> {
    if args.all_owners {
        return Ok(RestartScope::AllOwners);
    }
    let hosts = std::mem::take(&mut selection.hosts);
    let owners = std::mem::take(&mut selection.owners);
    match (hosts.is_empty(), owners.patterns()) {
        (true, []) if matches!(args.started_before, Some(Before::Boot)) => Err(boot_of_others()),
        (true, []) if matches!(args.started_before, Some(Before::Instant(_))) => Ok(RestartScope::AllOwners),
        (true, []) => Err(CliError::new(Exit::Usage, "--restart needs to know which owners are dead").hint(
            "add --host \"$(hostname)\" for this host's workers, --owner GLOB for owners by name, --alive-from FILE for \
             owners that are not on a list of living ones, or --all-owners while every worker is stopped",
        )),
        (false, []) => Ok(RestartScope::Hosts(hosts)),
        (true, patterns) if patterns == ["*"] => Ok(RestartScope::AllOwners),
        (true, _) => Ok(RestartScope::Owners(owners)),
        (false, _) => Err(CliError::new(Exit::Usage, "--restart takes --host or --owner, not both")
            .hint("run two sweeps, one for each")),
    }
}

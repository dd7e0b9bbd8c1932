use super::reclaim::Reclaiming;
use super::selection::selection;
use crate::cli::args::{
    ActArgs, BesideArgs, ConfirmArgs, IdArgs, ListOutputArgs, OlderArgs, SelectArgs, StoreArgs, TargetsArgs,
};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::cli::targets::Several;
use crate::ops::Asked;
use crate::policy::{Policy, Restart, RestartScope};

/// `jobdoctor sweep`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor sweep --apply                                    from cron, with the target's settings
  jobdoctor sweep --restart --host \"$(hostname)\" --apply     before this host's workers start
  jobdoctor sweep --restart --owner 'web1:*' --apply         the same, by how owners are named
  jobdoctor sweep --restart --alive-from alive.txt --apply   whoever is not on the list
  jobdoctor sweep --restart --all-owners --apply             while every worker is stopped")]
pub struct Args {
    /// Judge by who the owner is, whatever the age: its jobs are dead. Needs --host, --owner, --all-owners or --alive-from;
    /// never touches a claim made after the sweep began
    #[arg(long, conflicts_with_all = ["older", "look_file"])]
    restart: bool,
    /// With --restart: every owner is dead, and so are claims without one
    #[arg(long, requires = "restart", conflicts_with_all = ["host", "owner", "alive_from"])]
    all_owners: bool,
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
    store: StoreArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    #[command(flatten)]
    pub(super) output: ListOutputArgs,
}

impl Args {
    /// What is said of targets.
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("sweep", &mut self.store, &mut self.targets)
            .alone("--expect", self.act.expect.is_some(), "a digest is that of one plan")
            .alone("--emit-sql", self.act.emit.emit_sql, "a script is for one database")
            .file("--look-file", self.beside.look_file.as_mut())
            .list("--alive-from", self.beside.alive_from.as_deref())
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    let mut selection = selection(&args.select, &IdArgs::default())?;
    // With a list, the list is the scope; hosts and owners narrow it down.
    let by_list = args.restart && args.beside.alive_from.is_some();
    let scope = if args.restart && !by_list { Some(scope(args, &mut selection)?) } else { None };
    Reclaiming {
        name: "sweep",
        schema: "jobdoctor.sweep/v1",
        act: &args.act,
        beside: &args.beside,
        confirm: &args.confirm,
        asked: Asked::Selection(Box::new(selection)),
        format: args.output.format(),
        settings,
        quiet_when_idle: true,
        save_plan: None,
    }
    .run(context, |look, beside, policy| match (&scope, beside.list.as_ref().filter(|_| by_list)) {
        (Some(scope), _) => {
            Policy { older: None, restart: Some(Restart { scope: scope.clone(), began: look.now() }), ..policy }
        }
        (None, Some(list)) => {
            let living = list.living(look);
            let began = living.made_at;
            Policy { older: None, restart: Some(Restart { scope: RestartScope::NotListed(living), began }), ..policy }
        }
        (None, None) => policy.with_older(args.older.older),
    })
}

/// Which owners are dead. With `--restart`, `--host` and `--owner` are that scope and no filter beside it.
fn scope(args: &Args, selection: &mut crate::ops::Selection) -> Result<RestartScope, CliError> {
    if args.all_owners {
        return Ok(RestartScope::AllOwners);
    }
    let hosts = std::mem::take(&mut selection.hosts);
    let owners = std::mem::take(&mut selection.owners);
    match (hosts.is_empty(), owners.patterns()) {
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

use super::sweep_command::SweepCommand;
use super::template::{exec, fill, systemd};
use super::{HostArgs, SweepArgs};
use crate::cli::error::CliError;
use crate::store::Address;
use serde_json::json;
use std::path::{Path, PathBuf};

/// `jobdoctor generate systemd`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate systemd --target shop --every 5m
  jobdoctor generate systemd --target shop --only timer > jobdoctor-sweep-shop.timer
  jobdoctor generate systemd --db postgres:///app --restart --worker shop-worker.service")]
pub(super) struct Args {
    /// Print a drop-in for the workers' unit that sweeps what they left behind on this host, before they start
    #[arg(long, conflicts_with_all = ["every", "older", "only", "user"])]
    restart: bool,
    /// Print the drop-in for this unit
    #[arg(long, value_name = "UNIT", default_value = "worker.service", requires = "restart", value_parser = parse_unit)]
    worker: String,
    /// Print one of the two files [default: both]
    #[arg(long, value_name = "FILE")]
    only: Option<File>,
    #[command(flatten)]
    pub(super) host: HostArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum File {
    /// The command
    Service,
    /// The schedule
    Timer,
}

/// The service and the timer, each under a comment with its path, or the drop-in.
pub(super) fn text(args: &Args, sweep: &SweepCommand) -> Result<String, CliError> {
    // A drop-in leaves the variables that the workers read as they are.
    let is_ours = |name: &str| !args.restart || name.starts_with("JOBDOCTOR_");
    let variables = sweep.variables.iter().filter(|(name, _)| is_ours(name));
    let variables: Vec<String> = variables.map(|(name, value)| systemd(&format!("{name}={value}"))).collect();
    let names = sweep.variables.iter().map(|(name, _)| *name).chain(sweep.secrets.iter().copied());
    let theirs: Vec<&str> = names.filter(|name| !is_ours(name)).collect();
    let secrets: Vec<&str> = sweep.secrets.iter().copied().filter(|name| is_ours(name)).collect();
    let words: Vec<String> = sweep.words.iter().map(|word| exec(word)).collect();
    let shares_tmp = shares_tmp(sweep);
    let writable = shares_tmp.then(|| PathBuf::from("/tmp")).into_iter().chain(database_directory(sweep));
    let writable: Vec<String> = writable.map(|path| systemd(&path.display().to_string())).collect();
    let values = json!({
        "name": sweep.name,
        "about": sweep.about.replace('%', "%%"),
        "worker": args.worker,
        "user": if args.restart { String::new() } else { args.host.user()? },
        "server": matches!(sweep.address, Address::Postgres(_)),
        "secrets": secrets.join(" and "),
        "variables": variables,
        "theirs": theirs.join(", "),
        "command": words.join(" "),
        "private_tmp": !shares_tmp,
        "writable": writable,
        "calendar": args.sweep.every.calendar(),
        "spread": args.sweep.every.spread_seconds().to_string(),
    });
    if args.restart {
        return Ok(fill(include_str!("templates/restart.conf"), &values));
    }
    let service = fill(include_str!("templates/sweep.service"), &values);
    let timer = fill(include_str!("templates/sweep.timer"), &values);
    Ok(match args.only {
        None => format!("{service}\n{timer}"),
        Some(File::Service) => service,
        Some(File::Timer) => timer,
    })
}

/// The directory of a SQLite file, where its journal and its log are too.
fn database_directory(sweep: &SweepCommand) -> Option<PathBuf> {
    let Address::Sqlite { path, .. } = &sweep.address else { return None };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    path.parent().map(Path::to_owned)
}

/// Whether the sweep needs the host's /tmp, which a private one would hide.
fn shares_tmp(sweep: &SweepCommand) -> bool {
    let paths = database_directory(sweep).into_iter().chain(sweep.sockets()).chain(sweep.config.clone());
    paths.into_iter().any(|path| path.starts_with("/tmp") || path.starts_with("/var/tmp"))
}

fn parse_unit(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-.@:\\".contains(c);
    let is_unit = text.len() > ".service".len() && text.ends_with(".service") && text.chars().all(inner);
    is_unit
        .then(|| text.to_owned())
        .ok_or_else(|| "it must be the name of a service, such as worker.service".to_owned())
}

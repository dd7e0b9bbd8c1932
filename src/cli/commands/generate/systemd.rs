use super::{HostArgs, Sweep, SweepArgs, accepted, must_be_printable};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::store::Address;
use std::path::Path;

/// `jobdoctor generate systemd`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate systemd --target shop --every 5m
  jobdoctor generate systemd --target shop --only timer > jobdoctor-sweep-shop.timer
  jobdoctor generate systemd --target shop --restart --worker shop-worker.service")]
pub(super) struct Args {
    /// Print a drop-in for the workers' unit that sweeps what they left behind on this host, before they start
    #[arg(long, conflicts_with_all = ["every", "only", "user"])]
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
pub(super) fn text(args: &Args, sweep: &Sweep, context: &Context) -> Result<String, CliError> {
    let address = sweep.database(context)?;
    let words = sweep.on_host(args.host.program()?)?;
    // A `$` begins a variable, but in no other setting.
    let command = words.iter().map(|word| quoted(&word.replace('$', "$$"))).collect::<Vec<_>>().join(" ");
    let name = &sweep.name;
    if args.restart {
        return Ok(format!(include_str!("templates/restart.conf"), worker = args.worker, command = command));
    }
    let service = format!(
        include_str!("templates/sweep.service"),
        name = name,
        user = args.host.user()?,
        command = command,
        database = database_directory(&address)?,
    );
    let every = args.sweep.every;
    let (calendar, spread) = (every.calendar(), every.spread_seconds());
    let timer = format!(include_str!("templates/sweep.timer"), name = name, calendar = calendar, spread = spread);
    Ok(match args.only {
        None => format!("{service}\n{timer}"),
        Some(File::Service) => service,
        Some(File::Timer) => timer,
    })
}

/// The line that makes the directory of a SQLite file writable, where its journal and its log are too.
fn database_directory(address: &Address) -> Result<String, CliError> {
    let Address::Sqlite { path, .. } = address else { return Ok(String::new()) };
    let directory = path.parent().unwrap_or(Path::new("/")).display().to_string();
    let line = format!("ReadWritePaths={}\n", quoted(&directory));
    must_be_printable(&[directory])?;
    Ok(line)
}

/// Quotes a word of a setting, where `%` begins something.
fn quoted(word: &str) -> String {
    let word = word.replace('%', "%%");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%$".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

fn parse_unit(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-.@:\\".contains(c);
    let is_unit = text.len() > ".service".len() && text.ends_with(".service") && text.chars().all(inner);
    accepted(text, is_unit, "it must be the name of a service, such as worker.service")
}

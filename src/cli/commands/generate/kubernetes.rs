use super::SweepArgs;
use super::sweep_command::SweepCommand;
use super::template::{container, fill, yaml};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::next_command::quoted;
use crate::store::Address;
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;

/// `jobdoctor generate kubernetes`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate kubernetes --db postgres://ops@db/app --image registry.internal/jobdoctor:1
  jobdoctor generate kubernetes --target shop --image registry.internal/jobdoctor:1 --restart")]
pub(super) struct Args {
    /// Run this image, which has jobdoctor in it
    #[arg(long, value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    image: String,
    /// Run the program at this path in the image
    #[arg(long, value_name = "PATH", default_value = "jobdoctor", value_parser = NonEmptyStringValueParser::new())]
    pub(super) program: String,
    /// Print an init container for a StatefulSet that sweeps what a pod of the same name left behind, before its worker
    /// starts
    #[arg(long, conflicts_with_all = ["every", "older"])]
    restart: bool,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

/// A CronJob, or the part of a pod that has the init container.
pub(super) fn text(args: &Args, sweep: &SweepCommand) -> Result<String, CliError> {
    must_be_reachable(sweep)?;
    if args.image.contains(char::is_control) {
        return Err(CliError::new(Exit::Usage, "--image: an image's name has no control character"));
    }
    // What a secret's value is called in the Secret.
    let key = |variable| if ["JOBDOCTOR_DB", "DATABASE_URL"].contains(&variable) { "url" } else { "password" };
    let secrets = sweep.secrets.iter().map(|name| json!({ "variable": name, "key": key(name) }));
    let literals = sweep.secrets.iter().map(|name| format!(" --from-literal={}=\"${name}\"", key(name)));
    let words: Vec<String> = sweep.words.iter().map(|word| container(word)).collect();
    let variables = sweep.variables.iter().map(|(name, value)| json!({ "variable": name, "value": container(value) }));
    let mut values = json!({
        "name": sweep.name,
        "about": sweep.about,
        "config": sweep.config.as_ref().map(|path| quoted(&path.display().to_string())),
        "restart": args.restart,
        "containers": if args.restart { "initContainers" } else { "containers" },
        "container": if args.restart { "jobdoctor" } else { "sweep" },
        "image": yaml(&args.image),
        "words": words,
        "variables": variables.collect::<Vec<_>>(),
        "secrets": secrets.collect::<Vec<_>>(),
        "literals": literals.collect::<String>(),
        "schedule": if args.restart { String::new() } else { yaml(&args.sweep.every.cron()) },
    });
    values["pod"] = fill(include_str!("templates/pod.yaml"), &values).into();
    Ok(fill(include_str!("templates/kubernetes.yaml"), &values))
}

/// Refuses what is on this host, where no pod sees it.
fn must_be_reachable(sweep: &SweepCommand) -> Result<(), CliError> {
    let here = match (&sweep.address, sweep.sockets().next(), &sweep.password_file) {
        (Address::Sqlite { .. }, ..) => "a SQLite file".to_owned(),
        (_, Some(socket), _) => format!("the socket in {}", socket.display()),
        (.., Some(file)) => format!("the password file {}", file.display()),
        _ => return Ok(()),
    };
    Err(CliError::new(Exit::Usage, format!("{here} is on this host, and no pod sees it"))
        .hint("name the database as pods reach it: --db postgres://user@host/app; the password goes into a Secret"))
}

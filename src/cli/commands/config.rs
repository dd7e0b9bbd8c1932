use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::config::Config;
use crate::cli::settings::{config_path, config_places, config_places_in_words};
use crate::cli::{CliError, Context, Exit, Settings};
use crate::output::{CheckFinding, ConfigCheck, Severity};
use crate::store::Address;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  jobdoctor config path      where the config file is, or would be
  jobdoctor config check     read it, and every target and mapping in it")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Action {
    /// Print the path of the config file; where there is none, of the one to create
    Path(How),
    /// Check the config file: keys, targets with their addresses and presets, mappings; opens no database
    Check(How),
}

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", few_formats))]
#[command(after_help = "\
Examples:
  jobdoctor config path
  jobdoctor config check
  jobdoctor config check -o json")]
struct How {
    /// Use this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then
    /// /etc/jobdoctor/config.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    match &args.action {
        Action::Path(how) => path(&store_args(how), context),
        Action::Check(how) => check(how, context),
    }
}

fn store_args(how: &How) -> StoreArgs {
    StoreArgs { config: how.config.clone(), ..StoreArgs::default() }
}

fn path(args: &StoreArgs, context: &Context) -> Result<Exit, CliError> {
    context.environment.refuse_misplaced_passwords()?;
    let found = config_path(args, &context.environment).map(|(path, _)| path);
    let path = found.or_else(|| config_places(&context.environment).into_iter().next()).unwrap_or_default();
    if !path.exists() {
        context.ui.note("there is no config file yet: create this one, see `jobdoctor help config`");
    }
    context.ui.report(|out| writeln!(out, "{}", path.display()))?;
    Ok(Exit::Done)
}

fn check(how: &How, context: &Context) -> Result<Exit, CliError> {
    context.environment.refuse_misplaced_passwords()?;
    let args = store_args(how);
    let Some((path, _)) = config_path(&args, &context.environment) else {
        let places = config_places_in_words(&context.environment);
        let error = CliError::new(Exit::Config, format!("there is no config file: looked at {places}"));
        return Err(error.hint("see `jobdoctor help config`"));
    };
    let document = ConfigCheck {
        schema: "jobdoctor.config-check/v1",
        path: path.display().to_string(),
        findings: findings(&path, &args, context),
    };
    let is_sound = document.findings.iter().all(|finding| finding.severity == Severity::Ok);
    context.ui.print_page(how.output.format(), &document, |screen| document.facts().render(screen).into())?;
    Ok(if is_sound { Exit::Done } else { Exit::Config })
}

/// What is in the file, one finding each.
fn findings(path: &Path, args: &StoreArgs, context: &Context) -> Vec<CheckFinding> {
    let config = match Config::read(path, &context.environment) {
        Ok(config) => config,
        Err(error) => return vec![finding("config".to_owned(), Err(error))],
    };
    let mappings = config.mappings.into_iter().map(|mapping| (mapping.name, Ok("can be read".to_owned())));
    let broken = config.broken.into_iter().map(|(name, error)| (name, Err(CliError::from(error))));
    let targets = config.order.iter().map(|name| finding(format!("target {name}"), target(name, args, context)));
    let mappings = mappings.chain(broken).map(|(name, read)| finding(format!("mapping {name}"), read));
    targets.chain(mappings).collect()
}

/// The database and the preset of a target, as far as they can be known without opening it.
fn target(name: &str, args: &StoreArgs, context: &Context) -> Result<String, CliError> {
    let args = StoreArgs { target: vec![name.to_owned()], ..args.clone() };
    let settings = Settings::resolve(&args, &context.environment)?;
    let preset = settings.preset.as_deref().map(|preset| settings.catalog.find(preset)).transpose()?;
    let database = settings.database()?.address.as_ref().map(Address::label);
    let database = database.unwrap_or_else(|| "no database of its own".to_owned());
    Ok(format!("{database}, preset {}", preset.map_or("detected from the tables", |preset| &preset.name)))
}

fn finding(id: String, read: Result<String, CliError>) -> CheckFinding {
    let (severity, detail, fix) = match read {
        Ok(detail) => (Severity::Ok, detail, None),
        Err(error) => {
            let error = error.document();
            (Severity::Error, error.message, Some(error.hints.join("; ")).filter(|fix| !fix.is_empty()))
        }
    };
    CheckFinding { id, severity, detail, fix, count_seconds: None }
}

use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::output::format::Page;
use crate::output::presets::{self, list, people};
use crate::preset::Preset;
use std::path::PathBuf;

/// `jobdoctor presets`.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  jobdoctor presets                       list all, including mappings of the config file
  jobdoctor presets show procrastinate    explain one: tables, liveness, actions")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Action {
    /// Explain one: its tables, what shows life, and each action column by column
    Show(Show),
}

/// `jobdoctor presets show`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor presets show procrastinate
  jobdoctor presets show lease --toml     to start a mapping from")]
struct Show {
    /// The preset or mapping
    #[arg(value_name = "NAME")]
    name: String,
    /// Print its TOML
    #[arg(long, conflicts_with_all = ["output", "json"])]
    toml: bool,
    #[command(flatten)]
    how: How,
}

/// The options that both forms share.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", few_formats))]
struct How {
    /// Config file with mappings
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Read no config file
    #[arg(long)]
    no_config: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    fn how(&self) -> &How {
        match &self.action {
            Some(Action::Show(show)) => &show.how,
            None => &self.how,
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let how = args.how();
    let store = StoreArgs { config: how.config.clone(), no_config: how.no_config, ..StoreArgs::default() };
    let settings = Settings::resolve(&store, &context.environment)?;
    match &args.action {
        Some(Action::Show(show)) if show.toml => print_toml(settings.catalog.find(&show.name)?, context)?,
        Some(Action::Show(show)) => {
            let document = presets::preset_page(settings.catalog.find(&show.name)?)?;
            context.ui.print_page(how.output.format(), &document, |screen| Ok(people(&document, screen).into()))?;
        }
        None => {
            settings.catalog.broken().for_each(|error| context.ui.warn(&error.to_string()));
            let document = presets::presets(&settings.catalog)?;
            context.ui.print_page(how.output.format(), &document, |screen| {
                let mut page = Page::default();
                page.table("", &list(&document)?, screen);
                Ok(page)
            })?;
        }
    }
    Ok(Exit::Done)
}

fn print_toml(preset: &Preset, context: &Context) -> Result<(), CliError> {
    if !preset.built_in {
        let message = format!("`{}` is a mapping: its TOML stands in the config file", preset.name);
        return Err(CliError::new(Exit::Usage, message));
    }
    context.ui.report(|out| out.write_all(preset.text.as_bytes()))?;
    Ok(())
}

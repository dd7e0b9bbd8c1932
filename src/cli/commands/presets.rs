use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::output::format::{Format, json};
use crate::output::presets::{self, list, people};
use crate::preset::Preset;
use std::path::PathBuf;

/// `jobdoctor presets`.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  jobdoctor presets                       all of them, mappings of the config file included
  jobdoctor presets show procrastinate    what is known of one, and what is done to its jobs
  jobdoctor presets procrastinate         the same as it is written")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print this one as it is written
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Action {
    /// Explain one: its tables, what is alive, and column by column what is done
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
    /// Print it as it is written
    #[arg(long, conflicts_with_all = ["output", "json"])]
    toml: bool,
    #[command(flatten)]
    how: How,
}

/// Where mappings come from and how to say it.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", few_formats))]
struct How {
    /// The config file, for its mappings
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Read no config file
    #[arg(long)]
    no_config: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    /// How to say it.
    pub(super) fn output(&self) -> &OutputArgs {
        &self.how().output
    }

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
    match (&args.action, &args.name) {
        (Some(Action::Show(show)), _) if show.toml => as_written(settings.catalog.find(&show.name)?, context)?,
        (None, Some(name)) => as_written(settings.catalog.find(name)?, context)?,
        (Some(Action::Show(show)), _) => {
            let document = presets::preset_page(settings.catalog.find(&show.name)?)?;
            context.ui.report(|out| match how.output.format() {
                Format::Json => json(&document, out),
                Format::None => Ok(()),
                _ => out.write_all(people(&document, &context.ui.screen()).as_bytes()),
            })?;
        }
        (None, None) => {
            let document = presets::presets(&settings.catalog)?;
            context.ui.report(|out| match how.output.format() {
                Format::Json => json(&document, out),
                Format::None => Ok(()),
                _ => out.write_all(list(&document).render(&context.ui.screen()).as_bytes()),
            })?;
        }
    }
    Ok(Exit::Done)
}

fn as_written(preset: &Preset, context: &Context) -> Result<(), CliError> {
    if !preset.built_in {
        let message = format!("`{}` is a mapping of your config file, where it can be read", preset.name);
        return Err(CliError::new(Exit::Usage, message));
    }
    context.ui.report(|out| out.write_all(preset.text.as_bytes()))?;
    Ok(())
}

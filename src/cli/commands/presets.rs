use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::tips::no_database;
use crate::cli::{CliError, Context, Exit, Settings, masked};
use crate::output::format::Page;
use crate::output::presets::{self, list, people};
use crate::preset::Preset;
use clap::builder::{StringValueParser, TypedValueParser};
use std::path::PathBuf;
use toml_edit::{DocumentMut, Item};

#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  jobdoctor presets                       list all, including mappings of the config file
  jobdoctor presets show procrastinate    what to know about one, and its TOML")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Action {
    /// Print one: what to know before acting, and its TOML, which explains itself
    Show(Show),
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor presets show procrastinate
  jobdoctor presets show lease > my.toml    to start a mapping from")]
struct Show {
    /// The preset or mapping
    #[arg(value_name = "NAME", value_parser = StringValueParser::new().try_map(no_database))]
    name: String,
    #[command(flatten)]
    how: How,
}

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
        Some(Action::Show(show)) => {
            let preset = settings.catalog.find(&show.name)?;
            let toml = match &preset.extends {
                _ if preset.built_in => preset.text.to_owned(),
                None => mapping(preset, context),
                Some((base, keys)) => {
                    format!("{}\n\n{}", mapping(preset, context), marked(settings.catalog.find(base)?, keys))
                }
            };
            let document = presets::preset_page(preset, toml)?;
            context.ui.print_page(how.output.format(), &document, |screen| people(&document, screen).into())?;
        }
        None => {
            settings.catalog.broken().for_each(|error| context.ui.warn(&error.to_string()));
            let document = presets::presets(&settings.catalog)?;
            context.ui.print_page(how.output.format(), &document, |screen| {
                let mut page = Page::default();
                page.table("", &list(&document), screen);
                page
            })?;
        }
    }
    Ok(Exit::Done)
}

/// The text of a preset as comments, with a mark at what a mapping overrides.
fn marked(preset: &Preset, overridden: &[(String, usize)]) -> String {
    let line = |(n, line): (usize, &str)| match overridden.iter().find(|(_, at)| *at == n + 1) {
        Some((key, _)) => format!("# {line}    <- {key} is overridden"),
        None => format!("# {line}"),
    };
    preset.text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

/// The mapping's part of the config file, with its comments.
fn mapping(preset: &Preset, context: &Context) -> String {
    let text = context.environment.config.get().map_or("", String::as_str);
    let Ok(mut document) = text.parse::<DocumentMut>() else { return String::new() };
    document.retain(|key, _| key == "mapping");
    if let Some(mappings) = document.get_mut("mapping").and_then(Item::as_table_like_mut) {
        let name = |(key, item): (&str, &Item)| item.get("name").and_then(Item::as_str).unwrap_or(key).to_owned();
        let others = mappings.iter().filter(|entry| name(*entry) != preset.name).map(|(key, _)| key.to_owned());
        others.collect::<Vec<_>>().iter().for_each(|key| drop(mappings.remove(key)));
    }
    document.set_trailing("");
    // A comment above it may belong to a target.
    masked(&document.to_string())
}

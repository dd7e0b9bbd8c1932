use crate::cli::args::{OutputArgs, StoreArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::ops;
use crate::render::{Align, Column, Format, Table, json};
use crate::report::Presets;
use std::path::PathBuf;

/// `jobdoctor presets`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor presets                       all of them, mappings of the config file included
  jobdoctor presets procrastinate         the whole of one, as it is written")]
pub struct Args {
    /// Print this one as it is written
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The config file, for its mappings
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Read no config file
    #[arg(long)]
    no_config: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let store = StoreArgs { config: args.config.clone(), no_config: args.no_config, ..StoreArgs::default() };
    let settings = Settings::resolve(&store, &context.environment)?;
    if let Some(name) = &args.name {
        let preset = settings.catalog.find(name)?;
        if !preset.built_in {
            let message = format!("`{name}` is a mapping of your config file, where it can be read");
            return Err(CliError::new(Exit::Usage, message));
        }
        context.ui.report(|out| out.write_all(preset.text.as_bytes()))?;
        return Ok(Exit::Done);
    }
    let document = ops::presets(&settings.catalog);
    context.ui.report(|out| match args.output.format() {
        Format::Json => json(&document, out),
        Format::None => Ok(()),
        _ => out.write_all(table(&document).render(&context.ui.screen()).as_bytes()),
    })?;
    Ok(Exit::Done)
}

fn table(document: &Presets) -> Table {
    let column = |title, importance, shrinks_to| Column { title, align: Align::Left, importance, shrinks_to };
    let columns = vec![
        column("name", 0, None),
        column("engines", 1, None),
        column("versions", 2, None),
        column("proof", 4, None),
        column("found by itself", 3, None),
        column("what it is", 0, Some(20)),
    ];
    let yes = |truth: bool| if truth { "yes" } else { "no, name it" };
    let rows = document.presets.iter().map(|preset| {
        vec![
            preset.name.as_str().into(),
            preset.engines.join(", ").into(),
            if preset.checked.is_empty() { "-".into() } else { preset.checked.join(", ").into() },
            preset.proof.as_str().into(),
            yes(preset.detected).into(),
            preset.title.as_str().into(),
        ]
    });
    Table { columns, rows: rows.collect() }
}

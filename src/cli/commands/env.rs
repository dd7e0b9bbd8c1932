use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::output::format::{Align, Column, Format, Table, json};
use crate::output::{Env, EnvSetting};
use crate::store::Address;

/// `jobdoctor env`.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", few_formats))]
#[command(after_help = "\
Examples:
  jobdoctor env                           which database would be used, and why
  jobdoctor env --target shop -o json")]
pub struct Args {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    let document = document(&settings)?;
    context.ui.report(|out| match args.output.format() {
        Format::Json => json(&document, out),
        Format::None => Ok(()),
        _ => out.write_all(table(&document.settings).render(&context.ui.screen()).as_bytes()),
    })?;
    document.warnings.iter().for_each(|warning| context.ui.warn(warning));
    if document.database.is_none() {
        context.ui.hint("no database is named: --db, JOBDOCTOR_DB, a target in the config file, DATABASE_URL, PGHOST");
    }
    Ok(Exit::Done)
}

fn document(settings: &Settings) -> Result<Env, CliError> {
    let database = settings.database()?;
    let address = database.address.as_ref();
    let mut list = settings.shown(address.map(Address::label));
    list.extend(settings.shown_thresholds());
    list.extend(settings.shown_limits());
    let engine = match address {
        None => None,
        Some(Address::Sqlite { .. }) => Some("sqlite"),
        Some(Address::Postgres(address)) => {
            list.extend(address.settings.iter().map(|(name, value, origin)| EnvSetting {
                name: format!("postgres.{name}"),
                value: Some(value.clone().unwrap_or_else(|| "(hidden)".to_owned())),
                origin: origin.to_string(),
            }));
            Some("postgres")
        }
    };
    Ok(Env {
        schema: "jobdoctor.env/v1",
        engine: engine.map(str::to_owned),
        database: address.map(Address::label),
        settings: list,
        warnings: database.warnings().iter().cloned().chain(database.dropped()).collect(),
    })
}

fn table(settings: &[EnvSetting]) -> Table {
    let column = |title, shrinks_to| Column { title, align: Align::Left, importance: 0, shrinks_to };
    let columns = vec![column("setting", None), column("value", Some(24)), column("from", Some(24))];
    let rows = settings.iter().map(|setting| {
        let value = setting.value.as_deref().unwrap_or("-");
        vec![setting.name.as_str().into(), value.into(), setting.origin.as_str().into()]
    });
    Table { columns, rows: rows.collect() }
}

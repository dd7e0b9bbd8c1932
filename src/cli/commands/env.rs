use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::output::{Env, EnvSetting};
use crate::store::{Address, open};

/// `jobdoctor env`.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", few_formats))]
#[command(after_help = "\
Examples:
  jobdoctor env                           which database is used, and why
  jobdoctor env --target shop -o json")]
pub struct Args {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    let document = document(&settings)?;
    context.ui.print_page(args.output.format(), &document, |screen| document.table().render(screen).into())?;
    document.warnings.iter().for_each(|warning| context.ui.warn(warning));
    if settings.has_no_config() {
        context.ui.note(&format!("no config file was read: there is none at {}", settings.config_places()));
    }
    if document.database.is_none() {
        context.ui.hint("no database is named: --db, JOBDOCTOR_DB, a target in the config file, DATABASE_URL, PGHOST");
    }
    Ok(Exit::Done)
}

fn document(settings: &Settings) -> Result<Env, CliError> {
    let database = settings.database()?;
    let address = database.address.as_ref();
    let mut list = settings.view(address.map(Address::label));
    if let Some(Address::Postgres(address)) = address {
        list.extend(address.settings.iter().map(|(name, value, origin)| EnvSetting {
            name: format!("postgres.{name}"),
            value: Some(value.clone().unwrap_or_else(|| "(hidden)".to_owned())),
            origin: origin.to_string(),
        }));
    }
    Ok(Env {
        schema: "jobdoctor.env/v1",
        engine: address.map(|address| open(address).engine().to_string()),
        database: address.map(Address::label),
        settings: list,
        warnings: {
            let broken = settings.catalog.broken().map(ToString::to_string);
            database.warnings().iter().cloned().chain(database.dropped()).chain(broken).collect()
        },
    })
}

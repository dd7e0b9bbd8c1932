use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::environment::Environment;
use crate::cli::setting::{SETTINGS, Setting, Target};
use crate::cli::settings::config_places_in_words;
use crate::cli::{CliError, Context, Exit, Settings, masked};
use crate::output::{Env, EnvSetting, advice};
use crate::policy::{Globs, StateLimit, Threshold};
use crate::store::{Address, open};
use humantime::format_duration;
use std::path::PathBuf;

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
    let document = document(&settings, &context.environment)?;
    context.ui.print_page(args.output.format(), &document, |screen| document.table().render(screen).into())?;
    document.warnings.iter().for_each(|warning| context.ui.warn(warning));
    if settings.config.is_none() && !args.store.no_config {
        let places = config_places_in_words(&context.environment);
        context.ui.note(&format!("no config file was read: there is none at {places}"));
    }
    if document.database.is_none() {
        context.ui.hint("no database is named: --db, JOBDOCTOR_DB, a target in the config file, DATABASE_URL, PGHOST");
    }
    Ok(Exit::Done)
}

fn document(settings: &Settings, environment: &Environment) -> Result<Env, CliError> {
    let database = settings.database()?;
    let address = database.address.as_ref();
    let mut list = view(settings, environment, address.map(Address::label));
    if let Some(Address::Postgres(address)) = address {
        list.extend(address.settings.iter().map(|(name, value, origin)| EnvSetting {
            name: format!("postgres.{name}"),
            value: Some(value.as_deref().map_or_else(|| "(hidden)".to_owned(), masked)),
            origin: masked(&origin.to_string()),
        }));
    }
    let broken = settings.catalog.broken().map(ToString::to_string);
    let zone = settings.preset_without_zone();
    let zone = zone.map(|preset| format!("preset {preset}: {}: {}", advice::ZONE_UNDECLARED, advice::SAY_TIME_ZONE));
    let warnings = database.warnings().iter().cloned().chain(database.dropped()).chain(broken).chain(zone);
    Ok(Env {
        schema: "jobdoctor.env/v1",
        engine: address.map(|address| open(address).engine().to_string()),
        database: address.map(|address| masked(&address.label())),
        settings: list,
        warnings: warnings.map(|text| masked(&text)).collect(),
    })
}

/// Lists jobdoctor's own settings; `database` is the database without its secrets.
fn view(settings: &Settings, environment: &Environment, database: Option<String>) -> Vec<EnvSetting> {
    let args = &settings.args;
    let config_origin = match &settings.config {
        Some((_, origin)) => (*origin).to_owned(),
        None if args.no_config => "--no-config".to_owned(),
        None => format!("default: no file at {}", config_places_in_words(environment)),
    };
    let mut given = Target {
        preset: args.preset.clone(),
        schema: args.schema.clone(),
        table: args.table.clone(),
        options: args.options.clone(),
        timeout: args.timeout,
        network_files: args.network_files,
        second_name: args.second_name,
        ..Target::default()
    };
    let mut target = settings.target.clone();
    let (password_file, password_origin) = file(settings.password_file.as_ref());
    let mut one = |entry: &Setting| match (entry.in_words(&mut given), entry.in_words(&mut target)) {
        _ if entry.key == "db" => setting(entry.key, database.clone(), settings.address_origin()),
        _ if entry.key == "password_file" && password_origin != entry.key => {
            setting(entry.key, password_file.clone(), password_origin)
        }
        (Some(value), _) => setting(entry.key, Some(value), entry.flag()),
        (None, Some(value)) => setting(entry.key, Some(value), settings.of_target()),
        (None, None) => setting(entry.key, entry.default.map(str::to_owned), "default"),
    };
    let config = setting("config", file(settings.config.as_ref()).0, config_origin);
    let target_name = setting("target", settings.target_name.clone(), settings.target_origin);
    let (state_dir, state_origin) = file(settings.state.as_ref());
    let thresholds = settings.target.thresholds.iter().enumerate();
    let thresholds = thresholds.map(|(n, threshold)| (format!("threshold {}", n + 1), threshold_in_words(threshold)));
    let limits = settings.target.too_long.iter();
    let limits = limits.map(|limit| (format!("too_long {}", limit.number), limit_in_words(limit)));
    let tables = thresholds.chain(limits).map(|(name, value)| setting(&name, Some(value), settings.of_target()));
    [config, target_name]
        .into_iter()
        .chain(SETTINGS.iter().filter(|entry| !entry.is_tables()).map(&mut one))
        .chain([setting("state_dir", state_dir, state_origin)])
        .chain(tables)
        .collect()
}

fn threshold_in_words(threshold: &Threshold) -> String {
    let mut parts = globs(&threshold.queue, &threshold.kind);
    parts.extend(threshold.older.map(|older| format!("older {}", format_duration(older))));
    parts.extend(threshold.max_runtime.map(|longest| format!("max_runtime {}", format_duration(longest))));
    parts.join(", ")
}

fn limit_in_words(limit: &StateLimit) -> String {
    let mut parts = vec![format!("state {}", limit.state.text)];
    parts.extend(globs(&limit.queue, &limit.kind));
    parts.push(format!("after {}", format_duration(limit.after)));
    parts.extend(limit.since.iter().map(|since| format!("since {}", since.text)));
    parts.push(format!("action {}", limit.action));
    parts.join(", ")
}

fn globs(queue: &Globs, kind: &Globs) -> Vec<String> {
    let parts = |key, globs: &Globs| globs.patterns().iter().map(|glob| format!("{key} {glob}")).collect::<Vec<_>>();
    [parts("queue", queue), parts("kind", kind)].concat()
}

/// The path and the origin of a file that need not be named.
fn file(named: Option<&(PathBuf, &'static str)>) -> (Option<String>, &'static str) {
    named.map_or((None, "default"), |(path, origin)| (Some(path.display().to_string()), *origin))
}

fn setting(name: &str, value: Option<String>, origin: impl Into<String>) -> EnvSetting {
    EnvSetting { name: name.to_owned(), value: value.as_deref().map(masked), origin: masked(&origin.into()) }
}

use crate::cli::args::{OutputArgs, StoreArgs, text_or_json};
use crate::cli::config::Config;
use crate::cli::next_command::{quoted, shell_word};
use crate::cli::progress;
use crate::cli::settings::{READING, Settings, config_places};
use crate::cli::tips::no_database;
use crate::cli::{CliError, Context, Exit, OrEnd};
use crate::model::parse_duration;
use crate::ops::{self, Adoption, Answers, DryRun};
use crate::output::format::{Format, count, inert, json};
use crate::output::{
    Adopt, AdoptTables, CheckFinding, FileMode, Lookalike, Proof, Question, Severity, directory_of, replace_file,
    target_toml,
};
use anyhow::Context as _;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", |arg| arg.value_parser(text_or_json("toml", "The mapping as it stands in a config file"))))]
#[command(mut_arg("preset", |arg| arg.hide(true)), mut_arg("options", |arg| arg.hide(true)))]
#[command(after_help = "\
Examples:
  jobdoctor adopt --db queue.db
  jobdoctor adopt order_queue --db queue.db
  jobdoctor adopt order_queue --db queue.db --watch 10s
  jobdoctor adopt order_queue --db queue.db --answer states.in_flight=working")]
pub struct Args {
    /// The table, perhaps with its schema: app.jobs [default: list the tables that look like a queue]
    #[arg(id = "adopted", value_name = "TABLE", value_parser = NonEmptyStringValueParser::new().try_map(no_database))]
    table: Option<String>,
    /// Name of the mapping [default: the table's name]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: Option<String>,
    /// Settle a key of the mapping, such as states.in_flight=working or claim.liveness='heartbeat pinged 2m'; none
    /// leaves it out (can be repeated)
    #[arg(long = "answer", value_name = "KEY=VALUE", value_parser = parse_answer)]
    answers: Vec<(String, String)>,
    /// Watch the rows for this long: a timestamp that advances on rows in flight is taken as the heartbeat
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    watch: Option<Duration>,
    /// Let the database try each action on one stuck job, in a transaction that is rolled back: server
    #[arg(long, value_name = "HOW", require_equals = true, hide_possible_values = true, value_parser = ["server"])]
    dry_run: Option<String>,
    /// Add the draft to the config file, with a target of its name, if no question is open
    #[arg(long, conflicts_with = "no_config")]
    write: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    if args.store.preset.is_some() || args.store.table.is_some() || !args.store.options.is_empty() {
        return Err(CliError::usage(
            "adopt drafts a mapping of its own: --preset, --table and --option have no effect here",
        )
        .hint("jobdoctor adopt TABLE --name NAME"));
    }
    let settings = Settings::resolve(&args.store, &context.environment)?;
    let store = context.store(&settings)?;
    let Args { name, watch, .. } = args;
    // What is watched and what a person ponders has no part in the time for reading.
    let limits = || settings.limits("adopt", READING + watch.unwrap_or_default(), &context.interrupt, false);
    let Some(table) = &args.table else {
        return list(context, args.output.format(), &ops::candidates(store.as_ref(), &limits())?);
    };
    let schema = settings.place.schema.as_deref();
    let mut given = args.answers.clone();
    let adoption = Adoption {
        store: store.as_ref(),
        limits: &limits(),
        schema,
        table,
        name: name.as_deref(),
        answers: &Answers::new(&given)?,
        watched: None,
    };
    let watched = watch.map(|span| ops::watch(&adoption, span)).transpose()?;
    let is_asked = progress::can_ask() && !context.ui.is_for_machines() && !args.output.tone.quiet;
    let mut left_open: Vec<String> = Vec::new();
    let mut draft = loop {
        let (answers, limits, watched) = (Answers::new(&given)?, limits(), watched.as_ref());
        let draft = match ops::adopt(&Adoption { limits: &limits, answers: &answers, watched, ..adoption }) {
            // A person who mistypes is asked again.
            Err(error @ ops::OpsError::Usage { .. }) if given.len() > args.answers.len() => {
                context.ui.side_error(&error.to_string());
                given.pop();
                continue;
            }
            draft => draft?,
        };
        let open = draft.questions.iter().find(|question| is_asked && !left_open.contains(&question.key));
        let Some(question) = open else { break draft };
        ask(context, question);
        let typed = progress::read_line(&context.interrupt)?;
        match typed.as_deref().map(str::trim) {
            // Enter takes what rows support, and nothing else.
            Some("") if question.is_proposal => given.push((question.key.clone(), question.form.clone())),
            None | Some("" | "-") => left_open.push(question.key.clone()),
            Some(answer) => given.push((question.key.clone(), answer.to_owned())),
        }
    };
    let mut misfit = None;
    if draft.complete {
        let writing = settings.limits("adopt", READING, &context.interrupt, true);
        let read_only = settings.target_name.as_deref().filter(|_| settings.target.read_only);
        let dry_run = args.dry_run.as_ref().map(|_| DryRun { limits: &writing, read_only });
        match ops::prove(store.as_ref(), &limits(), &draft, dry_run.as_ref()) {
            Ok(proof) => {
                misfit = proof.findings.iter().find(|finding| is_refused(finding)).map(|finding| {
                    let message = format!("the draft does not do its work: {}", inert(&finding.detail));
                    CliError::new(Exit::Config, message).hint(finding.fix.as_deref().unwrap_or_default())
                });
                draft.proof = Some(proof);
            }
            Err(error) => misfit = Some(CliError::from(error)),
        }
        if args.write && misfit.is_none() {
            let (path, target) = add_to_config_file(&settings, context, &draft)?;
            (draft.written, draft.target) = (Some(path.display().to_string()), target);
        }
    }
    draft.next = next(context, &draft, &given[args.answers.len()..]);
    context.ui.report(|out| match args.output.format() {
        Format::Json => json(&draft, out),
        _ => write!(out, "{}\n# next: {}\n", draft.toml, inert(&draft.next)),
    })?;
    draft.notes.iter().for_each(|note| context.ui.note(note));
    if let Some(proof) = &draft.proof {
        report(context, proof);
    }
    draft.written.iter().for_each(|path| context.ui.note(&format!("added to {path}")));
    match misfit {
        Some(error) => Ok(context.ui.error_after_report(&error)),
        None if !draft.complete => Ok(context.ui.error_after_report(&open(context, &draft, is_asked))),
        None => Ok(Exit::Done),
    }
}

fn is_refused(finding: &CheckFinding) -> bool {
    finding.id == "dry_run" && finding.severity == Severity::Error
}

/// The tables that look like a queue, each with the command that drafts its mapping.
fn list(context: &Context, format: Format, found: &AdoptTables) -> Result<Exit, CliError> {
    context.ui.report(|out| match format {
        Format::Json => json(found, out),
        _ => found.tables.iter().try_for_each(|Lookalike { table, columns }| {
            let next = context.on_same_queue(&["adopt", &quoted(table)], &[]);
            writeln!(out, "{} ({})\n    {}", inert(table), inert(&columns.join(", ")), inert(&next))
        }),
    })?;
    if !found.are_alike {
        context.ui.note("no table here looks like a queue: these are all that this role may read");
    }
    Ok(Exit::Done)
}

/// The command line that goes on: with an answer to each question, to add the draft, or to use it.
fn next(context: &Context, draft: &Adopt, typed: &[(String, String)]) -> String {
    let open = draft.questions.iter().map(|question| (question.key.clone(), question.form.clone()));
    let answers: Vec<(String, String)> = typed.iter().cloned().chain(open).collect();
    match &draft.written {
        Some(_) if draft.target.is_some() => format!("jobdoctor stale --target {}", quoted(&draft.name)),
        Some(_) => context.on_same_queue(&["stale"], &["--preset", &quoted(&draft.name)]),
        None if draft.complete && !context.words.iter().any(|word| word == "--write") => {
            command_line(context, &answers) + " --write"
        }
        None => command_line(context, &answers),
    }
}

fn ask(context: &Context, question: &Question) {
    print_question(context, question);
    let form = inert(&question.form);
    context.ui.hint(&match question.is_proposal {
        true => format!("  [{form}], or another answer; - leaves it open"),
        false => format!("  an answer, such as {form}; Enter leaves it open"),
    });
}

fn print_question(context: &Context, question: &Question) {
    context.ui.note(&format!("{}: {}", question.key, question.question));
    question.seen.iter().for_each(|seen| context.ui.note(&format!("  {seen}")));
    context.ui.note(&format!("  if wrong: {}", question.harm));
}

/// The error that questions are open, with the command line that settles them.
fn open(context: &Context, draft: &Adopt, was_asked: bool) -> CliError {
    if !was_asked {
        draft.questions.iter().for_each(|question| print_question(context, question));
    }
    let keys: Vec<&str> = draft.questions.iter().map(|question| question.key.as_str()).collect();
    let questions = count(keys.len() as u64, "question is open", "questions are open");
    let message = format!("the draft is not complete, {questions}: {}", keys.join(", "));
    CliError::new(Exit::Config, inert(&message))
        .hint(format!("check each proposal, fill in the words in capitals, which no row shows, then: {}", draft.next))
}

/// The command line that was typed, with these answers.
fn command_line(context: &Context, answers: &[(String, String)]) -> String {
    let words = context.words.iter().map(|word| shell_word(word));
    let answers = answers.iter().flat_map(|(key, answer)| ["--answer".to_owned(), quoted(&format!("{key}={answer}"))]);
    std::iter::once("jobdoctor".to_owned()).chain(words).chain(answers).collect::<Vec<_>>().join(" ")
}

/// What was seen through the draft, on stderr.
fn report(context: &Context, proof: &Proof) {
    let unknown = if proof.unknown > 0 { format!(", {} unknown", proof.unknown) } else { String::new() };
    context.ui.note(&format!("{} in flight: {} alive, {} stuck{unknown}", proof.in_flight, proof.alive, proof.stuck));
    for finding in proof.findings.iter().filter(|finding| !is_refused(finding)) {
        match finding.severity {
            Severity::Ok => context.ui.note(&finding.detail),
            _ => context.ui.warn(&finding.detail),
        }
        finding.fix.iter().for_each(|fix| context.ui.hint(&format!("  {fix}")));
    }
}

/// Adds the mapping, and a target with its name, at the end of the config file in use, or of a new one in the first
/// default place. Where the file has a target of that name, that stays as it is. The file, and the target if it is new.
fn add_to_config_file(
    settings: &Settings,
    context: &Context,
    draft: &Adopt,
) -> Result<(PathBuf, Option<String>), CliError> {
    let default = config_places(&context.environment).into_iter().next();
    let path = settings
        .config
        .as_ref()
        .map(|(path, _)| path.clone())
        .or(default)
        .ok_or_else(|| CliError::usage("no place for a config file is known").hint("name one with --config"))?;
    let what = || format!("config file {}", path.display());
    // A link stays a link to the file that is written.
    let file = path.canonicalize().unwrap_or_else(|_| path.clone());
    if file.exists() && !file.is_file() {
        return Err(CliError::new(Exit::Config, format!("{} is not a regular file; nothing was written", what())));
    }
    let text = match fs::read_to_string(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.with_context(|| format!("{} cannot be read", what())).or_end(Exit::Config)?,
    };
    let known = Config::parse(&what(), &text)?;
    let names = known.mappings.iter().map(|mapping| &mapping.name).chain(known.broken.iter().map(|(name, _)| name));
    if names.into_iter().any(|name| *name == draft.name) {
        let message = format!("{} has a mapping `{}` already; nothing was written", what(), draft.name);
        return Err(CliError::new(Exit::Config, message).hint("name this one with --name, or remove the other"));
    }
    let is_new = !known.targets.contains_key(&draft.name);
    let target = is_new.then(|| target_toml(&draft.name, settings.plain_address().as_deref()));
    let added = [text.trim_end(), target.as_deref().unwrap_or_default().trim_end(), &draft.toml];
    let added = added.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    let read = Config::parse(&what(), &added)?;
    if let Some((_, error)) = read.broken.into_iter().find(|(name, _)| *name == draft.name) {
        return Err(error.into());
    }
    replace(&file, &added).with_context(|| format!("{} cannot be written", what())).or_end(Exit::NoPermission)?;
    Ok((path, target.map(|_| draft.name.clone())))
}

/// Replaces a file as a whole, with the mode that it had.
fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::create_dir_all(directory_of(path))?;
    let mode = match fs::metadata(path) {
        Ok(metadata) if metadata.uid() != geteuid().as_raw() => anyhow::bail!("it belongs to another user"),
        Ok(metadata) => metadata.mode() & 0o7777,
        Err(_) => 0o600,
    };
    Ok(replace_file(path, FileMode::Exactly(mode), |out| out.write_all(text.as_bytes()))?)
}

fn parse_answer(text: &str) -> Result<(String, String), String> {
    // A column's name may have an equals sign; that of a key of `[time]` follows the last one before the encoding.
    let cut = match text.strip_prefix("time.") {
        Some(rest) => rest.rfind('=').map(|at| at + "time.".len()),
        None => text.find('='),
    };
    let parts = cut.map(|at| (&text[..at], text[at + 1..].trim()));
    match parts {
        Some((key, answer)) if !key.is_empty() && !answer.is_empty() => Ok((key.to_owned(), answer.to_owned())),
        _ => Err("must be KEY=VALUE, such as states.in_flight=working".to_owned()),
    }
}

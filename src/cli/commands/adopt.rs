use crate::cli::args::{AdoptArgs, OutputArgs, StoreArgs, text_or_json};
use crate::cli::config::Config;
use crate::cli::context::Context;
use crate::cli::error::{CliError, OrEnd};
use crate::cli::exit::Exit;
use crate::cli::next_command::{quoted, shell_word};
use crate::cli::progress;
use crate::cli::settings::{READING, Settings};
use crate::model::age;
use crate::ops::{self, Adoption, Answers, DryRun};
use crate::output::format::{Format, count, json};
use crate::output::{Adopt, FileMode, Proof, Question, Severity, directory_of, replace_file};
use anyhow::Context as _;
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `jobdoctor adopt`.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", |arg| arg.value_parser(text_or_json("toml", "The mapping as it stands in a config file"))))]
#[command(mut_arg("preset", |arg| arg.hide(true)), mut_arg("options", |arg| arg.hide(true)))]
#[command(after_help = "\
Examples:
  jobdoctor adopt order_queue --db queue.db
  jobdoctor adopt order_queue --db queue.db --watch 10s
  jobdoctor adopt order_queue --db queue.db --answer states.in_flight=working")]
pub struct Args {
    #[command(flatten)]
    adopt: AdoptArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    if args.store.preset.is_some() || args.store.table.is_some() || !args.store.options.is_empty() {
        return Err(CliError::new(
            Exit::Usage,
            "adopt drafts a mapping of its own: --preset, --table and --option have no effect here",
        )
        .hint("jobdoctor adopt TABLE --name NAME"));
    }
    let settings = Settings::resolve(&args.store, &context.environment)?;
    let store = context.store(&settings)?;
    let AdoptArgs { table, name, watch, .. } = &args.adopt;
    // What is watched and what a person ponders has no part in the time for reading.
    let limits = || settings.limits("adopt", READING + watch.unwrap_or_default(), &context.interrupt, false);
    let schema = settings.place.schema.as_deref();
    let mut given = args.adopt.answers.clone();
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
            Err(error @ ops::OpsError::Usage { .. }) if given.len() > args.adopt.answers.len() => {
                context.ui.side_error(&error.to_string());
                given.pop();
                continue;
            }
            draft => draft?,
        };
        let open = draft.questions.iter().find(|question| is_asked && !left_open.contains(&question.key));
        let Some(question) = open else { break draft };
        ask(context, question);
        match progress::read_line(&context.interrupt)?.filter(|answer| !answer.is_empty()) {
            Some(answer) => given.push((question.key.clone(), answer)),
            None => left_open.push(question.key.clone()),
        }
    };
    let mut misfit = None;
    if draft.complete {
        let writing = settings.limits("adopt", READING, &context.interrupt, true);
        let read_only = settings.target_name.as_deref().filter(|_| settings.target.read_only);
        let dry_run = args.adopt.dry_run.map(|_| DryRun { limits: &writing, read_only });
        match ops::prove(store.as_ref(), &limits(), &draft, dry_run.as_ref()) {
            Ok(proof) => draft.proof = Some(proof),
            Err(error) => misfit = Some(CliError::from(error)),
        }
        if args.adopt.write && misfit.is_none() {
            draft.written = Some(add_to_config_file(&settings, &draft)?.display().to_string());
        }
    }
    context.ui.report(|out| match args.output.format() {
        Format::Json => json(&draft, out),
        _ => out.write_all(draft.toml.as_bytes()),
    })?;
    for note in &draft.notes {
        context.ui.note(note);
    }
    if let Some(error) = misfit {
        return Ok(context.ui.error_after_report(&error));
    }
    if !draft.complete {
        return Ok(context.ui.error_after_report(&open(context, &draft, is_asked, &given[args.adopt.answers.len()..])));
    }
    if let Some(proof) = &draft.proof {
        report(context, proof);
    }
    if given.len() > args.adopt.answers.len() {
        context.ui.hint(&format!(
            "to draft it again without questions: {}",
            command_line(context, &given[args.adopt.answers.len()..])
        ));
    }
    let next = context.on_same_queue(&["check"], &["--preset", &quoted(&draft.name)]);
    match &draft.written {
        Some(path) => context.ui.hint(&format!("added to {path}; next: {next}")),
        None => context.ui.hint("add it to the config file with --write, or by hand"),
    }
    Ok(Exit::Done)
}

fn ask(context: &Context, question: &Question) {
    context.ui.note(&format!("{}: {}", question.key, question.question));
    question.seen.iter().for_each(|seen| context.ui.note(&format!("  {}", crate::output::format::inert(seen))));
    let form = if question.is_proposal { "proposed" } else { "for example" };
    context.ui.hint(&format!(
        "  {form}: {} (type the answer; an empty line leaves it open)",
        crate::output::format::inert(&question.form)
    ));
}

/// The error that questions are open, with the command line that settles them.
fn open(context: &Context, draft: &Adopt, was_asked: bool, given: &[(String, String)]) -> CliError {
    if !was_asked {
        for question in &draft.questions {
            context.ui.note(&format!("{}: {}", question.key, question.question));
            question.seen.iter().for_each(|seen| context.ui.note(&format!("  {}", crate::output::format::inert(seen))));
        }
    }
    let keys: Vec<&str> = draft.questions.iter().map(|question| question.key.as_str()).collect();
    let message = match &draft.no_queue {
        Some(why) => format!("table {} is not a queue: {why}", draft.table),
        None => {
            let questions = count(keys.len() as u64, "question is open", "questions are open");
            format!("the draft is not complete, {questions}: {}", keys.join(", "))
        }
    };
    let missing = draft.questions.iter().map(|question| (question.key.clone(), question.form.clone()));
    let answers: Vec<(String, String)> = given.iter().cloned().chain(missing).collect();
    let unproposed: Vec<&str> =
        draft.questions.iter().filter(|question| !question.is_proposal).map(|question| question.key.as_str()).collect();
    let mut error = CliError::new(Exit::Config, crate::output::format::inert(&message))
        .hint(format!("check each proposal, then: {}", command_line(context, &answers)));
    if !unproposed.is_empty() {
        error = error.hint(format!("jobdoctor proposes nothing for {}: fill it in", unproposed.join(", ")));
    }
    error
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
    for job in &proof.jobs {
        let silence = job.silence_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        let silence = silence.map_or_else(String::new, |silence| format!(", silent for {}", age(silence)));
        let owner = job.owner.as_ref().map_or_else(String::new, |owner| format!(", owner {owner}"));
        context.ui.note(&format!("  stuck: {}, {}{owner}{silence}", job.id, job.state));
    }
    for finding in &proof.findings {
        match finding.severity {
            Severity::Error => context.ui.side_error(&finding.detail),
            _ => context.ui.warn(&finding.detail),
        }
        finding.fix.iter().for_each(|fix| context.ui.hint(&format!("  {fix}")));
    }
    for tried in &proof.tried {
        let id = tried.id.as_ref().map_or_else(String::new, |id| format!(" {id}"));
        context.ui.note(&format!("{}{id}: {}", tried.action, tried.detail));
    }
    context.ui.note(match proof.fit {
        true => "check: jobdoctor can work with this draft",
        false => "check: jobdoctor cannot do all of its work with this draft",
    });
}

/// Adds the mapping at the end of the config file in use, or of a new one in the first default place.
fn add_to_config_file(settings: &Settings, draft: &Adopt) -> Result<PathBuf, CliError> {
    let default = settings.config_places.first();
    let path = settings.config.as_ref().map(|(path, _)| path).or(default).ok_or_else(|| {
        CliError::new(Exit::Usage, "no place for a config file is known").hint("name one with --config")
    })?;
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
    let gap = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let added = format!("{text}{gap}{}", draft.toml);
    let read = Config::parse(&what(), &added)?;
    if let Some((_, error)) = read.broken.into_iter().find(|(name, _)| *name == draft.name) {
        return Err(error.into());
    }
    replace(&file, &added).with_context(|| format!("{} cannot be written", what())).or_end(Exit::NoPermission)?;
    Ok(path.clone())
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

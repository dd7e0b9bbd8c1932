use crate::cli::args::{OutputArgs, StoreArgs, few_formats};
use crate::cli::database::Database;
use crate::cli::{CliError, Context, Exit, READING, Settings};
use crate::ops::{self, Checked};
use crate::output::format::{Format, json};
use crate::output::{Check, CheckFinding, Severity};
use crate::policy::Delay;
use std::path::Path;

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", few_formats))]
#[command(after_help = "\
Examples:
  jobdoctor check --db postgres://ops@db/app
  jobdoctor check --db queue.db --preset orders")]
pub struct Args {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    let database = settings.database()?;
    let format = args.output.format();
    let mut checked = match examine(context, &settings, &database) {
        Ok(checked) => checked,
        Err(error) => {
            // People read the same on stderr.
            if format == Format::Json {
                let ended = error.clone().after(context.caught.signal());
                context.ui.report(|out| json(&Check::failed(ended.document()), out))?;
            }
            return Err(error);
        }
    };
    // What does not fit fails there too, as does a standby.
    if checked.is_fit && !checked.document.not_tried.is_empty() && !settings.target.read_only {
        checked.document.try_with = Some(context.next_command("reclaim", &["--dry-run=server"]));
    }
    let document = &checked.document;
    context.ui.print_page(format, document, |screen| document.facts().render(screen).into())?;
    if !checked.is_fit {
        let exit = if checked.denied { Exit::NoPermission } else { Exit::Config };
        return Err(missing(document, exit));
    }
    context.ui.note(match document.can_reclaim {
        true => "jobdoctor can list and reclaim here",
        false => "jobdoctor can list and advise here; it cannot reclaim in such a queue",
    });
    Ok(Exit::Done)
}

fn examine(context: &Context, settings: &Settings, database: &Database) -> Result<Checked, CliError> {
    let store = database.store()?;
    let mut snapshot = context.snapshot_of(store.as_ref(), settings, "check")?;
    let setup: Vec<String> = database.warnings().iter().cloned().chain(database.dropped()).collect();
    let limits = settings.limits("check", READING, &context.interrupt, false);
    let with_waiting = settings.too_long().entries.iter().any(|entry| entry.since.is_some());
    let too_long = ops::unfit_limits(&settings.session(store.as_ref(), &limits), &snapshot.jobs, &settings.too_long())?;
    let delay = Delay { delay: settings.target.delay, jitter: settings.target.jitter };
    let mut unfit = ops::unfit_for_target(&snapshot, settings.target.max_stalls, &delay);
    unfit.extend(too_long.into_iter().map(|why| ("too_long", why)));
    let mut checked = ops::check(&mut snapshot, &setup, &unfit, with_waiting)?;
    let is_swept = settings.target.interrupted;
    if snapshot.views.tells_interrupted || is_swept {
        let misfit = ops::why_unbounded(&mut snapshot, settings.target.max_stalls)?.filter(|_| is_swept);
        checked.add_interrupted(&settings.session(store.as_ref(), &limits), is_swept, misfit)?;
    }
    checked.document.findings.extend(settings.target.on_run.first().map(|program| on_run(program)));
    Ok(checked)
}

fn on_run(program: &str) -> CheckFinding {
    let (severity, what) = match rustix::fs::access(program, rustix::fs::Access::EXEC_OK) {
        Ok(()) if Path::new(program).is_dir() => (Severity::Warning, "cannot be run: it is a directory".to_owned()),
        Ok(()) => (Severity::Ok, "gets the summary of each run that moved or was refused something".to_owned()),
        Err(why) => (Severity::Warning, format!("cannot be run: {why}")),
    };
    let detail = format!("{program} {what}");
    CheckFinding { id: "on_run".to_owned(), severity, detail, fix: None, count_seconds: None }
}

fn missing(document: &Check, exit: Exit) -> CliError {
    let errors: Vec<_> = document.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let details: Vec<&str> = errors.iter().map(|finding| finding.detail.as_str()).collect();
    let can = match (document.can_list, document.can_reclaim) {
        (_, true) => "can list and reclaim here, but no sweep can bring back interrupted jobs",
        (true, false) => "can list but not reclaim here",
        (false, false) => "cannot work here",
    };
    CliError::new(exit, format!("jobdoctor {can}: {}", details.join("; ")))
        .hints(errors.iter().filter_map(|finding| finding.fix.clone()))
}

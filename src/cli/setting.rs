//! The keys of a target in the config file, each declared once: its name, what counts before it, and its field.

use super::args::{
    ActArgs, ConfirmArgs, OlderArgs, StoreArgs, UnattendedArgs, actions, parse_between_snapshots, parse_up_to_1h,
    parse_up_to_7d, switchable_rules,
};
use crate::history::Keep;
use crate::model::{Action, parse_duration};
use crate::output::format::count;
use crate::policy::{Globs, Rule, StateLimit, Threshold};
use crate::preset::{Field, SpecError, Value, Written};
use crate::store::may_hold_password;
use Kind::{Count, Other, Span, Switch, Tables, Text, Truth, Word};
use clap::{Arg, Args, Command};
use std::time::Duration;

/// A rule to act on, and the action where it is not the usual one.
type RuleAction = (Rule, Option<Action>);

/// The settings of a named queue, `[target.NAME]`: one field for each of the [`SETTINGS`].
#[derive(Debug, Default, Clone)]
pub struct Target {
    pub db: Option<String>,
    pub password_file: Option<String>,
    pub preset: Option<String>,
    pub schema: Option<String>,
    pub table: Option<String>,
    pub options: Vec<(String, String)>,
    pub timeout: Option<Duration>,
    pub network_files: bool,
    pub second_name: bool,
    pub foreign_keys: Option<bool>,
    pub older: Option<Duration>,
    pub max_runtime: Option<Duration>,
    pub oldest_due: Option<Duration>,
    pub thresholds: Vec<Threshold>,
    pub too_long: Vec<StateLimit>,
    pub confirm_after: Option<Duration>,
    pub rules: Vec<RuleAction>,
    pub read_only: bool,
    pub brake: Option<bool>,
    pub max_jobs: Option<u64>,
    pub delay: Option<Duration>,
    pub jitter: Option<Duration>,
    pub max_stalls: Option<u32>,
    /// `if_refused = "fail"`.
    pub fails_refused: bool,
    pub interrupted: bool,
    pub warn_above: Option<u64>,
    pub min_interval: Option<Duration>,
    pub lock_wait: Option<Duration>,
    pub journal: Option<Keep>,
    pub on_run: Vec<String>,
}

pub struct Setting {
    pub key: &'static str,
    /// The option and the environment variable that count before the key; empty if there is none.
    before: &'static str,
    /// What is in force where nothing sets it, for `env`.
    pub default: Option<&'static str>,
    /// What the key does; empty if the help of its option says it.
    help: &'static str,
    kind: Kind,
}

/// How a value is read, and the field that it is kept in.
#[derive(Clone, Copy)]
enum Kind {
    Text(fn(&mut Target) -> &mut Option<String>),
    /// A duration, with the bounds of its parser.
    Span(fn(&str) -> Result<Duration, String>, fn(&mut Target) -> &mut Option<Duration>),
    Count(fn(&mut Target) -> &mut Option<u64>),
    /// Off unless it is true.
    Switch(fn(&mut Target) -> &mut bool),
    Truth(fn(&mut Target) -> &mut Option<bool>),
    /// On with this word, the only one.
    Word(&'static str, fn(&mut Target) -> &mut bool),
    /// A value of its own kind: how to read and how to show it.
    Other(fn(&Field<'_>, &mut Target) -> Result<(), SpecError>, fn(&Target) -> Option<String>),
    /// Tables, which `env` lists one by one.
    Tables(fn(&Field<'_>, &mut Target) -> Result<(), SpecError>),
}

/// Every key of a target, in the order of `env` and of the help.
pub static SETTINGS: [Setting; 30] = [
    of("db", "--db, JOBDOCTOR_DB", Text(|target| &mut target.db)),
    of("password_file", "--password-file, JOBDOCTOR_PASSWORD_FILE", Text(|target| &mut target.password_file)),
    of("preset", "--preset", Text(|target| &mut target.preset)),
    of("schema", "--schema", Text(|target| &mut target.schema)),
    of("table", "--table", Text(|target| &mut target.table)),
    of("options", "--option", Other(read_options, |target| in_words(&target.options)))
        .help("A table of options of the preset; `presets show NAME` lists them"),
    of("timeout", "--timeout", Span(parse_duration, |target| &mut target.timeout)).or("30s to read, 10m to apply"),
    of("network_files", "--network-files", Switch(|target| &mut target.network_files)),
    of("second_name", "--second-name", Switch(|target| &mut target.second_name)),
    of("foreign_keys", "", Truth(|target| &mut target.foreign_keys))
        .help("Do not enforce foreign keys of a SQLite file, for declarations that cannot be enforced"),
    of("older", "--older", Span(parse_duration, |target| &mut target.older)).or("the queue library's own threshold"),
    of("max_runtime", "", Span(parse_duration, |target| &mut target.max_runtime))
        .help("How long a job may run if its row has no limit of its own; longer is trouble"),
    of("oldest_due", "", Span(parse_duration, |target| &mut target.oldest_due))
        .or("ten times the library's normal delay; critical after 15m")
        .help("How long due jobs may wait before their queue stands still, and before `health` calls that critical"),
    of("threshold", "", Tables(|field, target| thresholds(field).map(|list| target.thresholds = list)))
        .help("The two keys above for single queues or kinds; the first entry that matches counts"),
    of("too_long", "", Tables(|field, target| too_long(field).map(|list| target.too_long = list)))
        .help("A limit: how long a job may be in a state, and the action then"),
    of("confirm_after", "--confirm-after", Span(parse_between_snapshots, |target| &mut target.confirm_after)),
    of(
        "rules",
        "--rule",
        Other(|field, target| rules(field).map(|list| target.rules = list), |target| rules_in_words(&target.rules)),
    )
    .help("A list of rules about trouble to act on too; a table of name and action sets the action of one"),
    of("read_only", "", Switch(|target| &mut target.read_only)).help("Refuse --apply and init with exit code 4"),
    of("brake", "", Truth(|target| &mut target.brake)).or("true").help("Disable the brake for this target"),
    of("max_jobs", "--max-jobs", Count(|target| &mut target.max_jobs)),
    of("delay", "--delay", Span(parse_up_to_7d, |target| &mut target.delay)),
    of("jitter", "--jitter", Span(parse_up_to_7d, |target| &mut target.jitter)),
    of("max_stalls", "--max-stalls", Other(read_stalls, |target| target.max_stalls.map(|most| most.to_string()))),
    of("if_refused", "--if-refused", Word("fail", |target| &mut target.fails_refused)),
    of("interrupted", "", Switch(|target| &mut target.interrupted)).help(
        "Let a sweep retry interrupted jobs too, those of the last 24 hours; needs max_stalls and a place that counts",
    ),
    of("warn_above", "--warn-above", Count(|target| &mut target.warn_above)),
    of("min_interval", "--min-interval", Span(parse_up_to_7d, |target| &mut target.min_interval)),
    of("lock_wait", "--lock-wait", Span(parse_up_to_1h, |target| &mut target.lock_wait)),
    of(
        "journal",
        "",
        Other(|field, target| field.word(&KEEP).map(|keep| target.journal = Some(keep)), journal_in_words),
    )
    .or("on")
    .help("on, off or required; required refuses a run without a journal"),
    of("on_run", "", Other(read_command, command_in_words))
        .help("A program and its arguments; a run that moved or was refused something gives it the summary as JSON"),
];

const KEEP: [(&str, Keep); 3] = [("on", Keep::IfPossible), ("off", Keep::Off), ("required", Keep::Required)];

const fn of(key: &'static str, before: &'static str, kind: Kind) -> Setting {
    Setting { key, before, default: None, help: "", kind }
}

impl Setting {
    const fn or(self, default: &'static str) -> Setting {
        Setting { default: Some(default), ..self }
    }

    const fn help(self, help: &'static str) -> Setting {
        Setting { help, ..self }
    }

    pub fn read(&self, field: &Field<'_>, target: &mut Target) -> Result<(), SpecError> {
        match self.kind {
            Text(slot) => *slot(target) = Some(if self.key == "db" { field.read()? } else { name(field)? }),
            Span(parse, slot) => *slot(target) = Some(span(field, parse)?),
            Count(slot) => *slot(target) = Some(field.read()?),
            Switch(slot) => *slot(target) = field.read()?,
            Truth(slot) => *slot(target) = Some(field.read()?),
            Word(word, slot) => *slot(target) = field.word(&[(word, true)])?,
            Other(read, _) | Tables(read) => read(field, target)?,
        }
        Ok(())
    }

    /// The value in words, if the target has one; tables have none.
    pub fn in_words(&self, target: &mut Target) -> Option<String> {
        match self.kind {
            Text(slot) => slot(target).clone(),
            Span(_, slot) => slot(target).map(|span| humantime::format_duration(span).to_string()),
            Count(slot) => slot(target).map(|count| count.to_string()),
            Switch(slot) => slot(target).then(|| "true".to_owned()),
            Truth(slot) => slot(target).map(|truth| truth.to_string()),
            Word(word, slot) => slot(target).then(|| word.to_owned()),
            Other(_, show) => show(target),
            Tables(_) => None,
        }
    }

    pub fn is_tables(&self) -> bool {
        matches!(self.kind, Tables(_))
    }

    /// The option that counts before the key; empty if there is none.
    pub fn flag(&self) -> &'static str {
        self.before.split(", ").next().unwrap_or_default()
    }

    /// The name and the meaning for a page of help; the meaning is the help of its option, which is one of these.
    fn explained(&self, options: &Command) -> (String, String) {
        let is_its_own = |arg: &&Arg| arg.get_long().is_some_and(|long| self.flag().strip_prefix("--") == Some(long));
        let option = options.get_arguments().find(is_its_own).and_then(Arg::get_help).map(ToString::to_string);
        let help = match &option {
            Some(help) if self.help.is_empty() => help.split(" [env").next().unwrap_or_default(),
            _ => self.help,
        };
        let value = match self.kind {
            Switch(_) => "true: ",
            Truth(_) => "false: ",
            Word(..) => "fail: ",
            _ => "",
        };
        let name = if self.is_tables() { format!("[[target.NAME.{}]]", self.key) } else { self.key.to_owned() };
        let before = if self.before.is_empty() { String::new() } else { format!(" ({})", self.before) };
        (name, format!("{value}{help}{before}"))
    }
}

/// Every key of a target with its meaning.
pub fn explained() -> Vec<(String, String)> {
    let options = ActArgs::augment_args(StoreArgs::augment_args(Command::new("settings")));
    let options = UnattendedArgs::augment_args(ConfirmArgs::augment_args(OlderArgs::augment_args(options)));
    SETTINGS.iter().map(|setting| setting.explained(&options)).collect()
}

/// Reads the name of something, which is shown.
fn name(field: &Field<'_>) -> Result<String, SpecError> {
    let text: String = field.read()?;
    let is_address = may_hold_password(&text);
    if is_address { Err(field.error("looks like an address with a password (it is not shown)")) } else { Ok(text) }
}

/// Reads `options`, whose values the preset checks.
fn read_options(field: &Field<'_>, target: &mut Target) -> Result<(), SpecError> {
    for (name, field) in field.entries()? {
        target.options.push((name.to_owned(), field.read::<Written>()?.text));
    }
    Ok(())
}

fn read_command(field: &Field<'_>, target: &mut Target) -> Result<(), SpecError> {
    target.on_run = field.items()?.iter().map(Field::read).collect::<Result<_, _>>()?;
    match target.on_run.first() {
        Some(program) if program.starts_with('/') => Ok(()),
        _ => Err(field.error("must begin with the absolute path of a program, as in [\"/usr/local/bin/tell-ops\"]")),
    }
}

/// The program; its arguments may be secrets, such as the URL of a webhook.
fn command_in_words(target: &Target) -> Option<String> {
    let (program, arguments) = target.on_run.split_first()?;
    let hidden = count(arguments.len() as u64, "argument", "arguments");
    Some(if arguments.is_empty() { program.clone() } else { format!("{program} ({hidden}, not shown)") })
}

/// `name=value` of each option, if there is any.
fn in_words(options: &[(String, String)]) -> Option<String> {
    let options: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!options.is_empty()).then(|| options.join(", "))
}

fn read_stalls(field: &Field<'_>, target: &mut Target) -> Result<(), SpecError> {
    let wrong = field.error(format!("must be a number up to {}", u32::MAX));
    target.max_stalls = Some(u32::try_from(field.read::<u64>()?).map_err(|_| wrong)?);
    Ok(())
}

fn journal_in_words(target: &Target) -> Option<String> {
    KEEP.iter().find(|(_, keep)| Some(*keep) == target.journal).map(|(word, _)| (*word).to_owned())
}

fn rules(field: &Field<'_>) -> Result<Vec<RuleAction>, SpecError> {
    let known: Vec<(&str, Rule)> = switchable_rules().into_iter().map(|rule| (rule.name(), rule)).collect();
    let actions: Vec<(&str, Action)> = actions().into_iter().map(|action| (action.name(), action)).collect();
    let one = |item: &Field<'_>| {
        if !matches!(item.node.value, Value::Table(_)) {
            return Ok((item.word(&known)?, None));
        }
        item.knows(&["name", "action"])?;
        let rule = item.need("name")?.word(&known)?;
        Ok((rule, Some(item.need("action")?.word(&actions)?)))
    };
    field.items()?.iter().map(one).collect()
}

/// The switched-on rules, each with its action where it is not the usual one; `None` if there are none.
fn rules_in_words(rules: &[RuleAction]) -> Option<String> {
    let one = |(rule, action): &RuleAction| match action {
        Some(action) => format!("{rule} ({action})"),
        None => rule.to_string(),
    };
    (!rules.is_empty()).then(|| rules.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn too_long(field: &Field<'_>) -> Result<Vec<StateLimit>, SpecError> {
    field.items()?.iter().enumerate().map(|(n, item)| limit(n + 1, item)).collect()
}

fn limit(number: usize, field: &Field<'_>) -> Result<StateLimit, SpecError> {
    // The error about a misspelt key comes first: it explains why another key is missing.
    field.knows(&["state", "queue", "kind", "after", "since", "action"])?;
    let lacks = |what: &str| field.error(what);
    Ok(StateLimit {
        number,
        queue: glob(field, "queue")?.unwrap_or_default(),
        kind: glob(field, "kind")?.unwrap_or_default(),
        since: field.get("since")?,
        state: field.get("state")?.ok_or_else(|| lacks("needs `state`: the state in which a job may be too long"))?,
        after: duration(field, "after")?.ok_or_else(|| lacks("needs `after`: how long a job may be in that state"))?,
        action: field
            .get("action")?
            .ok_or_else(|| lacks("needs `action`: what is done then: requeue, fail, cancel, time_out or wake"))?,
    })
}

fn thresholds(field: &Field<'_>) -> Result<Vec<Threshold>, SpecError> {
    field.items()?.iter().map(threshold).collect()
}

fn threshold(field: &Field<'_>) -> Result<Threshold, SpecError> {
    // The error about a misspelt key comes first: it explains why another key is missing.
    field.knows(&["queue", "kind", "older", "max_runtime"])?;
    let (queue, kind) = (glob(field, "queue")?, glob(field, "kind")?);
    let (older, max_runtime) = (duration(field, "older")?, duration(field, "max_runtime")?);
    match (&queue, &kind, older, max_runtime) {
        (None, None, _, _) => {
            Err(field.error("needs `queue` or `kind`; a threshold for all jobs belongs in the target itself"))
        }
        (_, _, None, None) => Err(field.error("needs `older` or `max_runtime`")),
        _ => Ok(Threshold { queue: queue.unwrap_or_default(), kind: kind.unwrap_or_default(), older, max_runtime }),
    }
}

fn glob(field: &Field<'_>, key: &str) -> Result<Option<Globs>, SpecError> {
    let Some(written) = field.get::<Written>(key)? else { return Ok(None) };
    Globs::new(std::slice::from_ref(&written.text)).map(Some).map_err(|why| written.error(why.0))
}

fn duration(field: &Field<'_>, key: &str) -> Result<Option<Duration>, SpecError> {
    field.child(key).map(|field| span(&field, parse_duration)).transpose()
}

/// Reads a duration within the bounds of its parser.
fn span(field: &Field<'_>, parse: fn(&str) -> Result<Duration, String>) -> Result<Duration, SpecError> {
    parse(&field.read::<String>()?).map_err(|why| field.error(why))
}

//! Several targets: the command runs on each, a few at a time. A target that fails does not stop the others.

mod report;
mod worker_pool;

use super::args::{StoreArgs, TargetsArgs};
use crate::cli::{CliError, Context, Exit, Settings};
use report::{Report, TargetResult};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the command on the target of that name, with the words of the context.
type Run<'a> = &'a (dyn Fn(&str, &mut Context) -> Result<Exit, CliError> + Sync);

/// Stands for the target's name in the path of an output file.
const PLACE: &str = "{target}";

/// The options of a command line that concern targets, and those that make sense with one target only.
pub struct Several<'a> {
    name: &'static str,
    store: &'a mut StoreArgs,
    targets: &'a mut TargetsArgs,
    single_only: Vec<(&'static str, &'static str)>,
    files: Vec<(&'static str, &'a mut PathBuf)>,
}

impl<'a> Several<'a> {
    pub fn of(name: &'static str, store: &'a mut StoreArgs, targets: &'a mut TargetsArgs) -> Several<'a> {
        let (names_db, names_password) = (store.db.is_some(), store.password_file.is_some());
        let shared_password = "each server would receive the password of another database";
        Several { name, store, targets, single_only: Vec::new(), files: Vec::new() }
            .single_only("--db", names_db, "it names one database, and each target has its own")
            .single_only("--password-file", names_password, shared_password)
    }

    /// Adds a flag that makes sense with one target only, if it was given, and why.
    pub fn single_only(mut self, flag: &'static str, is_given: bool, why: &'static str) -> Self {
        self.single_only.extend(is_given.then_some((flag, why)));
        self
    }

    /// Adds an output file, if one was named: each target needs its own.
    pub fn file(mut self, flag: &'static str, path: Option<&'a mut PathBuf>) -> Self {
        self.files.extend(path.map(|path| (flag, path)));
        self
    }

    /// Adds a list that each target reads, if named. Of a pipe each would read a part and take other owners for dead.
    pub fn list(self, flag: &'static str, path: Option<&Path>) -> Self {
        let is_pipe = |path: &Path| path == Path::new("-") || path.exists() && !path.is_file();
        let why = "a pipe can be read only once; write the list to a file first";
        self.single_only(flag, path.is_some_and(is_pipe), why)
    }

    pub fn are_requested(&self) -> bool {
        self.targets.all_targets || self.store.target.len() > 1
    }

    /// Runs the command on each target; the worst exit is that of the whole.
    pub fn run(self, context: &Context, run: Run<'_>) -> Result<Exit, CliError> {
        if let Some((flag, why)) = self.single_only.first() {
            let message = format!("{flag} makes no sense with several targets: {why}");
            return Err(CliError::usage(message).hint("name one --target, or leave it out"));
        }
        let mut report = Report::new(context, self.name)?;
        let (targets, broken) = Settings::targets(self.store, &context.environment)?;
        broken.iter().for_each(|error| context.ui.warn_about_setup(&error.to_string()));
        self.check_files(&targets)?;
        let on_one = |n: usize| targets.get(n).map(|target| run_on(target, context, run));
        let mut failed = None;
        worker_pool::in_order(targets.len(), &on_one, |n, result| {
            let Some(target) = targets.get(n) else { return };
            let result = result.ok().flatten().unwrap_or_else(|| abandoned(target));
            context.ui.redraw("");
            if let Err(error) = report.add(&result) {
                // The command has run on this target, and the others must not suffer: go on.
                failed.get_or_insert(error);
            }
            context.ui.redraw(&format!("{} of {} targets", n + 1, targets.len()));
        })?;
        context.ui.redraw("");
        match failed {
            Some(error) => Err(error),
            None => report.end(),
        }
    }

    /// Makes the options those of this target alone, and gives the words that say the same.
    pub fn narrow(self, target: &str, words: &[String]) -> Vec<String> {
        let mut words = words_for(words, target);
        self.targets.all_targets = false;
        self.store.target = vec![target.to_owned()];
        for (_, path) in self.files {
            let given = path.to_string_lossy().into_owned();
            words.iter_mut().filter(|word| word.ends_with(&given)).for_each(|word| *word = word.replace(PLACE, target));
            *path = PathBuf::from(given.replace(PLACE, target));
        }
        words
    }

    /// Refuses an output file that several targets would share.
    fn check_files(&self, targets: &[String]) -> Result<(), CliError> {
        for (flag, path) in &self.files {
            if !path.to_string_lossy().contains(PLACE) {
                let message = format!("{flag} {}: with several targets each needs a file of its own", path.display());
                let hint = format!("put {PLACE} into the path, as in {flag} dir/{PLACE}.json");
                return Err(CliError::usage(message).hint(hint));
            }
            if let Some(name) = targets.iter().find(|name| name.contains(['/', '\0'])) {
                let message = format!("{flag}: the name of target `{name}` cannot be part of a path");
                return Err(CliError::usage(message).hint("give it another name in the config file"));
            }
        }
        Ok(())
    }
}

/// Runs the command on one target, with its output buffered.
fn run_on(target: &str, context: &Context, run: Run<'_>) -> TargetResult {
    let (ui, buffered) = context.ui.buffered(target);
    let mut context = Context { ui, ..context.clone() };
    let end = match context.interrupt.is_raised() {
        true => Err(CliError::new(Exit::Signal(signal_hook::consts::SIGINT), "interrupted")),
        false => run(target, &mut context),
    };
    let end = end.map_err(|error| error.after(context.caught.signal()));
    // For programs, the report has a place for it.
    if let Err(error) = &end
        && !context.ui.is_for_machines()
    {
        context.ui.error(error);
    }
    TargetResult { target: target.to_owned(), end, buffered }
}

/// The result of a run that panicked; its place is printed already.
fn abandoned(target: &str) -> TargetResult {
    let message = format!("jobdoctor has a defect: the run on target {target} was abandoned");
    let end = Err(CliError::new(Exit::Internal, message));
    TargetResult { target: target.to_owned(), end, buffered: Arc::default() }
}

/// The words with this target in place of the others, for the commands that are printed as the next step.
fn words_for(words: &[String], target: &str) -> Vec<String> {
    let mut words = words.iter();
    let mut own: Vec<String> = words.by_ref().take(1).cloned().collect();
    own.extend(["--target".to_owned(), target.to_owned()]);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--all-targets" => {}
            "--target" => drop(words.next()),
            _ if word.starts_with("--target=") => {}
            _ => own.push(word.clone()),
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_one_target() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let several = words("stale --older 5m --target a --target=b --all-targets --queue mail");
        assert_eq!(words_for(&several, "c"), words("stale --target c --older 5m --queue mail"));
    }
}

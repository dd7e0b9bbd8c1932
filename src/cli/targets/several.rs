//! The options about several targets, and the command line for each of them.

use crate::cli::args::{StoreArgs, TargetsArgs};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use std::path::{Path, PathBuf};

/// Stands for the target's name in the path of an output file.
const PLACE: &str = "{target}";

/// The options of a command line that concern targets, and those that make sense with one target only.
pub struct Several<'a> {
    pub(super) name: &'static str,
    /// The options that name the queue.
    pub(super) store: &'a mut StoreArgs,
    targets: &'a mut TargetsArgs,
    single_only: Vec<(&'static str, &'static str)>,
    files: Vec<(&'static str, &'a mut PathBuf)>,
    lists: Vec<(&'static str, &'a Path)>,
}

impl<'a> Several<'a> {
    /// The options of a command.
    pub fn of(name: &'static str, store: &'a mut StoreArgs, targets: &'a mut TargetsArgs) -> Several<'a> {
        let mut single_only = Vec::new();
        if store.db.is_some() {
            single_only.push(("--db", "it names one database, and each target has its own"));
        }
        if store.password_file.is_some() {
            single_only.push(("--password-file", "each server would receive the password of another database"));
        }
        Several { name, store, targets, single_only, files: Vec::new(), lists: Vec::new() }
    }

    /// Adds a flag that makes sense with one target only, if it was given, and why.
    #[must_use]
    pub fn single_only(mut self, flag: &'static str, is_given: bool, why: &'static str) -> Self {
        self.single_only.extend(is_given.then_some((flag, why)));
        self
    }

    /// Adds an output file, if one was named: each target needs its own.
    #[must_use]
    pub fn file(mut self, flag: &'static str, path: Option<&'a mut PathBuf>) -> Self {
        self.files.extend(path.map(|path| (flag, path)));
        self
    }

    /// Adds a list that each target reads, if one was named.
    #[must_use]
    pub fn list(mut self, flag: &'static str, path: Option<&'a Path>) -> Self {
        self.lists.extend(path.map(|path| (flag, path)));
        self
    }

    /// True if the command line names several targets.
    pub fn are_requested(&self) -> bool {
        self.targets.all_targets || self.store.target.len() > 1
    }

    /// Refuses options that make sense with one target only.
    pub(super) fn check_options(&self) -> Result<(), CliError> {
        if let Some((flag, why)) = self.single_only.first() {
            let message = format!("{flag} makes no sense with several targets: {why}");
            return Err(CliError::new(Exit::Usage, message).hint("name one --target, or leave it out"));
        }
        for (flag, path) in &self.lists {
            // Each target would read a part of the pipe, and take the owners in the other parts for dead.
            if !path.is_file() && path.exists() || *path == Path::new("-") {
                let message = format!("{flag} must be a file with several targets: a pipe can be read only once");
                return Err(CliError::new(Exit::Usage, message).hint("write the list to a file first"));
            }
        }
        Ok(())
    }

    /// Refuses an output file that several targets would share.
    pub(super) fn check_files(&self, targets: &[String]) -> Result<(), CliError> {
        for (flag, path) in &self.files {
            if !path.to_string_lossy().contains(PLACE) {
                let message = format!("{flag} {}: with several targets each needs a file of its own", path.display());
                return Err(CliError::new(Exit::Usage, message)
                    .hint(format!("put {PLACE} into the path, as in {flag} dir/{PLACE}.json")));
            }
            if let Some(name) = targets.iter().find(|name| name.contains(['/', '\0'])) {
                let message = format!("{flag}: the name of target `{name}` cannot be part of a path");
                return Err(CliError::new(Exit::Usage, message).hint("give it another name in the config file"));
            }
        }
        Ok(())
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

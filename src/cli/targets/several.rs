use super::Request;
use crate::cli::args::{StoreArgs, TargetsArgs};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use std::path::{Path, PathBuf};

/// In the path of a file that is written, the target's name.
const PLACE: &str = "{target}";

/// What a command line says of targets, and what of it is for one target alone.
pub struct Several<'a> {
    /// The command.
    pub(super) name: &'static str,
    /// Where the queue is.
    pub(super) store: &'a mut StoreArgs,
    targets: &'a mut TargetsArgs,
    alone: Vec<(&'static str, &'static str)>,
    files: Vec<(&'static str, &'a mut PathBuf)>,
    lists: Vec<(&'static str, &'a Path)>,
}

impl<'a> Several<'a> {
    /// Of a command.
    pub fn of(name: &'static str, store: &'a mut StoreArgs, targets: &'a mut TargetsArgs) -> Several<'a> {
        let mut alone = Vec::new();
        if store.db.is_some() {
            alone.push(("--db", "it names one database, and each target has its own"));
        }
        if store.password_file.is_some() {
            alone.push(("--password-file", "every server would see one database's password"));
        }
        Several { name, store, targets, alone, files: Vec::new(), lists: Vec::new() }
    }

    /// With a flag that makes sense with one target alone, if it was said, and why.
    #[must_use]
    pub fn alone(mut self, flag: &'static str, is_said: bool, why: &'static str) -> Self {
        self.alone.extend(is_said.then_some((flag, why)));
        self
    }

    /// With a file that is written, if one was named: each target needs its own.
    #[must_use]
    pub fn file(mut self, flag: &'static str, path: Option<&'a mut PathBuf>) -> Self {
        self.files.extend(path.map(|path| (flag, path)));
        self
    }

    /// With a list that every target reads, if one was named.
    #[must_use]
    pub fn list(mut self, flag: &'static str, path: Option<&'a Path>) -> Self {
        self.lists.extend(path.map(|path| (flag, path)));
        self
    }

    /// True if more than one target may be meant.
    pub(super) fn is_meant(&self) -> bool {
        self.targets.all_targets || self.store.target.len() > 1
    }

    /// Refuses what makes sense with one target alone.
    pub(super) fn must_fit(&self) -> Result<(), CliError> {
        if let Some((flag, why)) = self.alone.first() {
            let message = format!("{flag} makes no sense with several targets: {why}");
            return Err(CliError::new(Exit::Usage, message).hint("name one --target, or leave it out"));
        }
        for (flag, path) in &self.lists {
            // Each target would read a part of a pipe, and take whoever is in the other parts for dead.
            if !path.is_file() && path.exists() || *path == Path::new("-") {
                let message = format!("{flag} must be a file with several targets: a pipe can be read only once");
                return Err(CliError::new(Exit::Usage, message).hint("write the list to a file first"));
            }
        }
        Ok(())
    }

    /// Refuses a file that several targets would write to.
    pub(super) fn must_name_files(&self, targets: &[String]) -> Result<(), CliError> {
        for (flag, path) in &self.files {
            if !path.to_string_lossy().contains(PLACE) {
                let message = format!("{flag} {}: with several targets each needs a file of its own", path.display());
                return Err(CliError::new(Exit::Usage, message)
                    .hint(format!("say where the target's name goes, such as {flag} dir/{PLACE}.json")));
            }
            if let Some(name) = targets.iter().find(|name| name.contains(['/', '\0'])) {
                let message = format!("{flag}: the name of target `{name}` cannot be part of a path");
                return Err(CliError::new(Exit::Usage, message).hint("give it another name in the config file"));
            }
        }
        Ok(())
    }
}

/// The command, and the words it was said in, as if this target alone had been named.
pub(super) fn at<R: Request>(command: &R, target: &str, words: &[String]) -> (R, Vec<String>) {
    let mut command = command.clone();
    let mut words = named(words, target);
    if let Some(several) = command.several() {
        several.targets.all_targets = false;
        several.store.target = vec![target.to_owned()];
        for (_, path) in several.files {
            let said = path.to_string_lossy().into_owned();
            let own = said.replace(PLACE, target);
            words.iter_mut().filter(|word| word.ends_with(&said)).for_each(|word| *word = word.replace(PLACE, target));
            *path = PathBuf::from(own);
        }
    }
    (command, words)
}

/// The words with this target in place of all that they say of targets, for the commands that are proposed.
fn named(words: &[String], target: &str) -> Vec<String> {
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
        let said = words("stale --older 5m --target a --target=b --all-targets --queue mail");
        assert_eq!(named(&said, "c"), words("stale --target c --older 5m --queue mail"));
    }
}

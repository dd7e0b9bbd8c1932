//! The config file: targets, and mappings for home-made tables.

use super::environment::Environment;
use super::error::{CliError, OrEnd};
use super::exit::Exit;
use super::input::{LONGEST_FILE, PATIENCE, Source};
use super::secret::may_hold_password;
use super::setting::{SETTINGS, Target};
use super::trusted_file::{Stranger, find_trusted};
use crate::preset::{Field, Node, Preset, SpecError, Written, did_you_mean};
use anyhow::Context;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A config file, read and checked.
#[derive(Debug, Default)]
pub struct Config {
    /// The target when none is named.
    pub default_target: Option<String>,
    pub targets: BTreeMap<String, Target>,
    /// Their names, in the order of the file.
    pub order: Vec<String>,
    pub mappings: Vec<Preset>,
    /// Mappings that cannot be read, by name: an error for the targets that use them.
    pub broken: Vec<(String, SpecError)>,
}

impl Config {
    /// Reads a config file; one that others may write to is refused.
    pub fn read(path: &Path, environment: &Environment) -> Result<Config, CliError> {
        let text = match environment.config.get() {
            Some(text) => text,
            None => {
                let exits = (Exit::Config, Exit::Config);
                let source =
                    Source { what: "config file", flag: "--config", path, most: LONGEST_FILE, identity: None, exits };
                let place = if source.is_stdin() { Path::new("/dev/stdin") } else { path };
                let found = find_trusted(place).with_context(|| unreadable(path)).or_end(Exit::Config)?;
                let found = found.map_err(|Stranger { who, fix }| {
                    let message = format!("{} was not used: its SQL runs with your rights, and {who}", source.name());
                    CliError::new(Exit::Config, message).hint(fix)
                })?;
                let source = Source { identity: Some(found), ..source };
                let text = source.read(&environment.interrupt, PATIENCE)?.text;
                environment.config.get_or_init(|| text)
            }
        };
        let config = Config::parse(&format!("config file {}", path.display()), text)?;
        let holds_password = config.targets.values().filter_map(|target| target.db.as_deref()).any(may_hold_password);
        if holds_password {
            must_be_private(path)?;
        }
        Ok(config)
    }

    /// Reads the text of a config file. An error in a mapping is kept for those who use it.
    pub fn parse(name: &str, text: &str) -> Result<Config, SpecError> {
        let node = Node::parse(name, text)?;
        let root = Field::of(name, "", &node);
        root.knows(&["default_target", "target", "mapping"])?;
        let entries = |key| root.child(key).map_or_else(|| Ok(Vec::new()), |field| field.entries());
        let mut config = Config::default();
        for (name, field) in entries("target")? {
            config.targets.insert(name.to_owned(), target(&field)?);
            config.order.push(name.to_owned());
        }
        for (mapping, field) in entries("mapping")? {
            let document = format!("{name}, mapping {mapping}");
            match Preset::of(&document, mapping, field.node.clone()) {
                Ok(preset) => config.mappings.push(preset),
                Err(error) => config.broken.push((mapping.to_owned(), error)),
            }
        }
        if let Some(written) = root.get::<Written>("default_target")? {
            if !config.targets.contains_key(&written.text) {
                let hint = did_you_mean(&written.text, config.targets.keys().map(String::as_str));
                return Err(written.error(format!("there is no target `{}`{hint}", written.text)));
            }
            config.default_target = Some(written.text);
        }
        Ok(config)
    }
}

/// Checks the text of a config file; the message calls the file by that name and repeats no password.
pub fn check(name: &str, text: &str) -> Result<(), String> {
    let config = Config::parse(name, text);
    let checked = config.and_then(|config| config.broken.into_iter().next().map_or(Ok(()), |(_, error)| Err(error)));
    checked.map_err(|error| CliError::from(error).document().message)
}

fn unreadable(path: &Path) -> String {
    format!("config file {} cannot be read", path.display())
}

/// Refuses a password that other users can read. The rule is libpq's for keys: ours alone; or root's, and then its
/// group may read.
fn must_be_private(path: &Path) -> Result<(), CliError> {
    let metadata = std::fs::metadata(path).with_context(|| unreadable(path)).or_end(Exit::Config)?;
    let (mode, open) = (metadata.mode() & 0o777, if metadata.uid() == 0 { 0o037 } else { 0o077 });
    if mode & open == 0 {
        return Ok(());
    }
    let message =
        format!("config file {} holds a password, and its mode {mode:04o} lets others read it", path.display());
    Err(CliError::new(Exit::Config, message)
        .hint(format!("chmod 600 {}; or leave the password out: ~/.pgpass, password_file = \"...\"", path.display())))
}

fn target(field: &Field<'_>) -> Result<Target, SpecError> {
    let mut target = Target::default();
    for setting in &SETTINGS {
        if let Some(field) = field.child(setting.key) {
            setting.read(&field, &mut target)?;
        }
    }
    field.knows(&SETTINGS.each_ref().map(|setting| setting.key))?;
    Ok(target)
}

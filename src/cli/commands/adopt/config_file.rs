//! Adds a draft to the config file and leaves the rest of the file as it is.

use crate::cli::config::Config;
use crate::cli::error::{CliError, OrEnd};
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::output::{Adopt, FileMode, directory_of, replace_file};
use anyhow::Context as _;
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Adds the mapping at the end of the config file in use, or of a new one in the first default place.
pub(super) fn add(settings: &Settings, draft: &Adopt) -> Result<PathBuf, CliError> {
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

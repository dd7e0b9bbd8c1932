//! `env`: jobdoctor's own settings, each with its value and what set it.

use super::database::ConfiguredAddress;
use super::setting::{SETTINGS, Setting, Target};
use super::settings::Settings;
use crate::output::EnvSetting;
use crate::policy::{Globs, StateLimit, Threshold};
use std::path::PathBuf;
use std::time::Duration;

impl Settings {
    /// The settings; `database` is the database without its secrets.
    pub fn view(&self, database: Option<String>) -> Vec<EnvSetting> {
        let args = &self.args;
        let config_origin = match &self.config {
            Some((_, origin)) => (*origin).to_owned(),
            None if args.no_config => "--no-config".to_owned(),
            None => format!("default: no file at {}", self.config_places()),
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
        let mut target = self.target.clone();
        let (password_file, password_origin) = file(self.password_file.as_ref());
        let mut one = |entry: &Setting| match (entry.in_words(&mut given), entry.in_words(&mut target)) {
            _ if entry.key == "db" => setting(entry.key, database.clone(), self.address_origin()),
            _ if entry.key == "password_file" && password_origin != entry.key => {
                setting(entry.key, password_file.clone(), password_origin.to_owned())
            }
            (Some(value), _) => setting(entry.key, Some(value), entry.flag().to_owned()),
            (None, Some(value)) => setting(entry.key, Some(value), self.of_target()),
            (None, None) => setting(entry.key, entry.default.map(str::to_owned), "default".to_owned()),
        };
        let config = setting("config", file(self.config.as_ref()).0, config_origin);
        let target_name = setting("target", self.target_name.clone(), self.target_origin.to_owned());
        let (state_dir, state_origin) = file(self.state.as_ref());
        [config, target_name]
            .into_iter()
            .chain(SETTINGS.iter().filter(|entry| !entry.is_tables()).map(&mut one))
            .chain([setting("state_dir", state_dir, state_origin.to_owned())])
            .chain(self.target.thresholds.iter().enumerate().map(|(n, threshold)| self.threshold(n + 1, threshold)))
            .chain(self.target.too_long.iter().map(|limit| self.state_limit(limit)))
            .collect()
    }

    fn threshold(&self, number: usize, threshold: &Threshold) -> EnvSetting {
        let mut parts = globs(&threshold.queue, &threshold.kind);
        parts.extend(threshold.older.map(|older| format!("older {}", duration(older))));
        parts.extend(threshold.max_runtime.map(|longest| format!("max_runtime {}", duration(longest))));
        setting(&format!("threshold {number}"), Some(parts.join(", ")), self.of_target())
    }

    fn state_limit(&self, limit: &StateLimit) -> EnvSetting {
        let mut parts = vec![format!("state {}", limit.state.text)];
        parts.extend(globs(&limit.queue, &limit.kind));
        parts.push(format!("after {}", duration(limit.after)));
        parts.extend(limit.since.iter().map(|since| format!("since {}", since.text)));
        parts.push(format!("action {}", limit.action));
        setting(&format!("too_long {}", limit.number), Some(parts.join(", ")), self.of_target())
    }

    fn of_target(&self) -> String {
        let target = self.target_name.as_deref().unwrap_or_default();
        match &self.config {
            Some((file, _)) => format!("target {target} of {}", file.display()),
            None => format!("target {target}"),
        }
    }

    /// Where a config file is looked for that nothing names.
    pub fn config_places(&self) -> String {
        let places: Vec<String> = self.config_places.iter().map(|place| place.display().to_string()).collect();
        places.join(", ")
    }

    /// True if a config file was looked for, and none is there.
    pub fn has_no_config(&self) -> bool {
        self.config.is_none() && !self.args.no_config
    }

    pub fn address_origin(&self) -> String {
        match &self.address {
            None => "default".to_owned(),
            Some(address) if address.origin == ConfiguredAddress::BY_TARGET => self.of_target(),
            Some(address) => address.origin.to_owned(),
        }
    }
}

/// The patterns of a threshold or limit, one part each.
fn globs(queue: &Globs, kind: &Globs) -> Vec<String> {
    let parts = |key, globs: &Globs| globs.patterns().iter().map(|glob| format!("{key} {glob}")).collect::<Vec<_>>();
    [parts("queue", queue), parts("kind", kind)].concat()
}

/// The path and the origin of a file that need not be named.
fn file(named: Option<&(PathBuf, &'static str)>) -> (Option<String>, &'static str) {
    named.map_or((None, "default"), |(path, origin)| (Some(path.display().to_string()), *origin))
}

fn duration(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

fn setting(name: &str, value: Option<String>, origin: String) -> EnvSetting {
    EnvSetting { name: name.to_owned(), value, origin }
}

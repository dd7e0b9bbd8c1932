//! `env`: jobdoctor's own settings, each with its value and what set it.

use super::config::KEEP;
use super::database::{AddressSource, ConfiguredAddress};
use super::rules::RuleAction;
use super::settings::{APPLYING, READING, Settings};
use crate::history::Keep;
use crate::output::EnvSetting;
use crate::policy::{Globs, StateLimit, Threshold};
use std::path::Path;
use std::time::Duration;

impl Settings {
    /// The settings; `database` is the database without its secrets.
    pub fn view(&self, database: Option<String>) -> Vec<EnvSetting> {
        let (args, target) = (&self.args, &self.target);
        let path = |path: &Path| path.display().to_string();
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        let config = self.config.as_ref();
        let config_origin = match config {
            Some((_, origin)) => (*origin).to_owned(),
            None if args.no_config => "--no-config".to_owned(),
            None => format!("default: no file at {}", self.config_places()),
        };
        vec![
            setting("config", config.map(|(file, _)| path(file)), config_origin),
            setting("target", self.target_name.clone(), self.target_origin.to_owned()),
            setting("db", database, self.address_origin()),
            self.password_file(),
            self.one("preset", "--preset", args.preset.clone(), &target.preset),
            self.one("schema", "--schema", args.schema.clone(), &target.schema),
            self.one("table", "--table", args.table.clone(), &target.table),
            self.one("options", "--option", options(&args.options), &options(&target.options)),
            self.timeout(),
            self.one("network_files", "--network-files", yes(args.network_files), &yes(target.network_files)),
            self.one("second_name", "--second-name", yes(args.second_name), &yes(target.second_name)),
            self.one("foreign_keys", "", None, &target.foreign_keys.map(|enforced| enforced.to_string())),
            or(self.one("older", "", None, &target.older.map(duration)), "the queue library's own threshold"),
            self.one("max_runtime", "", None, &target.max_runtime.map(duration)),
            self.one("confirm_after", "", None, &target.confirm_after.map(duration)),
            self.one("rules", "", None, &self.rules()),
            self.one("read_only", "", None, &yes(target.read_only)),
            or(self.one("brake", "", None, &target.brake.map(|brake| brake.to_string())), "true"),
            self.one("max_jobs", "", None, &number(target.max_jobs)),
            self.one("delay", "", None, &target.delay.map(duration)),
            self.one("jitter", "", None, &target.jitter.map(duration)),
            self.one("max_stalls", "", None, &number(target.max_stalls.map(u64::from))),
            self.one("if_refused", "", None, &target.fails_refused.then(|| "fail".to_owned())),
            self.one("warn_above", "", None, &number(target.warn_above)),
            self.one("min_interval", "", None, &target.min_interval.map(duration)),
            self.one("lock_wait", "", None, &target.lock_wait.map(duration)),
            self.journal(),
            self.state(),
        ]
        .into_iter()
        .chain(self.target.thresholds.iter().enumerate().map(|(n, threshold)| self.threshold(n + 1, threshold)))
        .chain(self.target.too_long.iter().map(|limit| self.state_limit(limit)))
        .collect()
    }

    /// The switched-on rules, each with its action where it is not the usual one.
    fn rules(&self) -> Option<String> {
        let one = |(rule, action): &RuleAction| match action {
            Some(action) => format!("{rule} ({action})"),
            None => rule.to_string(),
        };
        let rules: Vec<String> = self.target.rules.iter().map(one).collect();
        (!rules.is_empty()).then(|| rules.join(", "))
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

    fn password_file(&self) -> EnvSetting {
        let Some((path, origin)) = &self.password_file else {
            return setting("password_file", None, "default".to_owned());
        };
        let origin = if *origin == "password_file" { self.of_target() } else { (*origin).to_owned() };
        setting("password_file", Some(path.display().to_string()), origin)
    }

    fn journal(&self) -> EnvSetting {
        let word = |keep: Keep| KEEP.iter().find(|(_, known)| *known == keep).map(|(word, _)| (*word).to_owned());
        or(self.one("journal", "", None, &self.target.journal.and_then(word)), "on")
    }

    fn state(&self) -> EnvSetting {
        let (path, origin) = self.state.as_ref().map_or((None, "default"), |(path, origin)| (Some(path), *origin));
        setting("state_dir", path.map(|path| path.display().to_string()), origin.to_owned())
    }

    fn timeout(&self) -> EnvSetting {
        let timeout =
            self.one("timeout", "--timeout", self.args.timeout.map(duration), &self.target.timeout.map(duration));
        or(timeout, &format!("{} to read, {} to apply", duration(READING), duration(APPLYING)))
    }

    /// A setting of a flag, or else of the target.
    fn one(&self, name: &str, flag: &str, given: Option<String>, of_target: &Option<String>) -> EnvSetting {
        match (given, of_target) {
            (Some(value), _) => setting(name, Some(value), flag.to_owned()),
            (None, Some(value)) => setting(name, Some(value.clone()), self.of_target()),
            (None, None) => setting(name, None, "default".to_owned()),
        }
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

    /// What names the database.
    pub fn address_origin(&self) -> String {
        match &self.address {
            None => "default".to_owned(),
            Some(ConfiguredAddress::Parts) => "PG* variables".to_owned(),
            Some(ConfiguredAddress::Whole(_, AddressSource::Flag)) => "--db".to_owned(),
            Some(ConfiguredAddress::Whole(_, AddressSource::Variable)) => "JOBDOCTOR_DB".to_owned(),
            Some(ConfiguredAddress::Whole(_, AddressSource::DatabaseUrl)) => "DATABASE_URL".to_owned(),
            Some(ConfiguredAddress::Whole(_, AddressSource::Target)) => self.of_target(),
        }
    }
}

/// The patterns of a threshold or limit, one part each.
fn globs(queue: &Globs, kind: &Globs) -> Vec<String> {
    let parts = |key, globs: &Globs| globs.patterns().iter().map(|glob| format!("{key} {glob}")).collect::<Vec<_>>();
    [parts("queue", queue), parts("kind", kind)].concat()
}

/// `name=value` of each option, if there is any.
fn options<'a>(options: impl IntoIterator<Item = &'a (String, String)>) -> Option<String> {
    let options: Vec<String> = options.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!options.is_empty()).then(|| options.join(", "))
}

fn yes(is_set: bool) -> Option<String> {
    is_set.then(|| "true".to_owned())
}

fn duration(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// The setting with what is in force where nothing sets it.
fn or(setting: EnvSetting, default: &str) -> EnvSetting {
    EnvSetting { value: setting.value.or_else(|| Some(default.to_owned())), ..setting }
}

fn setting(name: &str, value: Option<String>, origin: String) -> EnvSetting {
    EnvSetting { name: name.to_owned(), value, origin }
}

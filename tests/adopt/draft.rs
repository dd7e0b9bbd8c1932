//! What one run of `adopt` has said: the draft, the grades beside its keys, and the questions that are open.

use crate::support::cli::Ran;
use crate::support::shop::Shop;
use std::collections::BTreeSet;
use std::fs;

pub struct Draft {
    pub ran: Ran,
    answered: BTreeSet<String>,
    document: toml::Table,
}

impl Draft {
    pub fn of(shop: &Shop, table: &str, answers: &[String], more: &[&str]) -> Draft {
        let answered = answers.iter().filter_map(|answer| Some(answer.split_once('=')?.0.to_owned())).collect();
        Draft { answered, ..Draft::told(shop.run(&words(table, answers, more))) }
    }

    /// A run that has ended. Its report is TOML, whatever came of it.
    pub fn told(ran: Ran) -> Draft {
        let document = ran.stdout.parse().unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
        Draft { ran, answered: BTreeSet::new(), document }
    }

    /// The keys whose answers are missing from the command line that stderr proposes.
    pub fn asked(&self) -> BTreeSet<String> {
        let missing = self.ran.stderr.split("--answer ").skip(1).filter_map(|rest| rest.split_once('='));
        let keys = missing.map(|(key, _)| key.trim_matches(['\'', '"']).to_owned());
        keys.filter(|key| !self.answered.contains(key)).collect()
    }

    /// The value of a dotted key, a list joined by commas.
    pub fn value(&self, key: &str) -> Option<String> {
        let mapping = self.document.get("mapping")?.get("m")?;
        let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match key.split('.').try_fold(mapping, |at, part| at.get(part))? {
            toml::Value::Array(list) => Some(list.iter().map(text).collect::<Vec<_>>().join(",")),
            value => Some(text(value)),
        }
    }

    /// The first word of the comment above a dotted key.
    pub fn grade(&self, key: &str) -> Option<&str> {
        let (mut section, mut comment) = ("", "");
        for line in self.ran.stdout.lines() {
            if let Some(header) = line.strip_prefix("[mapping.m").and_then(|rest| rest.strip_suffix(']')) {
                section = header.trim_start_matches('.');
            }
            let name = line.split_once('=').map_or("", |(name, _)| name).trim().trim_matches('"');
            if key == format!("{section}.{name}").trim_start_matches('.') {
                return comment.strip_prefix("# ")?.split(':').next();
            }
            comment = line;
        }
        None
    }

    pub fn saved<'s>(&self, shop: &'s Shop) -> Mapping<'s> {
        fs::write(shop.doctor.path("m.toml"), &self.ran.stdout).unwrap();
        Mapping { shop }
    }
}

pub fn words<'a>(table: &'a str, answers: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["adopt", table, "--name", "m"];
    words.extend(answers.iter().flat_map(|answer| ["--answer", answer.as_str()]));
    words.extend(more);
    words
}

pub struct Mapping<'s> {
    shop: &'s Shop,
}

impl Mapping<'_> {
    pub fn run(&self, words: &[&str]) -> Ran {
        self.shop.run(&[words, &["--config", "m.toml", "--preset", "m"]].concat())
    }

    pub fn stuck(&self) -> BTreeSet<String> {
        self.run(&["stale", "-o", "name"]).exits(0).stdout.lines().map(str::to_owned).collect()
    }
}

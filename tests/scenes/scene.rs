//! A scene as it is written down: what is in the tables, what is to be found and done, what happens afterwards.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct Scene {
    pub name: String,
    /// The versions it is played on; all where none is named.
    only: Vec<String>,
    pub older: Option<String>,
    pub to: Option<String>,
    pub delay: Option<String>,
    /// How long ago a job may have been interrupted, where the scene is about such jobs.
    pub interrupted: Option<String>,
    pub reason: Option<String>,
    pub options: Vec<(String, String)>,
    pub listen: Vec<String>,
    /// What is said of each job, by id.
    pub expected: BTreeMap<String, String>,
    pub setup: String,
    pub others: Vec<String>,
    /// Sessions of another database, which stay open.
    pub elsewhere: Vec<String>,
    /// What happens between the snapshot and the apply.
    pub meanwhile: String,
    /// What happens after the reclaim: a title and its statements.
    pub then: Vec<(String, String)>,
    pub text: String,
}

enum Section {
    Setup,
    Other,
    Elsewhere,
    Meanwhile,
    Then,
}

impl Scene {
    pub fn parse(name: &str, text: &str) -> Scene {
        let mut scene = Scene { name: name.to_owned(), text: text.to_owned(), ..Scene::default() };
        let mut section = Section::Setup;
        for line in text.lines() {
            let Some(comment) = line.strip_prefix("-- ") else {
                scene.add(&section, line);
                continue;
            };
            if comment == "another session:" {
                scene.others.push(String::new());
                section = Section::Other;
            } else if comment == "a session in another database:" {
                scene.elsewhere.push(String::new());
                section = Section::Elsewhere;
            } else if comment == "before applying:" {
                section = Section::Meanwhile;
            } else if let Some(title) = comment.strip_prefix("then: ") {
                scene.then.push((title.to_owned(), String::new()));
                section = Section::Then;
            } else {
                scene.header(comment);
            }
        }
        assert!(!scene.expected.is_empty(), "scene {name} expects nothing");
        scene
    }

    fn add(&mut self, section: &Section, line: &str) {
        let place = match section {
            Section::Setup => Some(&mut self.setup),
            Section::Other => self.others.last_mut(),
            Section::Elsewhere => self.elsewhere.last_mut(),
            Section::Meanwhile => Some(&mut self.meanwhile),
            Section::Then => self.then.last_mut().map(|(_, sql)| sql),
        };
        place.unwrap().extend([line, "\n"]);
    }

    fn header(&mut self, comment: &str) {
        let words = |rest: &str| rest.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        match comment.split_once(": ") {
            Some(("only", rest)) => self.only = words(rest),
            Some(("older", rest)) => self.older = Some(rest.trim().to_owned()),
            Some(("to", rest)) => self.to = Some(rest.trim().to_owned()),
            Some(("delay", rest)) => self.delay = Some(rest.trim().to_owned()),
            Some(("interrupted", rest)) => self.interrupted = Some(rest.trim().to_owned()),
            Some(("reason", rest)) => self.reason = Some(rest.trim().to_owned()),
            Some(("listen", rest)) => self.listen.push(rest.trim().to_owned()),
            Some(("option", rest)) => {
                let (name, value) = rest.trim().split_once('=').expect("an option is NAME=VALUE");
                self.options.push((name.to_owned(), value.to_owned()));
            }
            Some((key, rest)) => {
                if let Some(id) = key.strip_prefix("expect ") {
                    let before = self.expected.insert(id.to_owned(), rest.trim().to_owned());
                    assert!(before.is_none(), "scene {}: two lines expect something of {id}", self.name);
                }
            }
            None => {}
        }
    }

    pub fn is_played_on(&self, version: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == version)
    }
}

//! One preset or mapping before it meets a database, and the built-in ones.

use super::document::Document;
use super::fields::{Field, Fields};
use super::node::Node;
use super::queue::Proof;
use super::{SpecError, did_you_mean};
use crate::model::Engine;

/// The built-in presets. Adding a queue is one file here and its fixtures.
const BUILT_IN: [(&str, &str); 3] = [
    ("lease", include_str!("presets/lease.toml")),
    ("procrastinate", include_str!("presets/procrastinate.toml")),
    ("simple", include_str!("presets/simple.toml")),
];

/// A preset, or a mapping from a config file: the same format.
#[derive(Debug, Clone)]
pub struct Preset {
    /// Its name.
    pub name: String,
    /// Its title, for people.
    pub title: String,
    /// The engines it knows.
    pub engines: Vec<Engine>,
    /// The versions of the library it was checked against.
    pub checked: Vec<String>,
    /// How it was checked.
    pub proof: Proof,
    /// True for one that came with the program.
    pub built_in: bool,
    /// The text of its file; empty for a mapping.
    pub text: &'static str,
    /// What errors call it.
    pub(super) document: String,
    pub(super) node: Node,
    pub(super) detect: Vec<Detect>,
}

/// One line of `[detect]`: a table and the columns that must be there.
#[derive(Debug, Clone)]
pub(super) struct Detect {
    pub(super) table: String,
    /// Each is a list of alternatives.
    pub(super) columns: Vec<Vec<String>>,
}

/// All presets and mappings that can be named.
#[derive(Debug, Clone)]
pub struct Catalog(Vec<Preset>);

impl Preset {
    /// Reads a preset or mapping and proves that it is well-formed for each of its engines.
    ///
    /// # Errors
    /// See [`SpecError`].
    pub fn of(document: &str, name: &str, node: Node) -> Result<Preset, SpecError> {
        let mut root = Fields::of(document, "", node.clone())?;
        if let Some(format) = root.take("format")
            && !matches!(format.value(), super::node::Value::Integer(1))
        {
            return Err(format.error("must be 1, the only format there is"));
        }
        let engines = match root.take("engines") {
            Some(field) => {
                let words: Vec<(&str, Engine)> = Engine::ALL.iter().map(|engine| (engine.name(), *engine)).collect();
                field.items()?.into_iter().map(|item| item.word(&words)).collect::<Result<_, _>>()?
            }
            None => Engine::ALL.to_vec(),
        };
        let preset = Preset {
            name: root.text("name")?.unwrap_or_else(|| name.to_owned()),
            title: root.text("title")?.unwrap_or_else(|| format!("the mapping {name}")),
            engines,
            checked: root.texts("checked")?,
            proof: root.take("proof").map(proof).transpose()?.unwrap_or(Proof::Facts),
            built_in: false,
            text: "",
            document: document.to_owned(),
            node,
            detect: root.take("detect").map(detect).transpose()?.unwrap_or_default(),
        };
        for engine in &preset.engines {
            let base = preset.for_engine(*engine)?;
            Document::of(document, &preset.name, base.clone())?;
            for variant in super::variant::variants(document, &base)? {
                let mut node = base.clone();
                node.overlay(variant.overlay);
                Document::of(document, &preset.name, node)?;
            }
        }
        Ok(preset)
    }

    /// Reads a preset from the text of a file.
    ///
    /// # Errors
    /// See [`SpecError`].
    pub fn parse(document: &str, name: &str, text: &str) -> Result<Preset, SpecError> {
        Preset::of(document, name, Node::parse(document, text)?)
    }

    pub(super) fn for_engine(&self, engine: Engine) -> Result<Node, SpecError> {
        if !self.engines.contains(&engine) {
            let known: Vec<&str> = self.engines.iter().map(|engine| engine.name()).collect();
            return Err(SpecError::whole(
                &self.document,
                format!("knows {} only, and this database is {engine}", known.join(" and ")),
            ));
        }
        self.node
            .clone()
            .for_engine(engine)
            .ok_or_else(|| SpecError::whole(&self.document, format!("says nothing for {engine}")))
    }

    /// True if the preset can be found by looking at the tables; mappings and presets too plain to be told apart cannot.
    pub fn is_detectable(&self) -> bool {
        !self.detect.is_empty()
    }

    /// The physical names of its tables on that engine, without regard to variants.
    pub fn table_names(&self, engine: Engine) -> Vec<String> {
        let Ok(node) = self.for_engine(engine) else { return Vec::new() };
        match Document::of(&self.document, &self.name, node) {
            Ok(document) => document.tables.into_iter().map(|(_, physical)| physical).collect(),
            Err(_) => Vec::new(),
        }
    }
}

fn proof(field: Field<'_>) -> Result<Proof, SpecError> {
    field.word(&[("live", Proof::Live), ("schema", Proof::Schema), ("facts", Proof::Facts)])
}

fn detect(field: Field<'_>) -> Result<Vec<Detect>, SpecError> {
    let alternatives = |text: String| text.split('|').map(str::to_owned).collect();
    field
        .table()?
        .rest()
        .into_iter()
        .map(|(table, field)| Ok(Detect { table, columns: field.texts()?.into_iter().map(alternatives).collect() }))
        .collect()
}

impl Catalog {
    /// The presets that come with the program.
    ///
    /// # Errors
    /// Never in a release: a test reads every one of them.
    pub fn built_in() -> Result<Catalog, SpecError> {
        let presets = BUILT_IN.into_iter().map(|(name, text)| {
            let preset = Preset::parse(&format!("preset {name}"), name, text)?;
            Ok(Preset { built_in: true, text, ..preset })
        });
        presets.collect::<Result<_, _>>().map(Catalog)
    }

    /// Adds a mapping.
    ///
    /// # Errors
    /// When its name is taken.
    pub fn add(&mut self, preset: Preset) -> Result<(), SpecError> {
        if self.0.iter().any(|known| known.name == preset.name) {
            return Err(SpecError::whole(
                &preset.document,
                format!("the name `{}` is taken by another preset; choose another one", preset.name),
            ));
        }
        self.0.push(preset);
        Ok(())
    }

    /// The preset or mapping of that name.
    ///
    /// # Errors
    /// When there is none; with a suggestion.
    pub fn find(&self, name: &str) -> Result<&Preset, SpecError> {
        self.0.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let hint = did_you_mean(name, self.0.iter().map(|preset| preset.name.as_str()));
            SpecError::whole(
                &format!("preset {name}"),
                format!("there is no such preset or mapping{hint} (`jobdoctor presets` lists them)"),
            )
        })
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Preset> {
        self.0.iter()
    }
}

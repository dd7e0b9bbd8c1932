//! One preset or mapping before it meets a database, and the built-in ones.

use super::document::Document;
use super::field::Field;
use super::ident::meanings;
use super::live::LiveSchema;
use super::node::{Node, Value};
use super::options::{PresetOption, chosen, fill, options, samples};
use super::queue::Proof;
use super::resolve::Place;
use super::variant::{Variant, variants};
use super::{SpecError, WrittenAt, did_you_mean};
use crate::model::{Engine, hex};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The built-in presets: name, text, what their tables may be called (a line each), and whether they are detected.
/// build.rs lists what is in `presets/`: adding a queue is one file there and its fixtures.
const BUILT_IN: &[(&str, &str, &str, bool)] = include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// A preset, or a mapping from a config file: the same format.
#[derive(Debug, Clone)]
pub struct Preset {
    pub name: String,
    /// Its title, for people: the queue and its language, a colon, what marks a claim.
    pub title: String,
    /// The address of its project's page; `None` for our own tables and for mappings.
    pub home: Option<String>,
    pub engines: Vec<Engine>,
    pub checked: Vec<String>,
    pub proof: Proof,
    /// The versions of `checked` that our tests run, for a proof that is live; the others' tables were compared.
    pub live: Vec<String>,
    pub built_in: bool,
    /// For a mapping that bends a preset: which one, and the keys that it overrides, with their lines there.
    pub extends: Option<(String, Vec<(String, usize)>)>,
    pub text: &'static str,
    /// What errors call it.
    pub(super) document: String,
    pub(super) node: Node,
    pub(super) detect: Detection,
    pub options: Vec<PresetOption>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Detection {
    pub(super) tables: Vec<Detect>,
    /// Variants of which exactly one must hold.
    pub(super) exactly_one: Vec<String>,
}

/// One line of `[detect]`: a table and the columns that must be there.
#[derive(Debug, Clone)]
pub(super) struct Detect {
    pub(super) table: String,
    pub(super) columns: Vec<Vec<String>>,
}

/// What a preset says on one engine: as it is, or with one of its variants laid over it.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// The variant; `None` for the preset as it is.
    pub(crate) variant: Option<Variant>,
    pub(crate) document: Document,
}

/// All presets and mappings that can be named; by default none.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    presets: Vec<Entry>,
    /// Mappings that cannot be read, by name.
    broken: Vec<(String, SpecError)>,
}

/// A preset of a catalog. Most runs need one of the built-in ones, and to parse them all would take longer than to read
/// a small queue.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    /// What its tables may be called by default, a line each; unknown for a mapping.
    tables: Option<&'static str>,
    text: &'static str,
    is_detectable: bool,
    parsed: OnceLock<Option<Preset>>,
}

impl Entry {
    /// The preset; none if a built-in one cannot be read, which a test rules out.
    fn preset(&self) -> Option<&Preset> {
        let parse = || {
            let document = format!("preset {}", self.name);
            let preset = Preset::read(&document, &self.name, Node::parse(&document, self.text).ok()?).ok()?;
            Some(Preset { built_in: true, text: self.text, ..preset })
        };
        self.parsed.get_or_init(parse).as_ref()
    }

    /// What its tables may be called on that engine, or for a preset that is not parsed on any.
    fn table_names(&self, engine: Engine, options: &BTreeMap<String, String>) -> Vec<String> {
        match self.tables.filter(|_| options.is_empty()) {
            Some(tables) => tables.lines().flat_map(meanings).map(|(_, name)| name).collect(),
            None => self.preset().map(|preset| preset.table_names(engine, options)).unwrap_or_default(),
        }
    }
}

impl Preset {
    /// Reads a preset or mapping and proves that it is well-formed for each of its engines.
    pub fn of(document: &str, name: &str, node: Node) -> Result<Preset, SpecError> {
        let preset = Preset::read(document, name, node)?;
        preset.engines.iter().try_for_each(|engine| preset.require_sound(*engine))?;
        Ok(preset)
    }

    /// Reads the keys about the preset as a whole; the rest is typed when it is used.
    pub(super) fn read(document: &str, name: &str, node: Node) -> Result<Preset, SpecError> {
        let root = Field::of(document, "", &node);
        if let Some(format) = root.child("format")
            && format.node.value != Value::Integer(1)
        {
            return Err(format.error("must be 1, the only format there is"));
        }
        Ok(Preset {
            name: root.get("name")?.unwrap_or_else(|| name.to_owned()),
            title: root.get("title")?.unwrap_or_else(|| format!("the mapping {name}")),
            home: root.get("home")?,
            engines: root.get("engines")?.unwrap_or_else(|| Engine::ALL.to_vec()),
            checked: root.get("checked")?.unwrap_or_default(),
            proof: root.get("proof")?.unwrap_or_default(),
            live: root.get("live")?.unwrap_or_default(),
            built_in: false,
            extends: None,
            text: "",
            document: document.to_owned(),
            detect: Detection::read(&root)?,
            options: options(&root)?,
            node,
        })
    }

    /// The fingerprint of a mapping's text, wherever it stands; empty for a built-in preset.
    pub(super) fn fingerprint(&self) -> String {
        let text = || format!("{:?}", self.node.clone().at_line(0));
        if self.built_in { String::new() } else { hex(&Sha256::digest(text())) }
    }

    /// An error in what a mapping leaves as the preset has it names the preset too: no line of the config file is wrong.
    pub(super) fn placed(&self, mut error: SpecError) -> SpecError {
        if let (Some((base, _)), None, false) = (&self.extends, error.at.line, error.at.key.is_empty()) {
            error.at.document = format!("preset {base} as bent by {}", self.document);
        }
        error
    }

    /// True for a mapping that bends no preset.
    pub fn says_all_itself(&self) -> bool {
        !self.built_in && self.extends.is_none()
    }

    /// True where no scene proves what the actions do: a mapping says it, or one of these options.
    pub fn has_bent_actions(&self, options: &BTreeMap<String, String>) -> bool {
        let is_bent = |option: &PresetOption| {
            let default = option.default.as_ref().map(Value::to_string);
            let other = options.get(&option.name).filter(|value| default.as_ref() != Some(value));
            other.is_some() && self.bends_actions(&option.name)
        };
        self.has_actions_of_its_own() || self.options.iter().any(is_bent)
    }

    /// True for a mapping that says itself what an action does.
    pub fn has_actions_of_its_own(&self) -> bool {
        let is_of_action = |(key, _): &(String, usize)| {
            ["action.", "waiting.action.", "waiting.is", "ended."].iter().any(|of| key.starts_with(of))
        };
        !self.built_in && self.extends.as_ref().is_none_or(|(_, bent)| bent.iter().any(is_of_action))
    }

    /// Where a table of it stands, or would.
    pub fn at(&self, key: &str) -> WrittenAt {
        let line = self.node.get(key).unwrap_or(&self.node).line;
        WrittenAt::new(&self.document, key, line)
    }

    pub fn parse(document: &str, name: &str, text: &str) -> Result<Preset, SpecError> {
        Preset::of(document, name, Node::parse(document, text)?)
    }

    /// Proves that it is well-formed on that engine, in each of its variants.
    pub(super) fn require_sound(&self, engine: Engine) -> Result<(), SpecError> {
        let shapes = self.shapes(engine)?;
        let names = || shapes.iter().filter_map(|shape| Some(shape.variant.as_ref()?.name.as_str()));
        for name in &self.detect.exactly_one {
            if !names().any(|known| known == name) {
                let hint = did_you_mean(name, names());
                let message = format!("`exactly_one` of [detect]: there is no variant `{name}`{hint}");
                return Err(SpecError::whole(&self.document, message));
            }
        }
        Ok(())
    }

    /// The preset on one of its engines: as it is, then with each of its variants, refused ones too. Samples stand for
    /// its options.
    pub(crate) fn shapes(&self, engine: Engine) -> Result<Vec<Shape>, SpecError> {
        let base = self.for_engine(engine)?;
        let read = |node: Node| Document::of(&self.document, &self.name, &self.filled(node)?, engine);
        let mut shapes = vec![Shape { variant: None, document: read(base.clone())? }];
        for variant in variants(&self.document, &base)? {
            let mut node = base.clone();
            variant.lay_over(&mut node, variant.overlay.clone());
            shapes.push(Shape { variant: Some(variant), document: read(node)? });
        }
        Ok(shapes)
    }

    /// With a sample for each option, so that it can be read without the operator's values.
    fn filled(&self, mut node: Node) -> Result<Node, SpecError> {
        let options = self.options_of(&node)?;
        fill(&self.document, &mut node, &samples(&options), Value::clone)?;
        Ok(node)
    }

    /// With the operator's values for its options.
    pub(super) fn filled_with(&self, mut node: Node, given: &BTreeMap<String, String>) -> Result<Node, SpecError> {
        let options = self.options_of(&node)?;
        fill(&self.document, &mut node, &chosen(&self.document, &options, given)?, Value::clone)?;
        Ok(node)
    }

    /// The options as that document has them: a variant may have another default.
    fn options_of(&self, node: &Node) -> Result<Vec<PresetOption>, SpecError> {
        options(&Field::of(&self.document, "", node))
    }

    pub(super) fn for_engine(&self, engine: Engine) -> Result<Node, SpecError> {
        self.picked(self.node.clone(), engine)
    }

    /// The document, or part of it, with the engine's leaves.
    fn picked(&self, node: Node, engine: Engine) -> Result<Node, SpecError> {
        if !self.engines.contains(&engine) {
            let known: Vec<&str> = self.engines.iter().map(|engine| engine.name()).collect();
            let message = format!("knows {} only, and this database is {engine}", known.join(" and "));
            return Err(SpecError::whole(&self.document, message));
        }
        node.for_engine(engine).ok_or_else(|| SpecError::whole(&self.document, format!("says nothing for {engine}")))
    }

    /// True if the preset can be recognised by its tables; mappings, and presets too plain to be distinguished, cannot.
    pub fn is_detectable(&self) -> bool {
        !self.detect.tables.is_empty() && self.extends.is_none()
    }

    /// Its document on that engine with these values for its options; with samples where they do not fit, because that
    /// is an error where the preset is resolved, not where it is one of many candidates.
    pub(super) fn sketch(&self, engine: Engine, options: &BTreeMap<String, String>) -> Result<Document, SpecError> {
        let read = |node: Node| Document::of(&self.document, &self.name, &node, engine);
        let node = self.for_engine(engine)?;
        self.filled_with(node.clone(), options).and_then(read).or_else(|_| self.filled(node).and_then(read))
    }

    /// The engine itself if the preset knows it, else one that it does know.
    pub(super) fn engine_or_other(&self, engine: Engine) -> Engine {
        if self.engines.contains(&engine) { engine } else { self.engines.first().copied().unwrap_or(engine) }
    }

    /// What its tables may be called in the catalog of that engine, in whatever variant, with these values for its
    /// options. For an engine that it does not know those on another one, so that they can be recognised and refused.
    pub fn table_names(&self, engine: Engine, options: &BTreeMap<String, String>) -> Vec<String> {
        let filled = |node: Node| self.filled_with(node.clone(), options).or_else(|_| self.filled(node));
        let node = self.picked(self.naming_tables(), self.engine_or_other(engine)).and_then(filled);
        let Ok(node) = node else { return Vec::new() };
        let named: Vec<(&str, &str)> = node.get("tables").into_iter().flat_map(Node::texts).collect();
        // A table that [tables] does not name goes by its own name.
        let others = ["claim", "owner"].into_iter().filter_map(|key| node.get(key)).flat_map(Node::texts);
        let others = others.filter(|(key, table)| *key == "table" && named.iter().all(|(logical, _)| logical != table));
        let of_variants = node.get("variant").map_or(&[][..], Node::items);
        let of_variants = of_variants.iter().filter_map(|variant| variant.get("tables")).flat_map(Node::texts);
        let of_waiting =
            node.get("waiting").and_then(|waiting| waiting.get("tables")).into_iter().flat_map(Node::texts);
        let names = named.iter().copied().chain(others).chain(of_variants).chain(of_waiting);
        names.flat_map(|(_, name)| meanings(name)).map(|(_, name)| name).collect()
    }

    /// Of the document what names its tables, in whatever variant. Each run asks all presets, and most of them are not
    /// here.
    fn naming_tables(&self) -> Node {
        let mut node = self.node.only(&["tables", "claim", "owner", "waiting", "options"]);
        if let (Some(variants), Value::Table(entries)) = (self.node.get("variant"), &mut node.value) {
            let tables = variants.items().iter().map(|variant| variant.only(&["tables"])).collect();
            entries.push(("variant".to_owned(), Node::new(variants.line, Value::Array(tables))));
        }
        node
    }
}

impl Detection {
    fn read(root: &Field<'_>) -> Result<Detection, SpecError> {
        let mut detection = Detection::default();
        let Some(field) = root.child("detect") else { return Ok(detection) };
        for (key, field) in field.entries()? {
            let texts: Vec<String> = field.read()?;
            if key == "exactly_one" {
                detection.exactly_one = texts;
                continue;
            }
            let alternatives = |text: &String| text.split('|').map(str::to_owned).collect();
            let columns = texts.iter().map(alternatives).collect();
            detection.tables.push(Detect { table: key.to_owned(), columns });
        }
        Ok(detection)
    }
}

impl Catalog {
    /// The presets that come with the program. That they are well-formed in all their variants is proven by a test
    /// ([`Preset::parse`] on each of their texts).
    pub fn built_in() -> Catalog {
        let presets = BUILT_IN.iter().map(|(name, text, tables, is_detectable)| Entry {
            name: (*name).to_owned(),
            tables: Some(tables),
            text,
            is_detectable: *is_detectable,
            parsed: OnceLock::new(),
        });
        Catalog { presets: presets.collect(), broken: Vec::new() }
    }

    pub fn add(&mut self, preset: Preset) -> Result<(), SpecError> {
        if self.presets.iter().any(|known| known.name == preset.name) {
            let message = format!("the name `{}` is taken by another preset; choose another one", preset.name);
            return Err(SpecError::whole(&preset.document, message));
        }
        let (name, is_detectable) = (preset.name.clone(), preset.is_detectable());
        self.presets.push(Entry { name, tables: None, text: "", is_detectable, parsed: Some(preset).into() });
        Ok(())
    }

    /// Adds a mapping that cannot be read: an error for those who name it.
    pub fn add_broken(&mut self, name: String, error: SpecError) {
        self.broken.push((name, error));
    }

    /// What is wrong with the mappings that cannot be read.
    pub fn broken(&self) -> impl Iterator<Item = &SpecError> {
        self.broken.iter().map(|(_, error)| error)
    }

    pub fn find(&self, name: &str) -> Result<&Preset, SpecError> {
        if let Some((_, error)) = self.broken.iter().find(|(broken, _)| broken == name) {
            return Err(error.clone());
        }
        self.presets.iter().find(|entry| entry.name == name).and_then(Entry::preset).ok_or_else(|| {
            let hint = did_you_mean(name, self.names());
            let message = format!("there is no such preset or mapping{hint} (`jobdoctor presets` lists them)");
            SpecError::whole(&format!("preset {name}"), message)
        })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.presets.iter().map(|entry| entry.name.as_str())
    }

    /// All of them, which parses the built-in ones.
    pub fn iter(&self) -> impl Iterator<Item = &Preset> {
        self.presets.iter().filter_map(Entry::preset)
    }

    /// What the tables of those may be called that can be detected, with these values for their options.
    pub fn table_names(&self, engine: Engine, options: &BTreeMap<String, String>) -> Vec<String> {
        let detectable = self.presets.iter().filter(|entry| entry.is_detectable);
        detectable.flat_map(|entry| entry.table_names(engine, options)).collect()
    }

    /// Those with a table of such a name here; all of them where the operator named the table.
    pub(super) fn candidates(&self, live: &LiveSchema, place: &Place) -> impl Iterator<Item = &Preset> {
        let is_here = |names: &[String]| live.tables.iter().any(|table| names.contains(&table.name));
        let may_be_here =
            move |entry: &&Entry| place.table.is_some() || is_here(&entry.table_names(live.engine, &place.options));
        self.presets.iter().filter(may_be_here).filter_map(Entry::preset)
    }
}

/// What every built-in preset must say.
#[cfg(test)]
mod tests {
    use super::*;

    /// The presets of our own tables, which have no library: no remedy of one, and no late worker of one.
    const OURS: [&str; 2] = ["lease", "simple"];

    /// The document of a preset on each of its engines, with each of its variants.
    fn documents(preset: &Preset) -> Vec<Document> {
        let shapes = preset.engines.iter().flat_map(|engine| preset.shapes(*engine).unwrap());
        shapes
            .filter(|shape| shape.variant.as_ref().is_none_or(|variant| variant.refuse.is_none()))
            .map(|s| s.document)
            .collect()
    }

    #[test]
    fn what_tables_may_be_called_is_known_before_a_preset_is_parsed() {
        let (catalog, none) = (Catalog::built_in(), BTreeMap::new());
        for engine in Engine::ALL {
            for entry in catalog.presets.iter().filter(|entry| entry.is_detectable) {
                let (listed, preset) = (entry.table_names(engine, &none), entry.preset().unwrap());
                let names = preset.table_names(engine, &none);
                let unlisted: Vec<&String> = names.iter().filter(|name| !listed.contains(name)).collect();
                assert!(!names.is_empty() && unlisted.is_empty(), "{} on {engine}: {unlisted:?}", preset.name);
            }
        }
    }

    #[test]
    fn every_preset_says_which_failed_jobs_died_with_their_worker() {
        for preset in Catalog::built_in().iter() {
            let says = |doc: &Document| doc.interrupted.never.is_some() || doc.interrupted.filter.is_some();
            let name = &preset.name;
            assert!(documents(preset).iter().any(says), "{name}: neither [interrupted] nor why there are none");
        }
    }

    #[test]
    fn every_library_has_its_remedy_and_says_what_a_late_worker_does() {
        for preset in Catalog::built_in().iter().filter(|preset| !OURS.contains(&preset.name.as_str())) {
            for document in documents(preset) {
                let is_said = document.cautions.iter().any(|(name, _)| name == "late");
                assert!(is_said && document.advice.is_some(), "{} lacks [caution] `late` or [advice]", preset.name);
            }
        }
    }

    #[test]
    fn every_library_says_in_which_zone_it_writes_times_without_one() {
        for preset in Catalog::built_in().iter() {
            for document in documents(preset) {
                let times = document.time.columns.values().chain(&document.time.default);
                let is_zoneless = times
                    .map(crate::preset::encoding::Encodings::said)
                    .any(|said| said == crate::preset::encoding::Said::ByNobody);
                assert!(!is_zoneless || document.time_zone.is_some(), "{} lacks `time_zone`", preset.name);
            }
        }
    }
}

//! A mapping that bends a preset, `extends = "river"`: a last variant, which always holds.

use super::catalog::Preset;
use super::node::{Node, Value};
use super::queue::Proof;
use super::{SpecError, WrittenAt, did_you_mean};
use crate::model::{Engine, UNPROVEN};

/// What is about a preset as a whole, which a mapping cannot bend.
const OF_THE_PRESET: [&str; 13] = [
    "checked", "detect", "engines", "fencing", "format", "home", "live", "name", "proof", "refuse", "title", "variant",
    "when",
];
/// Lists of `[claim]` and `[interrupted]` that are added to.
const ADDED: [&str; 3] = ["optional", "precondition", "progress"];
/// Tables whose keys are names that an author chooses.
const NAMED: [&str; 7] = ["caution", "check", "show", "skip", "sql", "tables", "time"];
/// Those of them whose entries protect a job, or are part of what does, and stay as they are.
const STAYS: [&str; 4] = ["caution", "check", "skip", "sql"];
/// What says which rows are claims, and which is the evidence row, on which a verdict rests besides the job's own.
const ROWS: [(&str, &[&str]); 3] = [
    ("claim", &["from", "guard", "key", "lock", "table", "veto", "where"]),
    ("interrupted", &["from", "key", "never", "states", "where"]),
    ("owner", &OWNER_ROW),
];
/// What a mapping may add where a preset has no evidence row.
const OWNER_ROW: [&str; 7] = ["heartbeat", "key", "match", "on", "rows", "started", "table"];

impl Preset {
    /// A mapping over this preset and its variants.
    pub fn extended(&self, document: &str, name: &str, mut over: Node) -> Result<Preset, SpecError> {
        over.take("extends");
        let mut overridden = Vec::new();
        self.admits(document, &over, &mut Vec::new(), &mut overridden)?;
        for (table, node) in over.get("tables").into_iter().flat_map(Node::entries) {
            let known = || self.node.all_at(&["tables"]).into_iter().flat_map(Node::keys);
            if !known().any(|known| known == table) && !over.names(table) {
                let hint = did_you_mean(table, known());
                let at = WrittenAt::new(document, &format!("tables.{table}"), node.line);
                let why = format!("is no table of preset {}, and nothing here names `{{{table}}}`{hint}", self.name);
                return Err(at.error(why));
            }
        }
        let mut keys: Vec<&str> = overridden.iter().map(|(key, _)| key.as_str()).collect();
        keys.dedup();
        let what = match keys.join(", ") {
            none if none.is_empty() => format!("adds to {}", self.name),
            keys => format!("overrides {keys} of {}{UNPROVEN}", self.name),
        };
        let line = over.line;
        let text = |text: String| Node::new(line, Value::Text(text));
        over.overlay(table(vec![
            ("name", text(what)),
            ("when", table(Vec::new())),
            ("extends", text(self.name.clone())),
        ]));
        // What a line of the preset's says must not be looked for in the config file.
        let mut node = self.node.clone().at_line(0);
        let mut variants = node.take("variant").map_or_else(Vec::new, |variants| variants.items().to_vec());
        variants.push(over);
        let variants = Node::new(1, Value::Array(variants));
        node.overlay(table(vec![("name", Node::new(1, Value::Text(name.to_owned()))), ("variant", variants)]));
        let extends = Some((self.name.clone(), overridden));
        let bent = Preset { extends, proof: Proof::default(), ..Preset::read(document, name, node)? };
        bent.engines.iter().try_for_each(|engine| bent.require_sound(*engine)).map_err(|error| bent.placed(error))?;
        Ok(bent)
    }

    /// True if what an action does depends on that option.
    pub(super) fn bends_actions(&self, option: &str) -> bool {
        let actions = self.node.all_at(&["action"]).into_iter().chain(self.node.all_at(&["waiting", "action"]));
        let variants = self.node.get("variant").map_or(&[][..], Node::items).iter();
        let asks =
            |variant: &&Node| variant.at(&["when", "option", option]).is_some() && variant.get("action").is_some();
        actions.into_iter().any(|action| action.names_option(option))
            || variants.into_iter().any(|variant| asks(&variant))
    }

    /// Refuses keys that this preset does not have, and those that stay; collects the others, with their lines in it.
    /// What is for one engine is what it is for both.
    fn admits(
        &self,
        document: &str,
        over: &Node,
        path: &mut Vec<String>,
        overridden: &mut Vec<(String, usize)>,
    ) -> Result<(), SpecError> {
        let Value::Table(entries) = &over.value else { return Ok(()) };
        for (key, node) in entries {
            let is_engine = Engine::from_name(key).is_some();
            path.extend((!is_engine).then(|| key.clone()));
            let parts: Vec<&str> = path.iter().map(String::as_str).collect();
            let known = self.node.all_at(&parts);
            let is_table = |node: &&Node| matches!(node.value, Value::Table(_));
            let refuse = |why: String| Err(WrittenAt::new(document, &parts.join("."), node.line).error(why));
            let has_owner_row = || !self.node.all_at(&["owner", "table"]).is_empty();
            let goes_on = match parts.as_slice() {
                [one] if OF_THE_PRESET.contains(one) => {
                    return refuse(format!("belongs to preset {} itself", self.name));
                }
                ["schema"] => false,
                ["owner", part]
                    if (OWNER_ROW.contains(part) || ["missing", "unset"].contains(part)) && !has_owner_row() =>
                {
                    false
                }
                [of, part] if ROWS.iter().any(|(row, parts)| row == of && parts.contains(part)) => {
                    return refuse("says which rows count, and stays as the preset has it".to_owned());
                }
                [.., of, _] if STAYS.contains(of) && !known.is_empty() => {
                    return refuse("stays as the preset has it: choose another name for one more".to_owned());
                }
                ["claim" | "interrupted", list] if ADDED.contains(list) => false,
                _ if !is_table(&node)
                    && !is_engine
                    && !known.is_empty()
                    && known.iter().all(is_table)
                    && !splits(&known) =>
                {
                    return refuse(format!("is {}, and a table in preset {}", node.value.kind(), self.name));
                }
                [.., of] if NAMED.contains(of) => true,
                [.., of, _] if NAMED.contains(of) => false,
                _ if known.is_empty() => {
                    let siblings = self.node.all_at(parts.split_last().map_or(&[], |(_, above)| above));
                    let siblings = siblings.into_iter().flat_map(Node::keys);
                    return refuse(format!("preset {} has no such key{}", self.name, did_you_mean(key, siblings)));
                }
                [.., "action", _] | ["interrupted", "retry"] => false,
                _ => known.iter().any(is_table),
            };
            if goes_on && is_table(&node) {
                self.admits(document, node, path, overridden)?;
            } else if !matches!(parts.as_slice(), ["claim" | "interrupted", list] if ADDED.contains(list)) {
                // A time that is no expression of its own is one that the preset reads, in its default spelling.
                let is_time = parts.first() == Some(&"time") && !parts.iter().any(|part| part.contains("{sql."));
                let lines = known.iter().map(|node| node.line).chain((known.is_empty() && is_time).then_some(0));
                overridden.extend(lines.map(|line| (parts.join("."), line)));
            }
            path.truncate(path.len() - usize::from(!is_engine));
        }
        Ok(())
    }
}

impl Node {
    /// Lays a mapping over a preset. Lists that protect a job are added to; an action is another one as a whole.
    pub(super) fn extend(&mut self, mut over: Node) {
        for (of, list) in ADDED.map(|list| ("claim", list)).into_iter().chain([("interrupted", "precondition")]) {
            let own = self.at(&[of, list]).into_iter().chain(over.at(&[of, list]));
            let all: Vec<Node> = own.flat_map(Node::list).collect();
            if !all.is_empty() {
                over.overlay(table(vec![(of, table(vec![(list, Node::new(over.line, Value::Array(all)))]))]));
            }
        }
        for actions in [&["action"][..], &["waiting", "action"]] {
            let bent: Vec<&str> = over.at(actions).into_iter().flat_map(Node::keys).collect();
            let own = actions.iter().try_fold(&mut *self, |node, key| node.get_mut(key));
            own.into_iter().for_each(|own| bent.iter().for_each(|action| drop(own.take(action))));
        }
        if let (Some(_), Some(own)) = (over.at(&["interrupted", "retry"]), self.get_mut("interrupted")) {
            own.take("retry");
        }
        self.overlay(over);
    }

    fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The values under that path, in this document and in its variants, for whichever engine.
    fn all_at(&self, path: &[&str]) -> Vec<&Node> {
        let variants = self.get("variant").map_or(&[][..], Node::items);
        path.iter().fold(std::iter::once(self).chain(variants).collect(), |nodes: Vec<&Node>, key| {
            let of_engines = |node| Engine::ALL.iter().filter_map(move |engine| Node::get(node, engine.name()));
            let all = nodes.into_iter().flat_map(|node| std::iter::once(node).chain(of_engines(node)));
            all.filter_map(|node| node.get(key)).collect()
        })
    }

    /// True if some text here names that table, in an expression or as the owners' one.
    fn names(&self, table: &str) -> bool {
        match &self.value {
            Value::Text(text) => text.contains(&format!("{{{table}}}")) || text == table,
            Value::Array(items) => items.iter().any(|item| item.names(table)),
            Value::Table(entries) => entries.iter().any(|(key, node)| key != "tables" && node.names(table)),
            _ => false,
        }
    }

    /// True if some text here has the value of that option.
    fn names_option(&self, option: &str) -> bool {
        match &self.value {
            Value::Text(text) => text.contains(&format!("option {option}")),
            Value::Array(items) => items.iter().any(|item| item.names_option(option)),
            Value::Table(entries) => entries.iter().any(|(_, node)| node.names_option(option)),
            _ => false,
        }
    }

    /// The same with all of it on that line; 0 is none.
    pub(super) fn at_line(self, line: usize) -> Node {
        let value = match self.value {
            Value::Array(items) => Value::Array(items.into_iter().map(|item| item.at_line(line)).collect()),
            Value::Table(entries) => {
                Value::Table(entries.into_iter().map(|(key, node)| (key, node.at_line(line))).collect())
            }
            other => other,
        };
        Node::new(line, value)
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|(key, _)| key.as_str())
    }

    /// The items of an array; a single value stands for an array of one.
    fn list(&self) -> Vec<Node> {
        if let Value::Array(items) = &self.value { items.clone() } else { vec![self.clone()] }
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let Value::Table(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node)
    }
}

/// True if what is known is one value for each engine.
fn splits(known: &[&Node]) -> bool {
    known.iter().any(|node| node.keys().any(|key| Engine::from_name(key).is_some()))
}

fn table(entries: Vec<(&str, Node)>) -> Node {
    Node::new(1, Value::Table(entries.into_iter().map(|(key, node)| (key.to_owned(), node)).collect()))
}

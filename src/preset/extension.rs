//! A mapping that bends a preset, `extends = "river"`: a last variant, which always holds.

use super::catalog::Preset;
use super::node::{Node, Value};
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
const ROWS: [(&str, &[&str]); 2] = [
    ("claim", &["from", "guard", "key", "lock", "table", "where"]),
    ("owner", &["heartbeat", "key", "match", "on", "rows", "started", "table"]),
];

impl Preset {
    /// A mapping over this preset and its variants.
    pub fn extended(&self, document: &str, name: &str, mut over: Node) -> Result<Preset, SpecError> {
        over.take("extends");
        let mut overridden = Vec::new();
        self.admits(document, &over, &mut Vec::new(), &mut overridden)?;
        let keys: Vec<&str> = overridden.iter().map(|(key, _)| key.as_str()).collect();
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
        let mut node = self.node.clone();
        let mut variants = node.take("variant").map_or_else(Vec::new, |variants| variants.items().to_vec());
        variants.push(over);
        let variants = Node::new(1, Value::Array(variants));
        node.overlay(table(vec![("name", Node::new(1, Value::Text(name.to_owned()))), ("variant", variants)]));
        Ok(Preset { extends: Some((self.name.clone(), overridden)), ..Preset::of(document, name, node)? })
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
            let goes_on = match parts.as_slice() {
                [one] if OF_THE_PRESET.contains(one) => {
                    return refuse(format!("belongs to preset {} itself", self.name));
                }
                [of, part] if ROWS.iter().any(|(row, parts)| row == of && parts.contains(part)) => {
                    return refuse("says which rows count, and stays as the preset has it".to_owned());
                }
                [.., of, _] if STAYS.contains(of) && !known.is_empty() => {
                    return refuse("stays as the preset has it: choose another name for one more".to_owned());
                }
                ["claim" | "interrupted", list] if ADDED.contains(list) => false,
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
                overridden.extend(known.first().map(|node| (parts.join("."), node.line)));
            }
            path.truncate(path.len() - usize::from(!is_engine));
        }
        Ok(())
    }
}

impl Node {
    /// Lays a mapping over a preset. Lists that protect a job are added to, and so are the columns of the liveness that it
    /// takes the place of; an action is another one as a whole.
    pub(super) fn extend(&mut self, mut over: Node) {
        let replaced = self.at(&["claim", "liveness"]).filter(|_| over.at(&["claim", "liveness"]).is_some());
        let columns = replaced.map_or(&[][..], Node::items).iter().flat_map(Node::texts);
        let columns = columns.filter(|(key, _)| ["column", "plus"].contains(key));
        let columns: Vec<Node> = columns.map(|(_, text)| Node::new(1, Value::Text(text.to_owned()))).collect();
        for (of, list) in ADDED.map(|list| ("claim", list)).into_iter().chain([("interrupted", "precondition")]) {
            let own = self.at(&[of, list]).into_iter().chain(over.at(&[of, list]));
            let mut all: Vec<Node> = own.flat_map(Node::list).collect();
            all.extend(columns.iter().filter(|_| (of, list) == ("claim", "precondition")).cloned());
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

    /// The values under that path, in this document and in its variants.
    fn all_at(&self, path: &[&str]) -> Vec<&Node> {
        let variants = self.get("variant").map_or(&[][..], Node::items);
        std::iter::once(self).chain(variants).filter_map(|root| root.at(path)).collect()
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        let entries = if let Value::Table(entries) = &self.value { entries.as_slice() } else { &[] };
        entries.iter().map(|(key, _)| key.as_str())
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

fn table(entries: Vec<(&str, Node)>) -> Node {
    Node::new(1, Value::Table(entries.into_iter().map(|(key, node)| (key.to_owned(), node)).collect()))
}

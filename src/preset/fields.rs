//! Typed reading of a document's tables. Every error names the key path and the line, and a key that no reader asked
//! for is an error with a suggestion.

use super::node::{Node, Value};
use super::template::Template;
use super::{SpecError, WrittenAt, did_you_mean};
use crate::model::{Action, Engine};

/// A table being read: keys are taken out one by one, and [`Fields::finish`] refuses what is left.
pub struct Fields<'a> {
    document: &'a str,
    path: String,
    line: usize,
    entries: Vec<(String, Node)>,
    asked: Vec<&'static str>,
}

/// One value with the place it came from.
pub struct Field<'a> {
    document: &'a str,
    path: String,
    node: Node,
}

/// What the value of a key can be read as.
pub trait Read: Sized {
    fn read(field: Field<'_>) -> Result<Self, SpecError>;
}

/// One of a closed set of words.
pub(super) trait Word: Copy + 'static {
    /// The words and what they stand for.
    const WORDS: &'static [(&'static str, Self)];
}

impl<'a> Fields<'a> {
    /// Starts to read a document's root, or any table inside one whose key path is `path`.
    pub fn of(document: &'a str, path: &str, node: Node) -> Result<Fields<'a>, SpecError> {
        Field { document, path: path.to_owned(), node }.table()
    }

    pub fn take(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.asked.push(key);
        let at = self.entries.iter().position(|(name, _)| name == key)?;
        let (_, node) = self.entries.remove(at);
        Some(Field { document: self.document, path: join(&self.path, key), node })
    }

    /// Takes one key out, which must be there.
    pub fn need(&mut self, key: &'static str) -> Result<Field<'a>, SpecError> {
        self.take(key).ok_or_else(|| self.error(format!("`{key}` is missing")))
    }

    pub fn get<T: Read>(&mut self, key: &'static str) -> Result<Option<T>, SpecError> {
        self.take(key).map(T::read).transpose()
    }

    /// Reads one key, or the default where it is not there.
    pub fn get_or_default<T: Read + Default>(&mut self, key: &'static str) -> Result<T, SpecError> {
        self.get(key).map(Option::unwrap_or_default)
    }

    pub fn must<T: Read>(&mut self, key: &'static str) -> Result<T, SpecError> {
        T::read(self.need(key)?)
    }

    /// Reads a table whose keys are names that the author chose, in the author's order; empty where the key is not
    /// there.
    pub fn named<T: Read>(&mut self, key: &'static str) -> Result<Vec<(String, T)>, SpecError> {
        self.take(key).map_or_else(|| Ok(Vec::new()), Field::named)
    }

    /// Takes everything that is left: for tables whose keys are names that the author chose.
    pub fn rest(&mut self) -> Vec<(String, Field<'a>)> {
        std::mem::take(&mut self.entries)
            .into_iter()
            .map(|(name, node)| {
                let path = join(&self.path, &name);
                (name, Field { document: self.document, path, node })
            })
            .collect()
    }

    pub fn text(&mut self, key: &'static str) -> Result<Option<String>, SpecError> {
        self.get(key)
    }

    /// Reads `why`, the author's reason for what the table says. `presets show` prints it with the rest of the text.
    pub(super) fn why(&mut self) -> Result<(), SpecError> {
        self.text("why").map(drop)
    }

    /// Ends the reading: no other key is known.
    pub fn finish(self) -> Result<(), SpecError> {
        let Some((name, node)) = self.entries.first() else { return Ok(()) };
        let hint = did_you_mean(name, self.asked.iter().copied());
        let known = if hint.is_empty() && !self.asked.is_empty() {
            format!("; known here: {}", self.asked.join(", "))
        } else {
            hint
        };
        let at = WrittenAt::new(self.document, &join(&self.path, name), node.line);
        Err(at.error(format!("there is no such key{known}")))
    }

    pub fn at(&self) -> WrittenAt {
        WrittenAt::new(self.document, &self.path, self.line)
    }

    pub fn error(&self, message: impl Into<String>) -> SpecError {
        self.at().error(message)
    }
}

impl<'a> Field<'a> {
    pub fn error(&self, message: impl Into<String>) -> SpecError {
        WrittenAt::new(self.document, &self.path, self.node.line).error(message)
    }

    fn wrong(&self, wanted: &str) -> SpecError {
        self.error(format!("must be {wanted}, and is {}", self.node.kind()))
    }

    pub fn value(&self) -> &Value {
        &self.node.value
    }

    pub fn into_node(self) -> Node {
        self.node
    }

    pub fn text(self) -> Result<String, SpecError> {
        match &self.node.value {
            Value::Text(text) if text.is_empty() => Err(self.error("must not be empty")),
            Value::Text(text) => Ok(text.clone()),
            _ => Err(self.wrong("text")),
        }
    }

    pub fn boolean(self) -> Result<bool, SpecError> {
        match self.node.value {
            Value::Boolean(truth) => Ok(truth),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// An integer that is not negative.
    pub fn count(self) -> Result<u64, SpecError> {
        match &self.node.value {
            Value::Integer(number) if *number >= 0 => Ok(number.unsigned_abs()),
            Value::Integer(number) => Err(self.error(format!("must be a number of 0 or more, and is {number}"))),
            _ => Err(self.wrong("a number of 0 or more")),
        }
    }

    pub fn items(self) -> Result<Vec<Field<'a>>, SpecError> {
        match self.node.value {
            Value::Array(items) => Ok(items
                .into_iter()
                .enumerate()
                .map(|(n, node)| Field { document: self.document, path: format!("{}[{}]", self.path, n + 1), node })
                .collect()),
            _ => Err(self.wrong("a list")),
        }
    }

    pub fn table(self) -> Result<Fields<'a>, SpecError> {
        match self.node.value {
            Value::Table(entries) => Ok(Fields {
                document: self.document,
                path: self.path,
                line: self.node.line,
                entries,
                asked: Vec::new(),
            }),
            _ => Err(self.wrong("a table")),
        }
    }

    /// A table whose keys are names that the author chose, in the author's order.
    pub fn named<T: Read>(self) -> Result<Vec<(String, T)>, SpecError> {
        self.table()?.rest().into_iter().map(|(name, field)| Ok((name, T::read(field)?))).collect()
    }

    /// One of a closed set of words.
    pub fn word<T: Copy>(self, words: &[(&str, T)]) -> Result<T, SpecError> {
        let Value::Text(text) = &self.node.value else { return Err(self.wrong("text")) };
        words.iter().find(|(word, _)| word == text).map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let hint = did_you_mean(text, known.iter().copied());
            self.error(format!("`{text}` is not one of {}{hint}", known.join(", ")))
        })
    }

    /// A stored value or SQL: a number and a truth value as their text.
    #[must_use]
    pub(super) fn spelled(mut self) -> Field<'a> {
        match self.node.value {
            Value::Integer(number) => self.node.value = Value::Text(number.to_string()),
            Value::Boolean(truth) => self.node.value = Value::Text(truth.to_string()),
            _ => {}
        }
        self
    }

    pub fn written(self) -> Result<Written, SpecError> {
        let at = WrittenAt::new(self.document, &self.path, self.node.line);
        let as_written = self.node.as_written.clone();
        Ok(Written { text: self.text()?, as_written, at })
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A text with the place it was written at, for errors that only show when it meets the live tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    pub at: WrittenAt,
    as_written: Option<String>,
}

impl Written {
    /// The author's text: where the value of an option stands in its place, `option NAME`.
    pub fn as_written(&self) -> &str {
        self.as_written.as_ref().unwrap_or(&self.text)
    }

    pub fn error(&self, message: impl Into<String>) -> SpecError {
        self.at.error(message)
    }
}

/// SQL with the place it was written at.
#[derive(Debug, Clone)]
pub(crate) struct Fragment {
    pub(crate) written: Written,
    pub(crate) sql: Template,
}

impl Read for String {
    fn read(field: Field<'_>) -> Result<String, SpecError> {
        field.text()
    }
}

impl Read for Written {
    fn read(field: Field<'_>) -> Result<Written, SpecError> {
        field.written()
    }
}

impl Read for Fragment {
    fn read(field: Field<'_>) -> Result<Fragment, SpecError> {
        let written = field.written()?;
        let sql = Template::parse(&written.text).map_err(|why| written.error(why.0))?;
        Ok(Fragment { written, sql })
    }
}

/// A list; a single text stands for a list of one.
impl<T: Read> Read for Vec<T> {
    fn read(field: Field<'_>) -> Result<Vec<T>, SpecError> {
        match field.value() {
            Value::Text(_) => Ok(vec![T::read(field)?]),
            _ => field.items()?.into_iter().map(T::read).collect(),
        }
    }
}

impl<T: Word> Read for T {
    fn read(field: Field<'_>) -> Result<T, SpecError> {
        field.word(T::WORDS)
    }
}

impl Read for Engine {
    fn read(field: Field<'_>) -> Result<Engine, SpecError> {
        field.word(&Engine::ALL.map(|engine| (engine.name(), engine)))
    }
}

impl Read for Action {
    fn read(field: Field<'_>) -> Result<Action, SpecError> {
        field.word(&Action::ALL.map(|action| (action.name(), action)))
    }
}

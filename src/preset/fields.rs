//! Typed access to a table of a document. Every error carries the key path and the line, and a key that nobody asked for
//! is an error with a suggestion.

use super::node::{Node, Value};
use super::{SpecError, WrittenAt, did_you_mean};

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

impl<'a> Fields<'a> {
    /// Starts to read a document's root, or any table inside one whose key path is `path`.
    ///
    /// # Errors
    /// When the node is not a table.
    pub fn of(document: &'a str, path: &str, node: Node) -> Result<Fields<'a>, SpecError> {
        Field { document, path: path.to_owned(), node }.table()
    }

    /// Takes one key out.
    pub fn take(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.asked.push(key);
        let at = self.entries.iter().position(|(name, _)| name == key)?;
        let (_, node) = self.entries.remove(at);
        Some(Field { document: self.document, path: join(&self.path, key), node })
    }

    /// Takes one key out, which must be there.
    ///
    /// # Errors
    /// When it is not.
    pub fn need(&mut self, key: &'static str) -> Result<Field<'a>, SpecError> {
        self.take(key).ok_or_else(|| self.error(format!("`{key}` is missing")))
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

    /// Text, if the key is there.
    ///
    /// # Errors
    /// When it is something else.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>, SpecError> {
        self.take(key).map(Field::text).transpose()
    }

    /// A list of texts; empty if the key is not there.
    ///
    /// # Errors
    /// When it is something else.
    pub fn texts(&mut self, key: &'static str) -> Result<Vec<String>, SpecError> {
        self.take(key).map(Field::texts).transpose().map(Option::unwrap_or_default)
    }

    /// Says that all keys have been asked for.
    ///
    /// # Errors
    /// When a key is left.
    pub fn finish(self) -> Result<(), SpecError> {
        let Some((name, node)) = self.entries.first() else { return Ok(()) };
        let hint = did_you_mean(name, self.asked.iter().copied());
        let known = if hint.is_empty() && !self.asked.is_empty() {
            format!("; known here: {}", self.asked.join(", "))
        } else {
            hint
        };
        Err(SpecError {
            document: self.document.to_owned(),
            key: join(&self.path, name),
            line: Some(node.line),
            message: format!("there is no such key{known}"),
        })
    }

    /// Where this table stands.
    pub fn at(&self) -> WrittenAt {
        WrittenAt { document: self.document.to_owned(), key: self.path.clone(), line: Some(self.line) }
    }

    /// An error about this table.
    pub fn error(&self, message: impl Into<String>) -> SpecError {
        SpecError {
            document: self.document.to_owned(),
            key: self.path.clone(),
            line: Some(self.line),
            message: message.into(),
        }
    }
}

impl<'a> Field<'a> {
    /// An error about this value.
    pub fn error(&self, message: impl Into<String>) -> SpecError {
        SpecError {
            document: self.document.to_owned(),
            key: self.path.clone(),
            line: Some(self.node.line),
            message: message.into(),
        }
    }

    fn wrong(&self, wanted: &str) -> SpecError {
        self.error(format!("must be {wanted}, and is {}", self.node.kind()))
    }

    /// The value behind it.
    pub fn value(&self) -> &Value {
        &self.node.value
    }

    /// The node itself.
    pub fn into_node(self) -> Node {
        self.node
    }

    /// The line it stands on.
    pub fn line(&self) -> usize {
        self.node.line
    }

    /// Text.
    ///
    /// # Errors
    /// When it is something else, or empty.
    pub fn text(self) -> Result<String, SpecError> {
        match &self.node.value {
            Value::Text(text) if text.is_empty() => Err(self.error("must not be empty")),
            Value::Text(text) => Ok(text.clone()),
            _ => Err(self.wrong("text")),
        }
    }

    /// True or false.
    ///
    /// # Errors
    /// When it is something else.
    pub fn boolean(self) -> Result<bool, SpecError> {
        match self.node.value {
            Value::Boolean(truth) => Ok(truth),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// An integer that is not negative.
    ///
    /// # Errors
    /// When it is something else.
    pub fn count(self) -> Result<u64, SpecError> {
        match &self.node.value {
            Value::Integer(number) if *number >= 0 => Ok(number.unsigned_abs()),
            Value::Integer(number) => Err(self.error(format!("must be a number of 0 or more, and is {number}"))),
            _ => Err(self.wrong("a number of 0 or more")),
        }
    }

    /// A list of texts; a single text stands for a list of one.
    ///
    /// # Errors
    /// When it is something else.
    pub fn texts(self) -> Result<Vec<String>, SpecError> {
        if let Value::Text(_) = self.node.value {
            return self.text().map(|text| vec![text]);
        }
        self.items()?.into_iter().map(Field::text).collect()
    }

    /// The items of an array.
    ///
    /// # Errors
    /// When it is something else.
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

    /// The table it is.
    ///
    /// # Errors
    /// When it is something else.
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

    /// The table it is, as names and texts.
    ///
    /// # Errors
    /// When it is something else.
    pub fn text_table(self) -> Result<Vec<(String, String)>, SpecError> {
        self.table()?.rest().into_iter().map(|(name, field)| Ok((name, field.text()?))).collect()
    }

    /// One of a closed set of words.
    ///
    /// # Errors
    /// When it is another one.
    pub fn word<T: Copy>(self, words: &[(&str, T)]) -> Result<T, SpecError> {
        let error = |text: &str, field: &Field<'_>| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let hint = did_you_mean(text, known.iter().copied());
            field.error(format!("`{text}` is not one of {}{hint}", known.join(", ")))
        };
        let Value::Text(text) = &self.node.value else { return Err(self.wrong("text")) };
        words.iter().find(|(word, _)| word == text).map(|(_, value)| *value).ok_or_else(|| error(text, &self))
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A text with the place it was written at, for errors that only show when it meets the live tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub text: String,
    document: String,
    key: String,
    line: usize,
}

impl Written {
    /// Where it stands.
    pub fn at(&self) -> WrittenAt {
        WrittenAt { document: self.document.clone(), key: self.key.clone(), line: Some(self.line) }
    }

    /// An error about this text.
    pub fn error(&self, message: impl Into<String>) -> SpecError {
        SpecError {
            document: self.document.clone(),
            key: self.key.clone(),
            line: Some(self.line),
            message: message.into(),
        }
    }
}

impl Field<'_> {
    /// Text, with its place.
    ///
    /// # Errors
    /// When it is something else, or empty.
    pub fn written(self) -> Result<Written, SpecError> {
        let (document, key, line) = (self.document.to_owned(), self.path.clone(), self.node.line);
        Ok(Written { text: self.text()?, document, key, line })
    }

    /// A list of texts with their places; a single text stands for a list of one.
    ///
    /// # Errors
    /// When it is something else.
    pub fn all_written(self) -> Result<Vec<Written>, SpecError> {
        match self.node.value {
            Value::Text(_) => Ok(vec![self.written()?]),
            _ => self.items()?.into_iter().map(Field::written).collect(),
        }
    }
}

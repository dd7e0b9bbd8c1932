//! Reads the values of a document into types, with serde. Every error names the key path and the line, and a key that
//! no type has is an error with a suggestion.

use super::node::{Node, Value};
use super::template::Template;
use super::{SpecError, WrittenAt, did_you_mean};
use serde::de::value::{MapAccessDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt;
use std::marker::PhantomData;

/// The reason that an author may give in any table. `presets show` prints it with the rest of the text.
const WHY: &str = "why";

/// The name of an enum whose variant a key of its table names: that key.
const BY: &str = "by";

/// The name of a field that says where its table stands; no key of an author's is called so.
const PLACE: &str = "(place)";

/// One value with the place it came from.
pub struct Field<'a> {
    document: &'a str,
    path: String,
    pub node: &'a Node,
    /// Keys that are no error, and that something else reads.
    elsewhere: &'static [&'static str],
}

impl<'a> Field<'a> {
    /// The root of a document, or any value inside one whose key path is `path`.
    pub fn of(document: &'a str, path: &str, node: &'a Node) -> Field<'a> {
        Field { document, path: path.to_owned(), node, elsewhere: &[] }
    }

    pub(super) fn except(self, elsewhere: &'static [&'static str]) -> Field<'a> {
        Field { elsewhere, ..self }
    }

    pub fn read<T: Deserialize<'a>>(&self) -> Result<T, SpecError> {
        T::deserialize(self).map_err(|error| self.placed(error))
    }

    pub fn get<T: Deserialize<'a>>(&self, key: &str) -> Result<Option<T>, SpecError> {
        self.child(key).map(|field| field.read()).transpose()
    }

    pub fn child(&self, key: &str) -> Option<Field<'a>> {
        self.node.get(key).map(|node| self.within(key, node))
    }

    pub fn need(&self, key: &str) -> Result<Field<'a>, SpecError> {
        self.child(key).ok_or_else(|| self.error(format!("`{key}` is missing")))
    }

    fn within(&self, key: &str, node: &'a Node) -> Field<'a> {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Field { path, node, elsewhere: &[], ..*self }
    }

    /// The values of a table under their keys, in the author's order.
    pub fn entries(&self) -> Result<Vec<(&'a str, Field<'a>)>, SpecError> {
        let Value::Table(entries) = &self.node.value else { return Err(self.wrong("a table")) };
        Ok(entries.iter().map(|(key, node)| (key.as_str(), self.within(key, node))).collect())
    }

    pub fn items(&self) -> Result<Vec<Field<'a>>, SpecError> {
        let Value::Array(items) = &self.node.value else { return Err(self.wrong("a list")) };
        let item = |(n, node)| Field { path: format!("{}[{}]", self.path, n + 1), node, elsewhere: &[], ..*self };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// Refuses a table with other keys than these.
    pub fn knows(&self, keys: &[&str]) -> Result<(), SpecError> {
        let is_known = |key: &str| keys.contains(&key) || self.elsewhere.contains(&key);
        let Some((key, field)) = self.entries()?.into_iter().find(|(key, _)| !is_known(key)) else {
            return Ok(());
        };
        Err(field.error(no_such_key(key, keys, self.elsewhere)))
    }

    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, SpecError> {
        let Value::Text(text) = &self.node.value else { return Err(self.wrong("text")) };
        let found = words.iter().find(|(word, _)| word == text).map(|(_, value)| *value);
        found.ok_or_else(|| self.error(not_one_of(text, &words.iter().map(|(word, _)| *word).collect::<Vec<_>>())))
    }

    fn at(&self) -> WrittenAt {
        WrittenAt::new(self.document, &self.path, self.node.line)
    }

    pub fn error(&self, message: impl Into<String>) -> SpecError {
        self.at().error(message)
    }

    fn wrong(&self, wanted: &str) -> SpecError {
        self.error(format!("must be {wanted}, and is {}", self.node.value.kind()))
    }

    /// An error of serde's, or of a type's own, with the place of the value that it is about.
    fn placed(&self, error: SpecError) -> SpecError {
        if error.at == WrittenAt::default() { self.error(error.message) } else { error }
    }

    fn text(&self) -> Result<&'a str, SpecError> {
        match &self.node.value {
            Value::Text(text) if text.is_empty() => Err(self.error("must not be empty")),
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong("text")),
        }
    }

    /// A stored value or SQL: a number and a truth value as their text.
    pub(super) fn spelled(&self) -> Result<String, SpecError> {
        match &self.node.value {
            value @ (Value::Integer(_) | Value::Boolean(_)) => Ok(value.to_string()),
            _ => self.text().map(str::to_owned),
        }
    }
}

impl<'de> Deserializer<'de> for &Field<'de> {
    type Error = SpecError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        match &self.node.value {
            Value::Boolean(truth) => visitor.visit_bool(*truth),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Table(_) => self.deserialize_map(visitor),
            Value::Text(_) | Value::Other(_) => visitor.visit_borrowed_str(self.text()?),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        let Value::Boolean(truth) = self.node.value else { return Err(self.wrong("true or false")) };
        visitor.visit_bool(truth)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        match self.node.value {
            Value::Integer(number) if number >= 0 => visitor.visit_u64(number.unsigned_abs()),
            Value::Integer(number) => Err(self.error(format!("must be a number of 0 or more, and is {number}"))),
            _ => Err(self.wrong("a number of 0 or more")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        visitor.visit_some(self)
    }

    /// A list; a single text stands for a list of one.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        let items = match &self.node.value {
            Value::Text(_) => vec![Field { path: self.path.clone(), ..*self }],
            _ => self.items()?,
        };
        visitor.visit_seq(Items(items.into_iter()))
    }

    /// The place of a value as three texts, and the value itself as a fourth: what [`Written`] keeps.
    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, SpecError> {
        let mut parts = vec![self.document.to_owned(), self.path.clone(), self.node.line.to_string()];
        if length > parts.len() {
            parts.push(self.spelled()?);
        }
        visitor.visit_seq(SeqDeserializer::new(parts.into_iter()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        let mut entries = self.entries()?;
        entries.retain(|(key, _)| !self.elsewhere.contains(key));
        visitor.visit_map(Entries { rest: entries.into_iter(), value: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SpecError> {
        self.knows(&[fields, &[WHY]].concat())?;
        self.get::<String>(WHY)?;
        let mut entries = self.entries()?;
        entries.retain(|(key, _)| fields.contains(key));
        if fields.contains(&PLACE) {
            entries.push((PLACE, Field { path: self.path.clone(), ..*self }));
        }
        visitor.visit_map(Entries { rest: entries.into_iter(), value: None })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SpecError> {
        if name == BY {
            let by = self.need(BY)?;
            let variant = by.text()?;
            if !variants.contains(&variant) {
                return Err(by.error(not_one_of(variant, variants)));
            }
            self.get::<String>(WHY)?;
            let rest = Field { path: self.path.clone(), elsewhere: &[BY, WHY], ..*self };
            let variant = Entries { rest: vec![(variant, rest)].into_iter(), value: None };
            return visitor.visit_enum(MapAccessDeserializer::new(variant));
        }
        visitor.visit_enum(IntoDeserializer::<SpecError>::into_deserializer(self.text()?))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct tuple_struct
        identifier ignored_any
    }
}

struct Entries<'de> {
    rest: std::vec::IntoIter<(&'de str, Field<'de>)>,
    value: Option<Field<'de>>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = SpecError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, SpecError> {
        let Some((key, field)) = self.rest.next() else { return Ok(None) };
        let key: StrDeserializer<'_, SpecError> = key.into_deserializer();
        let key = seed.deserialize(key).map_err(|error| field.placed(error))?;
        self.value = Some(field);
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, SpecError> {
        let field = self.value.take().ok_or_else(|| SpecError::custom("a value without a key"))?;
        seed.deserialize(&field).map_err(|error| field.placed(error))
    }
}

struct Items<'de>(std::vec::IntoIter<Field<'de>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = SpecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, SpecError> {
        let next = self.0.next().map(|field| seed.deserialize(&field).map_err(|error| field.placed(error)));
        next.transpose()
    }
}

/// Errors without a place: `Field::placed` says where.
impl Error for SpecError {
    fn custom<T: fmt::Display>(message: T) -> SpecError {
        SpecError::whole("", message.to_string())
    }

    fn missing_field(field: &'static str) -> SpecError {
        SpecError::custom(format!("`{field}` is missing"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> SpecError {
        SpecError::custom(no_such_key(field, expected, &[]))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> SpecError {
        SpecError::custom(not_one_of(variant, expected))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn serde::de::Expected) -> SpecError {
        SpecError::custom(format!("must be {expected}, and is {unexpected}"))
    }
}

fn no_such_key(key: &str, keys: &[&str], elsewhere: &[&str]) -> String {
    let keys: Vec<&str> = keys.iter().copied().filter(|key| *key != PLACE).collect();
    let known = match did_you_mean(key, keys.iter().chain(elsewhere).copied()) {
        hint if hint.is_empty() && !keys.is_empty() => format!("; known here: {}", keys.join(", ")),
        hint => hint,
    };
    format!("there is no such key{known}")
}

fn not_one_of(word: &str, words: &[&str]) -> String {
    let hint = did_you_mean(word, words.iter().copied());
    format!("`{word}` is not one of {}{hint}", words.join(", "))
}

/// Reads a table whose keys are names that the author chose, in the author's order.
pub(super) fn named<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<(String, T)>, D::Error> {
    struct Named<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Named<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }

    from.deserialize_map(Named(PhantomData))
}

/// Lets a type complete itself when its table has been read, and say what is wrong with the table as a whole:
/// `fn complete(&mut self) -> Result<(), &'static str>`. The type is `#[serde(remote = "Self")]`.
macro_rules! complete_when_read {
    ($($type:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let mut read = <$type>::deserialize(from)?;
                read.complete().map_err(serde::de::Error::custom)?;
                Ok(read)
            }
        }
    )*};
}
pub(super) use complete_when_read;

/// A text with the place it was written at, for errors that only show when it meets the live tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    pub text: String,
    pub at: WrittenAt,
}

impl Written {
    /// What a state is written as that is a row's place.
    pub(super) fn place(name: &str) -> Written {
        Written { text: format!("'{name}'"), ..Written::default() }
    }

    pub fn error(&self, message: impl Into<String>) -> SpecError {
        self.at.error(message)
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Written, D::Error> {
        let [document, key, line, text] = <[String; 4]>::deserialize(from)?;
        Ok(Written { text, at: WrittenAt { document, key, line: line.parse().ok().filter(|line| *line > 0) } })
    }
}

impl<'de> Deserialize<'de> for WrittenAt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<WrittenAt, D::Error> {
        let [document, key, line] = <[String; 3]>::deserialize(from)?;
        Ok(WrittenAt { document, key, line: line.parse().ok().filter(|line| *line > 0) })
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Fragment {
    pub(crate) written: Written,
    pub(crate) sql: Template,
}

impl<'de> Deserialize<'de> for Fragment {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fragment, D::Error> {
        let written = Written::deserialize(from)?;
        let sql = Template::parse(&written.text).map_err(D::Error::custom)?;
        Ok(Fragment { written, sql })
    }
}

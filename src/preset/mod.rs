//! A foreign queue, as data: the preset format, its resolver, identifiers, time encodings, the catalog of presets and
//! detection. No statement is executed here; what a database says about itself comes in as [`LiveSchema`].

#[cfg(test)]
mod built_in_tests;
mod candidates;
mod catalog;
mod detect;
mod document;
pub mod encoding;
mod error;
mod fields;
pub mod ident;
mod known;
mod live;
mod node;
mod options;
mod probe;
mod qualify;
mod queue;
mod renamed;
mod resolve;
mod statement_tables;
mod table_name;
mod template;
mod variant;

pub use candidates::{QUEUE_WORDS, TableColumns, candidates, tables_of, words};
pub(crate) use catalog::Shape;
pub use catalog::{Catalog, Preset};
pub use detect::detect;
pub(crate) use document::*;
pub use error::{SpecError, WrittenAt, did_you_mean};
pub use fields::{Field, Fields, Read, Written};
pub use known::{known, telling_columns};
pub use live::{LiveColumn, LiveIndex, LiveSchema, LiveTable};
pub use node::{Node, Value};
pub use options::{OptionKind, OptionValue, PresetOption};
pub use probe::Ask;
pub use qualify::qualified;
pub use queue::*;
pub use renamed::renamed;
pub use resolve::{Place, ResolveError, Waits, resolve, resolve_waiting};
pub use statement_tables::{Touch, words as statement_words};
pub use table_name::meanings;
pub use template::{Marker, Piece, Template, TemplateError, is_name};

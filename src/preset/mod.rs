//! A foreign queue, as data: the preset format, its resolver, identifiers, time encodings, the catalog of presets and
//! detection. No statement is executed here; what a database says about itself comes in as [`LiveSchema`].

mod catalog;
mod detect;
mod document;
pub mod encoding;
mod error;
mod extension;
mod field;
pub mod ident;
pub mod lex;
mod live;
mod near_misses;
mod node;
mod options;
mod qualify;
mod queue;
mod resolve;
mod template;
mod variant;

pub(crate) use catalog::Shape;
pub use catalog::{Catalog, Preset};
pub use detect::detect;
pub(crate) use document::*;
pub use error::{SpecError, TableInError, WrittenAt, did_you_mean};
pub use field::{Field, Written};
pub use ident::meanings;
pub use lex::is_name;
pub use live::{LiveColumn, LiveIndex, LiveSchema, LiveTable};
pub use near_misses::{QUEUE_WORDS, lookalikes, near_miss, telling_columns, words};
pub use node::{Node, Value};
pub use options::{OptionKind, PresetOption};
pub use qualify::qualified;
pub use queue::*;
pub use resolve::{Place, ResolveError, resolve};
pub use template::{Marker, Piece, Template, Touch};
pub use variant::Ask;

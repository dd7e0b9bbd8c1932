//! A foreign queue, as data: the preset format, its resolver, identifiers, time encodings, the catalog of presets and
//! detection. No statement is executed here; what a database says about itself comes in as [`LiveSchema`].

mod catalog;
mod delayed;
mod detect;
mod document;
pub mod encoding;
mod error;
mod fields;
pub mod ident;
mod live;
mod node;
mod options;
mod probe;
mod profile;
#[cfg(test)]
mod qualified;
mod queue;
mod resolve;
mod statement_tables;
mod template;
mod threshold;
mod variant;
mod waiting;

pub use catalog::{Catalog, Preset};
pub use detect::{detect, detect_prefixed};
pub use error::{SpecError, WrittenAt, did_you_mean};
pub use fields::{Field, Fields, Written};
pub use live::{LiveColumn, LiveIndex, LiveSchema, LiveTable};
pub use node::{Node, Value};
pub use options::{OptionKind, OptionValue, PresetOption};
pub use probe::Ask;
pub use profile::{
    ActionProfile, AdviceProfile, AttemptsProfile, Becomes, CheckProfile, ClaimProfile, ColumnChange, Condition,
    DelayedProfile, FinishedProfile, LifeSign, OwnerProfile, Profile, RulesProfile, Shape, SkipProfile, StepProfile,
    TableProfile, TableRole, Threshold, TimeProfile, VariantProfile, WakeUp,
};
pub use queue::*;
pub use resolve::{Place, ResolveError, resolve, resolve_waiting};
pub use statement_tables::Touch;
pub use template::{Marker, Piece, Template, TemplateError, is_name};
pub use threshold::{EARLIEST_MICROS, LEASE_AHEAD, silence_allowed};
pub use waiting::Waits;

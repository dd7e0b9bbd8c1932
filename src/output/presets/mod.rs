//! The queues that are known, as a list and one by one: as JSON, for a screen, and as the pages in `docs/presets/`.

mod actions;
mod fact;
mod list;
mod liveness;
mod page;
mod render;
mod sections;
mod variants;
mod words;

pub use fact::{PresetFact, PresetSection};
pub use list::{PresetEntry, PresetVariantLiveness, Presets, list, presets};
pub use page::{PresetPage, preset_page};
pub use render::{index, markdown, people};

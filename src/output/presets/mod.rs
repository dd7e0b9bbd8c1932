//! The queues that are known, as a list and one by one: as JSON, for a screen, and as the pages in `docs/presets/`.

mod list;
mod page;

pub use list::{PresetEntry, PresetVariantLiveness, Presets, list, presets};
pub use page::{PresetNote, PresetPage, index, markdown, people, preset_page};

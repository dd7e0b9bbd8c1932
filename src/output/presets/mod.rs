//! The queues that are known, as a list and one by one: as JSON, for a screen, and as the pages in `docs/presets/`.

mod actions;
mod facts;
mod finished;
mod list;
mod markdown;
mod page;
mod people;
mod sections;
mod show;
mod variants;
mod words;

pub use facts::preset_page;
pub use list::{PresetEntry, PresetVariantLiveness, Presets, list, presets};
pub use markdown::{index, markdown};
pub use people::people;
pub use show::{
    PresetAction, PresetAdvice, PresetAttempts, PresetCaution, PresetChange, PresetCheck, PresetDelayed,
    PresetFinished, PresetInFlight, PresetLiveness, PresetOption, PresetOwner, PresetQueue, PresetRule, PresetShape,
    PresetSkip, PresetStates, PresetStep, PresetTable, PresetTime, PresetWakeUp, PresetsShow,
};

//! The queues that are known, as a list and one by one: for a screen, and as the pages in `docs/presets/`.

mod list;
mod markdown;
mod page;
mod people;
mod sections;
mod variants;

pub use list::list;
pub use markdown::{index, markdown};
pub use people::people;

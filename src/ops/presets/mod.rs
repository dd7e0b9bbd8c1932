//! The queues that are known: all of them as a list, and one as a page. No database is looked at.

mod actions;
mod finished;
mod list;
mod page;
mod words;

pub use list::presets;
pub use page::preset_page;

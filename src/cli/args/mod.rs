//! Options that several commands share, one file for what belongs together. The doc comments are the help texts.

mod act;
mod output;
mod plan;
mod select;
mod store;

pub use act::ActArgs;
pub use output::{ColorArg, ListOutputArgs, OutputArgs, ToneArgs};
pub use plan::PlanArgs;
pub use select::{IdArgs, OlderArgs, SelectArgs};
pub use store::StoreArgs;

//! Options that several commands share, one file for what belongs together. The doc comments are the help texts.

mod act;
mod emit;
mod gentle;
mod output;
mod plan;
mod proof;
mod reason;
mod select;
mod store;
mod targets;
mod verify;

pub use act::ActArgs;
pub use emit::EmitArgs;
pub use gentle::{GentleArgs, parse_wait};
pub use output::{ColorArg, ListOutputArgs, OutputArgs, ToneArgs};
pub use plan::PlanArgs;
pub use proof::{BesideArgs, ConfirmArgs, parse_between_looks};
pub use reason::ReasonArgs;
pub use select::{IdArgs, OlderArgs, SelectArgs};
pub use store::StoreArgs;
pub use targets::TargetsArgs;
pub use verify::VerifyArgs;

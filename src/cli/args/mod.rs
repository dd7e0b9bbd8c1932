//! Options that several commands share, one file for what belongs together. The doc comments are the help texts.

mod act;
mod alerts;
mod confirm;
mod delay;
mod emit;
mod output;
mod plan;
mod reason;
mod select;
mod store;
mod targets;
mod textfile;
mod unattended;
mod verify;

pub use act::ActArgs;
pub use alerts::AlertArgs;
pub use confirm::{ConfirmArgs, EvidenceArgs, parse_between_snapshots};
pub use delay::{GentleArgs, parse_wait};
pub use emit::EmitArgs;
pub use output::{ColorArg, ListOutputArgs, OutputArgs, StatsOutputArgs, ToneArgs};
pub use plan::PlanArgs;
pub use reason::ReasonArgs;
pub use select::{ClaimArgs, IdArgs, OlderArgs, SelectArgs};
pub use store::StoreArgs;
pub use targets::TargetsArgs;
pub use textfile::TextfileArgs;
pub use unattended::{LogFormat, UnattendedArgs, parse_min_interval, parse_pause};
pub use verify::VerifyArgs;

//! Options that several commands share; the doc comments of the fields are the help texts.

mod act;
mod claims;
mod duration;
mod output;
mod store;

pub use act::{ActArgs, FastArgs, PlanArgs, ReasonArgs, UnattendedArgs, named, parse_digest, switchable_rules};
pub use claims::{ClaimArgs, ConfirmArgs, EvidenceArgs, IdArgs, InterruptedArgs, OlderArgs, SelectArgs, globs};
pub use duration::{parse_between_snapshots, parse_up_to_1d, parse_up_to_1h, parse_up_to_7d};
pub use output::{
    ColorArg, ListArgs, LogFormat, OutputArgs, TextfileArgs, TimeArg, ToneArgs, few_formats, markdown_too, metrics_too,
    text_or_json,
};
pub use store::{StoreArgs, TargetsArgs, parse_option};

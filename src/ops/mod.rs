//! Use cases: each takes a look, a selection and a policy, and gives back a document. They never print, read no
//! environment and know no command line.

mod apply;
mod check;
mod demo;
mod document;
mod error;
mod guard;
mod init;
mod owners;
mod plan;
mod presets;
mod reclaim;
mod selection;
mod session;
mod show;
mod stale;

pub use apply::{Applied, apply};
pub use check::{Checked, check};
pub use demo::demo;
pub use error::OpsError;
pub use guard::Guard;
pub use init::{init, reference_schema};
pub use owners::owners;
pub use plan::{Plan, plan, plan_again, saved_policy};
pub use presets::{preset_page, presets};
pub use reclaim::{Order, Reclaimed, reclaim};
pub use selection::Selection;
pub use session::{Look, Session};
pub use show::show;
pub use stale::stale;

//! Use cases: each takes a snapshot, a selection and a policy, and returns a document. They never print, read no
//! environment and know no command line.

mod adopt;
mod apply;
mod batches;
mod check;
mod confirm;
mod diagnosis;
mod error;
mod follow_up;
mod health;
mod history;
mod init;
mod interrupted;
mod owners;
mod pass;
mod passes;
mod plan;
mod progress;
mod reclaim;
mod scan;
mod selection;
mod session;
mod show;
mod snapshot_file;
mod stale;
mod stats;
mod status;
mod survey;
mod sweep_lock;
mod thresholds;
mod undo;
mod waiting;
mod waits;

pub use adopt::{Adoption, Answers, DryRun, Watched, adopt, candidates, prove, watch};
pub use check::{Checked, check};
pub use error::OpsError;
pub use follow_up::{RequeuedJobs, follow};
pub use health::{health, measure};
pub use history::{Records, history, history_run};
pub use init::{demo, init, init_ledger};
pub use interrupted::{require_bounds, why_unbounded};
pub use owners::owners;
pub use pass::Pass;
pub use passes::Bound;
pub use plan::{
    Plan, PlanSource, ReadyPlan, Spool, UnmatchedNames, plan, plan_again, unfit_for_target, unmatched_names,
};
pub use progress::{Progress, Silent, Work};
pub use reclaim::{ApplyOptions, Guard, Mode, Reclaimed, reclaim};
pub use scan::{OddList, Prescan, in_flight, prescan};
pub use selection::{AlsoInterrupted, Selection, caveats, names_in_flight};
pub use session::{Session, Snapshot};
pub use show::show;
pub use snapshot_file::SnapshotFile;
pub use stale::{NAMED, SnapshotDiff, stale, stale_by};
pub use stats::{runtimes, stats};
pub use status::status;
pub use sweep_lock::{LockOptions, called_off, ignored_ledger, pause, why_ledger_is_unusable};
pub use thresholds::{cutoffs, unfit as unfit_limits};

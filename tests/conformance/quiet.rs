//! How long no other connection has written to a file: what the pace of a run rests on.

use crate::support::doctor::{Unrecorded, built_in, fit, limits, outcomes, steps};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::insert;
use crate::support::labs::{Journal, Lab, SqliteLab};
use crate::support::tables::JOBS;
use jobdoctor::model::{Action, Batch, Outcome};
use jobdoctor::policy::Policy;
use std::fs::File;
use std::time::{Duration, SystemTime};

const LONG: Duration = Duration::from_secs(3_600);

/// The mutants: a writer that takes its own writes for those of others, and one that does not see those of others.
#[test]
fn the_writes_of_others_end_it_and_our_own_do_not() {
    for journal in [Journal::Wal, Journal::Rollback] {
        let lab = SqliteLab::new(journal);
        lab.create(&[JOBS]);
        let lost = |id| insert("jobs", &[("id", Int(id)), ("status", Text("RUNNING")), ("heartbeat_at", Ago(900))]);
        lab.edit(&[lost(1)]);
        let store = lab.store();
        let spec = fit(&*store, &built_in("lease"));
        let steps = steps(&*store, &spec, &Policy::default());
        for suffix in ["", "-wal"] {
            let path = format!("{}{suffix}", lab.path().display());
            if let Ok(file) = File::options().write(true).open(path) {
                file.set_modified(SystemTime::UNIX_EPOCH + LONG).unwrap();
            }
        }
        let mut writer = store.writer(&limits()).unwrap();
        assert!(writer.quiet() >= LONG, "the file says so");
        let batch = Batch { action: Action::Requeue, steps: &steps, reason: "", waits: &[] };
        assert_eq!(outcomes(&writer.apply(&spec, &batch, &mut Unrecorded)), [Outcome::Moved]);
        assert!(writer.quiet() >= LONG, "our own write");
        lab.edit(&[lost(2)]);
        assert!(writer.quiet() < LONG, "another's");
    }
}

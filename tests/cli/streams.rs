//! The report on stdout, everything else on stderr, and less of that where it was not asked for.

use super::scene::{incident, orphans};
use crate::support::cli::fails;

const REPORTS: [&[&str]; 6] = [
    &["stale", "--db", "queue.db"],
    &["owners", "--db", "queue.db"],
    &["show", "1", "--db", "queue.db"],
    &["reclaim", "--db", "queue.db"],
    &["sweep", "--db", "queue.db"],
    &["check", "--db", "queue.db"],
];

#[test]
fn quiet_leaves_the_report() {
    for report in REPORTS {
        let loud = incident().run(report).exits(0);
        let quiet = incident().run(&[report, &["-q"]].concat()).exits(0);
        assert_eq!(quiet.stderr, "", "{report:?}");
        assert_eq!(quiet.stdout.lines().count(), loud.stdout.lines().count(), "{report:?}");
    }
    let ran = orphans(3).on_queue(&["reclaim", "--apply", "--quiet"]).exits(0);
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (4, ""));
}

#[test]
fn quiet_leaves_the_errors() {
    fails(&incident(), &["stale", "--db", "none.db", "-q"], 66).says("there is no file none.db");
}

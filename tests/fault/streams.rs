//! Nobody can be told (F30): stdout is closed, or full. What was to be done is done all the same, the code says what is true, and
//! the next run has nothing left to do.

use super::ground::{BATCHES, Ground, SWEEP};
use crate::support::cli::Ran;
use crate::support::figures;
use crate::support::shop::Shop;
use std::fs::OpenOptions;
use std::process::{Command, Stdio};

#[test]
fn a_report_that_goes_nowhere_changes_nothing() {
    for shop in [Shop::on_sqlite(), Shop::on_postgres()] {
        let ground = Ground::of(shop, BATCHES.len());
        let doctor = &ground.shop.doctor;
        let is_done = |ran: &Ran| {
            let standing = ground.standing(&mut ground.shop.connect());
            assert_eq!(standing, Ok(vec![true; BATCHES.len()]), "{ran:#?}");
            assert_eq!(ground.converges().json()["summary"]["planned"], 0, "nothing is done twice");
            ground.again();
            figures::add(1, "faults survived");
        };
        let mut whole = doctor.command(&ground.shop.with_db(&SWEEP));
        let full = || OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let ran = Ran::of(whole.stdout(full()).stderr(Stdio::piped()).output().expect("run the program"));
        assert_eq!(ran.code, 70, "{ran:#?}");
        assert!(ran.stderr.contains("No space left") || ran.stderr.contains("storage full"), "{ran:#?}");
        ran.says(" moved ").says("jobdoctor history ");
        is_done(&ran);
        // Not even an error can be told.
        let ran = Ran::of(whole.stdout(full()).stderr(full()).output().expect("run the program"));
        assert_eq!(ran.code, 70, "{ran:#?}");
        is_done(&ran);
        let mut closed = Command::new("sh");
        closed.args(["-c", "exec \"$@\" >&- 2>&-", "sh"]).arg(whole.get_program()).args(whole.get_args());
        closed.env_clear().envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = Ran::of(closed.current_dir(doctor.path("")).stdin(Stdio::null()).output().expect("run the program"));
        is_done(&ran.exits(0));
    }
}

//! Eight sweeps at once through PgBouncer in transaction mode, which lends fewer sessions than that (F20): one effect, and nothing
//! left behind in the sessions.

use crate::support::cli::{Ran, until};
use crate::support::figures;
use crate::support::pgbouncer::pooler;
use crate::support::shop::Shop;
use std::process::Stdio;

const DEAD: u32 = 5_000;
const COPIES: usize = 8;
const ROUNDS: u64 = 3;

#[test]
fn eight_sweeps_through_fewer_sessions() {
    let shop = Shop::empty_on_postgres();
    shop.has_been_up_for_days();
    let url = shop.server().url_through(pooler().socket());
    for round in 0..ROUNDS {
        shop.sql("DELETE FROM jobs");
        shop.in_flight(1, DEAD, "'lost' || (n % 7) || ':1'", 600);
        shop.in_flight(DEAD + 1, DEAD + 100, "'web1:1'", 0);
        let sweep = ["sweep", "--apply", "--max-jobs", "99999", "-o", "json", "--timeout", "2m", "--db", &url];
        let started: Vec<_> = (0..COPIES)
            .map(|n| {
                let mut command = shop.doctor.command(&sweep);
                command.env("JOBDOCTOR_STATE_DIR", shop.doctor.home(&format!("host-{n}")));
                let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
                std::thread::spawn(move || Ran::of(child.wait_with_output().expect("it ends")))
            })
            .collect();
        let ended: Vec<Ran> = started.into_iter().map(|thread| thread.join().expect("it is read")).collect();
        let mut moved = 0;
        for ran in &ended {
            assert!([0, 3, 75].contains(&ran.code), "round {round}: {ran:#?}");
            if !ran.stdout.is_empty() {
                moved += ran.json()["summary"]["outcomes"]["moved"].as_u64().expect("a number");
            }
        }
        assert_eq!(moved, u64::from(DEAD), "round {round}: {ended:#?}");
        let states = shop.rows("SELECT status, attempts, stalls, count(*) FROM jobs GROUP BY 1, 2, 3 ORDER BY 1");
        assert_eq!(states, [format!("QUEUED 1 1 {DEAD}"), "RUNNING 0 0 100".to_owned()], "round {round}");
        until("nothing is left behind", || pooler().left_behind(shop.server()).is_empty());
    }
    figures::add(ROUNDS, "faults survived");
}

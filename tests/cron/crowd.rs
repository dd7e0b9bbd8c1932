//! Ten sweeps at the same instant, on one host and on ten.

use super::host::on_host;
use crate::support::cli::Ran;
use crate::support::shop::{Shop, on_both};
use serde_json::Value;

const ORPHANS: u32 = 2_000;
const SWEEPS: usize = 10;

fn sweep_at_once(shop: &Shop, host: impl Fn(usize) -> usize) -> Vec<Ran> {
    let sweep = ["sweep", "--apply", "--json", "--max-jobs", "9999"];
    let started: Vec<_> = (0..SWEEPS)
        .map(|n| on_host(shop, host(n), &sweep).spawn().unwrap_or_else(|error| panic!("{error}")))
        .map(|child| std::thread::spawn(move || Ran::of(child.wait_with_output().expect("it ends"))))
        .collect();
    started.into_iter().map(|thread| thread.join().expect("it is read")).collect()
}

/// One effect, attempts exact, nothing half; each of them either did its share or says why it stood back.
fn one_effect(shop: &Shop, ended: &[Ran]) {
    assert_eq!(
        shop.rows("SELECT status, attempts, stalls, count(*) FROM jobs GROUP BY 1, 2, 3"),
        [format!("QUEUED 1 1 {ORPHANS}")]
    );
    let mut moved = 0;
    for ran in ended {
        match ran.code {
            75 => {
                assert_eq!(ran.stdout, "", "{ran:#?}");
                let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|why| panic!("{why}: {ran:#?}"));
                let message = error["message"].as_str().expect("a message");
                let stood_back =
                    message.contains("another sweep of") || message.contains("another sweep is writing to");
                // SQLite's own write lock is all that the hosts have there.
                let waited = !shop.is_postgres() && message.contains("locked");
                assert!(stood_back || waited, "{message}");
                assert!(message.contains("jobs") || waited, "it says of what: {message}");
            }
            // Not all of the plan could be tried: another one held the database for too long, and moved the rest.
            0 | 3 => moved += ran.json()["summary"]["outcomes"]["moved"].as_u64().expect("a number"),
            _ => panic!("{ran:#?}"),
        }
    }
    assert_eq!(moved, u64::from(ORPHANS), "each job is moved by one of them, and told by that one");
}

#[test]
fn ten_sweeps_of_one_host_are_one() {
    on_both(|shop| {
        shop.in_flight(1, ORPHANS, "'web1:' || (n % 7)", 600);
        let ended = sweep_at_once(shop, |_| 0);
        one_effect(shop, &ended);
        let worked: Vec<&Ran> = ended.iter().filter(|ran| ran.code != 75).collect();
        // One that came after the first had ended has found nothing.
        let effects = worked.iter().filter(|ran| ran.json()["summary"]["outcomes"]["moved"] != 0).count();
        assert_eq!(effects, 1, "the lock is for the whole run");
    });
}

#[test]
fn ten_sweeps_of_ten_hosts_come_to_one() {
    on_both(|shop| {
        shop.open_to_many();
        shop.in_flight(1, ORPHANS, "'web1:' || (n % 7)", 600);
        let ended = sweep_at_once(shop, |n| n);
        one_effect(shop, &ended);
        assert!(ended.iter().any(|ran| ran.code == 0), "{ended:#?}");
    });
}

//! An incident as it was recorded, played on both engines, while an operator follows docs/incident.md to the letter: exactly
//! the orphans move, and nobody at work loses a job.
//!
//! Who is an orphan is known to the test alone, from the script. The program sees the database.

pub(crate) mod fleet;
pub(crate) mod script;
mod undone;

use crate::readme::session::Session;
use crate::support::cli::until;
use crate::support::shop::Shop;
use fleet::{Fleet, LEASE, Worker};

use script::{Job, LAST_ATTEMPT, LOST, Pace, QUEUES, TO_CANCEL, jobs, orphans};
use std::collections::BTreeSet;
use std::time::Duration;

const PAGE: &str = "docs/incident.md";

/// A machine that stops for longer than a lease kills workers that nobody meant to kill. Then the play is void and begins anew.
const TRIES: usize = 4;

#[test]
fn on_sqlite_the_page_moves_exactly_the_orphans() {
    played(Shop::on_sqlite, follow_the_page);
}

#[test]
fn on_postgres_the_page_moves_exactly_the_orphans() {
    played(Shop::on_postgres, follow_the_page);
}

/// Plays it until a play counts.
fn played(shop: impl Fn() -> Shop, act: impl Fn(&mut Incident)) {
    for _ in 0..TRIES {
        let mut incident = Incident::up_to_the_call(shop());
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(&mut incident)));
        match ended {
            Ok(()) if incident.counts() => return,
            Err(why) if incident.counts() => std::panic::resume_unwind(why),
            _ => {}
        }
    }
    panic!("this machine stops for longer than {LEASE} s, again and again");
}

/// The state of things when the operator is called.
struct Incident {
    shop: Shop,
    fleet: Fleet,
}

impl Incident {
    fn up_to_the_call(shop: Shop) -> Incident {
        shop.run(&["init"]).exits(0);
        shop.open_to_many();
        shop.has_been_up_for_days();
        let mut run = shop.connect();
        enqueue(&shop, &mut run);
        let (page, mut fleet) = (shop.statements(), Fleet::default());
        for queue in &QUEUES {
            let worker = |owner: &&'static str| Worker::new(owner, queue, &page, shop.connect());
            let mut workers: Vec<Worker> = queue.owners.iter().map(worker).collect();
            for _ in 0..queue.each {
                for worker in &mut workers {
                    let id = worker.claim().expect("a job");
                    let job = &jobs()[id.parse::<usize>().expect("a number") - 1];
                    assert_eq!((job.owner, job.queue.name), (Some(worker.owner), queue.name), "job {id}");
                }
            }
            workers.into_iter().for_each(|worker| fleet.start(worker));
            if queue.pace == Pace::Slow {
                let before = shop.seconds(10_800);
                run(&format!(
                    "UPDATE jobs SET claimed_at = claimed_at - {before} WHERE queue = '{}' AND status = 'RUNNING'",
                    queue.name
                ));
            }
        }
        fleet.kill(LOST);
        run(&format!("UPDATE jobs SET cancel_requested_at = {} WHERE id = {TO_CANCEL}", shop.at(0)));
        fleet.start_in_its_place(&page, || shop.connect());
        let waiting = format!(
            "SELECT id FROM jobs WHERE owner_id LIKE '{LOST}:%' AND lease_expires_at >= {now} \
             OR status = 'RUNNING' AND deadline_at >= {now}",
            // What has just run out in a fraction of a second counts as over with the next whole one.
            now = shop.at(-1)
        );
        until("the leases have run out", || run(&waiting).is_empty());
        Incident { shop, fleet }
    }

    /// False if workers were kept from running for so long that nothing is proven.
    fn counts(&self) -> bool {
        // Whole seconds on SQLite.
        self.fleet.log(|log| log.longest_gap) < Duration::from_secs(LEASE - 2)
    }
}

fn enqueue(shop: &Shop, run: &mut crate::readme::statements::Database) {
    for job in jobs() {
        let deadline = if job.queue.pace == Pace::Hung { shop.at(2) } else { "NULL".to_owned() };
        let (queue, attempts) = (job.queue, job.attempts());
        run(&format!(
            "INSERT INTO jobs (queue, kind, attempts, deadline_at) VALUES ('{}', '{}', {attempts}, {deadline})",
            queue.name, queue.kind
        ));
    }
}

/// Does what the page says, and looks at what came of it.
fn follow_the_page(incident: &mut Incident) {
    let mut operator = Session::at(&incident.shop.address());
    let said = operator.follow(PAGE, "incident");
    assert_eq!(incident.wrong(), Vec::<String>::new(), "{said}");
    let rest = [LAST_ATTEMPT, TO_CANCEL].map(|id| id.to_string());
    let requeued: Vec<String> = orphans().into_iter().filter(|id| !rest.contains(id)).collect();
    until("the requeued jobs are done", || {
        incident.fleet.log(|log| requeued.iter().all(|id| log.finished.contains_key(id)))
    });
    assert_eq!(incident.wrong(), Vec::<String>::new(), "{said}");
    // What hangs is still there to be looked at, and nothing else.
    let left: BTreeSet<String> = operator.say("jobdoctor stale -o name").lines().map(str::to_owned).collect();
    let hung = jobs().into_iter().filter(|job| job.queue.pace == Pace::Hung && !job.is_orphan());
    assert_eq!(left, hung.map(|job| job.id.to_string()).collect(), "{said}");
    // One who does not follow the page, but moves what hangs too, is caught by the same eyes; and by its workers.
    // A job whose heartbeat comes between the snapshot and the write is skipped (3), and is there the next time.
    let mut said = String::new();
    until("all that hangs is moved", || {
        said += &operator.say("jobdoctor reclaim --rule deadline_passed --apply || [ $? -eq 3 ]");
        operator.say("jobdoctor stale -o name").is_empty()
    });
    let noticed = format!("the living notice; {said}");
    until(&noticed, || incident.fleet.log(|log| log.lost.len() == 6));
    assert_eq!(incident.wrong().len(), 12, "{:?}", incident.wrong());
}

impl Incident {
    /// Every job that is not as it must be after the page: the orphans moved once, with an attempt counted, and nobody else
    /// touched but by its worker. Each action of a job is counted on the job, by the statement that moves it; a fail is no loss
    /// that the job came back from.
    fn wrong(&self) -> Vec<String> {
        let rows = self.shop.rows("SELECT id, attempts, stalls, status FROM jobs ORDER BY id");
        assert_eq!(rows.len(), jobs().len());
        let is_wrong = |(job, row): (Job, String)| {
            let expected: &[&str] = match (job.is_orphan(), job.id) {
                (_, LAST_ATTEMPT) => &["5 0 FAILED"],
                (_, TO_CANCEL) => &["1 0 CANCELLED"],
                (true, _) => &["1 1 QUEUED", "1 1 RUNNING", "1 1 SUCCEEDED"],
                (false, _) => &["0 0 QUEUED", "0 0 RUNNING", "0 0 SUCCEEDED"],
            };
            (!expected.iter().any(|end| row == format!("{} {end}", job.id))).then_some(row)
        };
        let lost = self.fleet.log(|log| log.lost.clone()).into_iter().map(|job| format!("lost while alive: {job}"));
        let touched = jobs().into_iter().zip(rows).filter_map(is_wrong);
        touched.chain(lost).collect()
    }
}

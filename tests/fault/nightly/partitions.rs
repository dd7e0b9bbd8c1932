//! A table that is partitioned by state (F19): to be moved is to change the partition. Workers who finish at the same time are
//! told to try again (40001); the doctor never is.

use crate::support::cli::{Doctor, until};
use crate::support::figures;
use crate::support::postgres::fresh;
use postgres::Client;
use std::sync::atomic::{AtomicBool, Ordering};

const DEAD: i64 = 4_000;
const LIVING: i64 = 400;
const ROUNDS: u64 = 5;

/// The reference schema, as somebody has it whose finished jobs are to lie elsewhere.
const SCHEMA: &str = "CREATE TABLE jobs (
        id bigint NOT NULL, queue text, kind text, status text NOT NULL DEFAULT 'QUEUED', run_at timestamptz, owner_id text,
        lease_token text, claimed_at timestamptz, heartbeat_at timestamptz, lease_expires_at timestamptz,
        attempts bigint NOT NULL DEFAULT 0, max_attempts bigint DEFAULT 5, stalls bigint NOT NULL DEFAULT 0, error_code text,
        error_detail text, finished_at timestamptz, PRIMARY KEY (id, status)) PARTITION BY LIST (status);
    CREATE TABLE jobs_waiting PARTITION OF jobs FOR VALUES IN ('QUEUED');
    CREATE TABLE jobs_in_flight PARTITION OF jobs FOR VALUES IN ('CLAIMED', 'RUNNING');
    CREATE TABLE jobs_over PARTITION OF jobs FOR VALUES IN ('SUCCEEDED', 'FAILED', 'CANCELLED', 'TIMED_OUT')";

/// Finishes these jobs one by one, dead or alive, as often as it takes; gives back those that were still its own, and how often
/// it was told to try again.
fn finish(mut client: Client, jobs: impl Iterator<Item = i64>, stop: &AtomicBool) -> (Vec<i64>, u64) {
    let (mut finished, mut again) = (Vec::new(), 0);
    for id in jobs.take_while(|_| !stop.load(Ordering::SeqCst)) {
        let sql = format!(
            "UPDATE jobs SET status = 'SUCCEEDED', finished_at = now(), owner_id = NULL, lease_token = NULL,
                lease_expires_at = NULL
             WHERE id = {id} AND owner_id = 'web1:1' AND lease_token = 'token' AND status IN ('CLAIMED', 'RUNNING')"
        );
        loop {
            match client.execute(&sql, &[]) {
                Ok(1) => break finished.push(id),
                Ok(_) => break,
                Err(error) if error.code().is_some_and(|code| code.code() == "40001") => again += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    (finished, again)
}

#[test]
fn the_doctor_is_never_told_to_try_again() {
    let (doctor, database) = (Doctor::new(), fresh());
    let mut client = database.client();
    client.batch_execute(SCHEMA).expect("the schema");
    let mut met = 0;
    for round in 0..ROUNDS {
        client
            .batch_execute(&format!(
                "TRUNCATE jobs; INSERT INTO jobs (id, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
                 SELECT n, 'RUNNING', 'web1:1', 'token', now() - interval '2h', now() - interval '2h',
                     now() + CASE WHEN n <= {DEAD} THEN interval '-1h' ELSE interval '1h' END
                 FROM generate_series(1, {DEAD} + {LIVING}) AS n"
            ))
            .expect("plant");
        let stop = AtomicBool::new(false);
        let (ran, finished) = std::thread::scope(|scope| {
            // One finishes what it has alive; one was dead to everybody, and comes back from the other end.
            let (alive, late) = (database.client(), database.client());
            let workers = [
                scope.spawn(|| finish(alive, DEAD + 1..=DEAD + LIVING, &stop)),
                scope.spawn(|| finish(late, (1..=DEAD).rev(), &stop)),
            ];
            let mut watcher = database.client();
            let over = "SELECT count(*) > 20 FROM jobs_over";
            until("they are at work", || watcher.query_one(over, &[]).expect("look").get(0));
            let url = database.url();
            let ran = doctor.run(&["reclaim", "--apply", "--max-jobs", "99999", "-o", "json", "--db", &url]);
            stop.store(true, Ordering::SeqCst);
            (ran, workers.map(|worker| worker.join().expect("a worker").0))
        });
        // Those whom the late one had locked at that moment are left to the next run.
        assert!([0, 3].contains(&ran.code), "round {round}: {ran:#?}");
        assert!(!ran.stderr.contains("40001"), "round {round}: {}", ran.stderr);
        let outcomes = ran.json()["summary"]["outcomes"].clone();
        for (outcome, count) in outcomes.as_object().expect("outcomes") {
            let allowed = ["moved", "changed", "gone", "locked"].contains(&outcome.as_str());
            assert!(allowed || *count == 0, "round {round}: {outcomes}");
        }
        met += outcomes["changed"].as_u64().unwrap_or(0) + outcomes["gone"].as_u64().unwrap_or(0);
        doctor.run(&["reclaim", "--apply", "--max-jobs", "99999", "-o", "none", "--db", &database.url()]).exits(0);
        let late: i64 = finished[1].len() as i64;
        let alive = finished[0].len() as i64;
        let sql = "SELECT tableoid::regclass || ' ' || status || ' ' || attempts || ' ' || count(*) AS told FROM jobs
            GROUP BY tableoid, status, attempts ORDER BY told";
        let told: Vec<String> = client.query(sql, &[]).expect("look").iter().map(|row| row.get(0)).collect();
        let mut expected =
            vec![format!("jobs_over SUCCEEDED 0 {}", late + alive), format!("jobs_waiting QUEUED 1 {}", DEAD - late)];
        if alive < LIVING {
            expected.insert(0, format!("jobs_in_flight RUNNING 0 {}", LIVING - alive));
        }
        assert_eq!(told, expected, "round {round}: one end for each, whoever came first");
    }
    println!("{met} jobs were finished between the snapshot and the write");
    figures::add(ROUNDS, "faults survived");
}

//! How much a run asks of the workers: small batches, and large ones only where the operator says that no worker waits.

use crate::cli::scene::orphans;
use crate::support::cli::Doctor;
use crate::support::postgres::fresh;
use serde_json::Value;
use std::fs;

const APPLY: [&str; 6] = ["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply"];

/// How many jobs each batch had, as the journal was told.
fn batches(doctor: &Doctor) -> Vec<usize> {
    let journal = fs::read_dir(doctor.home(".local/state/jobdoctor/journal")).unwrap().next().unwrap().unwrap();
    let lines: Vec<Value> =
        fs::read_to_string(journal.path()).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let intents = lines.iter().filter(|line| line["type"] == "intent");
    intents.map(|intent| intent["steps"].as_array().unwrap().len()).collect()
}

#[test]
fn batches_begin_small_and_at_most_double_where_workers_would_wait() {
    for fast in [&[][..], &["--fast"]] {
        let doctor = orphans(300);
        doctor.run(&[&APPLY[..], fast].concat()).exits(0);
        let batches = batches(&doctor);
        assert_eq!((batches[0], batches.iter().sum::<usize>()), (20, 300), "{batches:?}");
        let doubles = batches.windows(2).all(|pair| pair[1] <= 2 * pair[0]);
        assert!(doubles || !fast.is_empty(), "{batches:?}");
    }
}

/// Jobs that are failed wait for others of their kind while jobs that are requeued teach the run that rows are slow.
#[test]
fn steps_that_waited_for_their_kind_keep_the_pace_too() {
    let (doctor, database) = (Doctor::new(), fresh());
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    database
        .client()
        .batch_execute(
            "INSERT INTO jobs (id, status, owner_id, claimed_at, lease_expires_at, attempts)
                SELECT n, 'RUNNING', 'web1:1', now() - interval '2h', now() - interval '1h', CASE WHEN n % 2 = 0 THEN 4 ELSE 0 END
                FROM generate_series(1, 40) AS n;
             CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END $$;
             CREATE TRIGGER slow BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION slow()",
        )
        .unwrap();
    doctor.run(&["reclaim", "--db", &database.url(), "--max-jobs", "99", "--apply"]).exits(0);
    let batches = batches(&doctor);
    assert_eq!(
        (batches[0], batches[1..].iter().max(), batches.iter().sum::<usize>()),
        (20, Some(&1), 40),
        "{batches:?}"
    );
}

#[test]
fn a_dry_run_is_neither_fast_nor_slow() {
    let doctor = orphans(1);
    doctor.on_queue(&["reclaim", "--fast"]).exits(2).says("--apply");
}

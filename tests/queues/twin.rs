//! Many orphans, of which one cannot go back because its twin waits already: it alone is refused, and it is named.

use super::tables::tables;
use crate::support::cli::Doctor;

#[test]
fn of_500_orphans_one_has_a_waiting_twin() {
    let database = tables("procrastinate", "3.10").made();
    let mut client = database.client();
    client
        .batch_execute(
            "INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE VALUES (7, now() - interval '1 hour');
             INSERT INTO procrastinate_jobs (id, queue_name, task_name, status, queueing_lock, worker_id)
               SELECT n, 'mail', 'send', 'doing', 'lock ' || n, 7 FROM generate_series(1, 500) AS n;
             UPDATE procrastinate_events SET at = now() - interval '2 hours';
             INSERT INTO procrastinate_jobs (id, queue_name, task_name, status, queueing_lock)
               VALUES (501, 'mail', 'send', 'todo', 'lock 250')",
        )
        .unwrap();
    let doctor = Doctor::new();
    let ran = doctor.run(&["reclaim", "--max-jobs", "1000", "--apply", "--json", "--db", &database.url()]).exits(3);
    let document = ran.json();
    let outcomes = &document["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&499.into(), &1.into()), "{outcomes}");
    let steps = document["steps"].as_array().unwrap();
    let refused: Vec<_> = steps.iter().filter(|step| step["outcome"] == "refused").collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0]["id"], "250");
    assert_eq!(refused[0]["error"]["sqlstate"], "23505");
    assert_eq!(refused[0]["error"]["constraint"], "procrastinate_jobs_queueing_lock_idx_v1");
    let states = "SELECT string_agg(status || ' ' || n, ', ' ORDER BY status) FROM \
                  (SELECT status::text, count(*) AS n FROM procrastinate_jobs GROUP BY 1) AS s";
    let states: String = client.query_one(states, &[]).unwrap().get(0);
    assert_eq!(states, "doing 1, todo 500");
    let again = doctor.run(&["reclaim", "--max-jobs", "1000", "--apply", "--db", &database.url()]).exits(3);
    let named = "refused by procrastinate_jobs_queueing_lock_idx_v1: 250";
    assert!(again.stderr.contains(named), "{}", again.whole());
}

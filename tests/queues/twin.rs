//! Many orphans, of which one cannot go back because its twin waits already: it alone is refused, and it is named.

use super::tables::shop;

#[test]
fn of_500_orphans_one_has_a_waiting_twin() {
    let shop = shop(
        "procrastinate",
        "3.10",
        "INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE VALUES (7, now() - interval '1 hour');
         INSERT INTO procrastinate_jobs (id, queue_name, task_name, status, queueing_lock, worker_id)
           SELECT n, 'mail', 'send', 'doing', 'lock ' || n, 7 FROM generate_series(1, 500) AS n;
         UPDATE procrastinate_events SET at = now() - interval '2 hours';
         INSERT INTO procrastinate_jobs (id, queue_name, task_name, status, queueing_lock)
           VALUES (501, 'mail', 'send', 'todo', 'lock 250')",
    );
    let reclaim = ["reclaim", "--max-jobs", "1000", "--apply"];
    let document = shop.run(&[&reclaim[..], &["--json"]].concat()).exits(3).json();
    assert_eq!(document["summary"]["outcomes"]["moved"], 499);
    let steps = document["steps"].as_array().unwrap();
    let refused: Vec<_> = steps.iter().filter(|step| step["outcome"] == "refused").collect();
    assert_eq!(
        (refused.len(), &refused[0]["id"], &refused[0]["error"]["sqlstate"]),
        (1, &"250".into(), &"23505".into())
    );
    let states = shop.rows("SELECT status, count(*) FROM procrastinate_jobs GROUP BY 1 ORDER BY status::text");
    assert_eq!(states, ["doing 1", "todo 500"]);
    let named = "refused by procrastinate_jobs_queueing_lock_idx_v1: 250";
    let again = shop.run(&reclaim).exits(3);
    assert!(again.stderr.contains(named), "{}", again.whole());
}

//! Which presets tell run times: from tables as the libraries make them, and what is said where there are none.

use super::place::on_empty;
use crate::queues::tables::shop;
use crate::support::cli::fails;
use crate::support::shop::Shop;

const OBAN: &str = "INSERT INTO oban_jobs (worker, state, queue, args, attempt, attempted_at, completed_at)
    VALUES ('A', 'completed', 'mail', '{}', 1, now() AT TIME ZONE 'utc' - interval '700 s', now() AT TIME ZONE 'utc' - interval '600 s')";
const PG_BOSS: &str = "SELECT pgboss.create_queue('A', '{\"policy\": \"standard\"}');
    INSERT INTO pgboss.job (name, state, started_on, completed_on) VALUES ('A', 'completed', {ago 700}, {ago 600})";
const GOOD_JOB: &str =
    "INSERT INTO good_jobs (id, job_class, queue_name, performed_at, finished_at, error, created_at, updated_at)
    VALUES ('00000000-0000-0000-0000-000000000001', 'A', 'mail', {ago 700}, {ago 600}, NULL, now(), now()),
        ('00000000-0000-0000-0000-000000000002', 'A', 'mail', {ago 900}, {ago 600}, 'it failed', now(), now())";

/// A queue's tables and one job of kind or queue `A` that ran 100 seconds, ten minutes ago.
const TELL: [(&str, &str, &str); 8] = [
    (
        "river",
        "v7",
        "INSERT INTO river_job (kind, state, max_attempts, attempt, args, queue, attempted_at, finalized_at)
        VALUES ('A', 'completed', 3, 1, '{}', 'mail', {ago 700}, {ago 600})",
    ),
    ("oban", "elixir-v14", OBAN),
    ("oban", "python-0.7.0", OBAN),
    ("pg-boss", "10", PG_BOSS),
    ("pg-boss", "12.38", PG_BOSS),
    ("good-job", "4.19", GOOD_JOB),
    ("good-job", "4.19-timestamptz", GOOD_JOB),
    ("good-job", "4.14", GOOD_JOB),
];

#[test]
fn libraries_that_keep_both_instants() {
    for (preset, version, job) in TELL {
        // Those without a zone are in UTC.
        let shop = shop(preset, version, &format!("SET timezone = 'UTC'; {job}"));
        let document =
            shop.run(&["stats", "--runtimes", "--older", "1m", "--json"]).exits(0).document("stats-runtimes");
        assert_eq!(document["target"]["preset"], preset);
        let entry = &document["kinds"][0];
        let name = if preset == "pg-boss" { &entry["queue"] } else { &entry["kind"] };
        let said = (name, &entry["jobs"], &entry["unusable"], &entry["max_seconds"], &entry["would_hit"]);
        assert_eq!(said, (&"A".into(), &1.into(), &0.into(), &100.0.into(), &1.into()), "{preset}: {document:#}");
    }
}

/// Never an empty answer that reads as "nothing".
#[test]
fn libraries_that_keep_none_are_named() {
    for (preset, version, why) in [
        ("graphile-worker", "0.16", "the library deletes jobs that have ended well"),
        ("delayed-job", "4.2.0", "the library deletes jobs that have ended well"),
        ("solid-queue", "1.5.0", "which is deleted as the job ends"),
        ("que", "7", "do not say when a run began"),
        ("procrastinate", "3.10", "not for its end"),
        ("pgqueuer", "1.6.0", "leave the table"),
    ] {
        let shop = shop(preset, version, "");
        let ran = fails(&shop.doctor, &shop.with_db(&["stats", "--runtimes", "--older", "1h"]), 2);
        let first = ran.stderr.lines().next().unwrap();
        assert!(first.starts_with(&format!("error: --runtimes: preset {preset}: ")) && first.contains(why), "{first}");
        // The counts are told all the same.
        shop.run(&["stats", "--older", "1h"]).exits(0);
    }
}

fn table_without(place: &Shop, column: &str) -> String {
    let columns = ["claimed_at {time}", "finished_at {time}", "lease_expires_at {time}"];
    let kept: Vec<&str> = columns.into_iter().filter(|kept| !kept.starts_with(column)).collect();
    place.sql(&format!(
        "DROP TABLE IF EXISTS jobs; CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, owner_id TEXT, {})",
        kept.join(", ")
    ));
    fails(&place.doctor, &["stats", "--runtimes", "--preset", "lease", "--db", &place.url], 2).stderr
}

#[test]
fn a_table_without_the_column_is_named() {
    on_empty(|place| {
        let said = table_without(place, "finished_at");
        assert!(said.starts_with("error: --runtimes: table jobs has no column finished_at\n"), "{said}");
        let said = table_without(place, "claimed_at");
        assert!(said.starts_with("error: --runtimes: table jobs has no column claimed_at\n"), "{said}");
    });
}

const WORK: &str = "preset = \"work\"\n[mapping.work]\ntime = { default = { sqlite = \"epoch s\", postgres = \"native\" } }
states = { waiting = [\"new\"], in_flight = [\"busy\"], done = [\"ok\", \"skipped\"] }
claim = { table = \"work\", key = \"id\", state = \"status\", claimed_at = \"begun\", liveness = [{ by = \"age\", column = \"begun\", silent_after = \"1h\" }] }
action = { requeue = { to = \"new\" } }
";

#[test]
fn a_mapping_says_where_or_is_told_what_is_wrong() {
    on_empty(|place| {
        place.sql(
            "CREATE TABLE work (id INTEGER PRIMARY KEY, status TEXT, begun {time}, first {time}, ended {time});
            INSERT INTO work VALUES (1, 'ok', {ago 700}, {ago 900}, {ago 600}),
                (2, 'skipped', {ago 650}, NULL, {ago 600}), (3, 'bad', {ago 5000}, NULL, {ago 600})",
        );
        let run = |finished: &str| {
            place.config(&format!("{WORK}{finished}"));
            place.on_target(&["stats", "--runtimes", "--json"])
        };
        let longest = |finished: &str| {
            let document = run(finished).exits(0).json();
            (document["kinds"][0]["jobs"].clone(), document["kinds"][0]["max_seconds"].clone())
        };
        assert_eq!(longest("finished = { at = \"ended\" }"), (2.into(), 100.0.into()));
        assert_eq!(
            longest("finished = { at = \"ended\", states = [\"ok\"], started = \"first\" }"),
            (1.into(), 300.0.into())
        );
        assert_eq!(longest("finished = { at = \"ended\", where = \"j.id = 2\" }"), (1.into(), 50.0.into()));
        for (finished, code, complaint) in [
            ("", 2, "preset work does not say where the end of a run is kept"),
            ("finished = { none = \"they go away\" }", 2, "preset work: they go away"),
            ("finished = { at = \"endet\" }", 78, "has no column `endet`, did you mean `ended`?"),
            ("finished = { at = \"ended\", states = [\"okay\"] }", 78, "did you mean `ok`?"),
            ("finished = { at = \"ended\", none = \"x\" }", 78, "needs either `at`"),
            ("finished = { started = \"first\" }", 78, "needs either `at`"),
            ("finished = { ad = \"ended\" }", 78, "did you mean `at`?"),
            ("finished = { at = \"ended\", states = [] }", 78, "needs `states` or `where`"),
            ("finished = { at = \"ended\", stated = \"first\" }", 78, "did you mean `started`?"),
            ("finished = { at = \"j.begun + 1\" }", 78, "must be a column"),
        ] {
            place.config(&format!("{WORK}{finished}"));
            let said = fails(&place.doctor, &["stats", "--runtimes", "--config", "config.toml"], code).stderr;
            assert!(said.lines().next().unwrap().contains(complaint), "{finished}: {said}");
        }
    });
}

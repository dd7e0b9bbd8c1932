//! Which presets tell run times: from tables as the libraries make them, and what is said where there are none.

use super::place::{Place, on_both};
use crate::support::cli::{Doctor, fails, is_valid};
use crate::support::postgres::fresh;

/// A queue's tables and one job of kind or queue `A` that ran 100 seconds, ten minutes ago.
const TELL: [(&str, &str, &str); 8] = [
    (
        "river",
        include_str!("../../fixtures/schemas/river/v7.sql"),
        "INSERT INTO river_job (kind, state, max_attempts, attempt, args, queue, attempted_at, finalized_at)
        VALUES ('A', 'completed', 3, 1, '{}', 'mail', now() - interval '700 s', now() - interval '600 s')",
    ),
    (
        "oban",
        include_str!("../../fixtures/schemas/oban/elixir-v14.sql"),
        "INSERT INTO oban_jobs (worker, state, queue, args, attempt, attempted_at, completed_at)
        VALUES ('A', 'completed', 'mail', '{}', 1, now() AT TIME ZONE 'utc' - interval '700 s', now() AT TIME ZONE 'utc' - interval '600 s')",
    ),
    (
        "oban",
        include_str!("../../fixtures/schemas/oban/python-0.7.0.sql"),
        "INSERT INTO oban_jobs (worker, state, queue, args, attempt, attempted_at, completed_at)
        VALUES ('A', 'completed', 'mail', '{}', 1, now() AT TIME ZONE 'utc' - interval '700 s', now() AT TIME ZONE 'utc' - interval '600 s')",
    ),
    (
        "pg-boss",
        include_str!("../../fixtures/schemas/pg-boss/10.sql"),
        "SELECT pgboss.create_queue('A', '{\"policy\": \"standard\"}');
        INSERT INTO pgboss.job (name, state, started_on, completed_on)
        VALUES ('A', 'completed', now() - interval '700 s', now() - interval '600 s')",
    ),
    (
        "pg-boss",
        include_str!("../../fixtures/schemas/pg-boss/12.38.sql"),
        "SELECT pgboss.create_queue('A', '{\"policy\": \"standard\"}');
        INSERT INTO pgboss.job (name, state, started_on, completed_on)
        VALUES ('A', 'completed', now() - interval '700 s', now() - interval '600 s')",
    ),
    (
        "good-job",
        include_str!("../../fixtures/schemas/good-job/4.19.sql"),
        "INSERT INTO good_jobs (id, job_class, queue_name, performed_at, finished_at, error, created_at, updated_at)
        VALUES ('00000000-0000-0000-0000-000000000001', 'A', 'mail', now() AT TIME ZONE 'utc' - interval '700 s', now() AT TIME ZONE 'utc' - interval '600 s', NULL, now(), now()),
            ('00000000-0000-0000-0000-000000000002', 'A', 'mail', now() AT TIME ZONE 'utc' - interval '900 s', now() AT TIME ZONE 'utc' - interval '600 s', 'it failed', now(), now())",
    ),
    (
        "good-job",
        include_str!("../../fixtures/schemas/good-job/4.19-timestamptz.sql"),
        "INSERT INTO good_jobs (id, job_class, queue_name, performed_at, finished_at, error, created_at, updated_at)
        VALUES ('00000000-0000-0000-0000-000000000001', 'A', 'mail', now() - interval '700 s', now() - interval '600 s', NULL, now(), now())",
    ),
    (
        "good-job",
        include_str!("../../fixtures/schemas/good-job/4.14.sql"),
        "INSERT INTO good_jobs (id, job_class, queue_name, performed_at, finished_at, error, created_at, updated_at)
        VALUES ('00000000-0000-0000-0000-000000000001', 'A', 'mail', now() AT TIME ZONE 'utc' - interval '700 s', now() AT TIME ZONE 'utc' - interval '600 s', NULL, now(), now())",
    ),
];

#[test]
fn libraries_that_keep_both_instants() {
    for (preset, schema, job) in TELL {
        let (doctor, database) = (Doctor::new(), fresh());
        database.client().batch_execute(schema).unwrap_or_else(|error| panic!("{preset}: {error:?}"));
        database.client().batch_execute(job).unwrap_or_else(|error| panic!("{preset}: {error:?}"));
        let ran = doctor.run(&["stats", "--runtimes", "--older", "1m", "--json", "--db", &database.url()]);
        let document = ran.exits(0).json();
        is_valid("stats-runtimes", &document);
        assert_eq!(document["target"]["preset"], preset);
        let entry = &document["kinds"][0];
        let name = if preset == "pg-boss" { &entry["queue"] } else { &entry["kind"] };
        assert_eq!(
            (name, &entry["jobs"], &entry["unusable"]),
            (&"A".into(), &1.into(), &0.into()),
            "{preset}: {document:#}"
        );
        assert_eq!((&entry["max_seconds"], &entry["would_hit"]), (&100.0.into(), &1.into()), "{preset}");
    }
}

const KEEP_NONE: [(&str, &str, &str); 6] = [
    (
        "graphile-worker",
        include_str!("../../fixtures/schemas/graphile-worker/0.16.sql"),
        "the library deletes jobs that have ended well",
    ),
    (
        "delayed-job",
        include_str!("../../fixtures/schemas/delayed-job/4.2.0.sql"),
        "the library deletes jobs that have ended well",
    ),
    ("solid-queue", include_str!("../../fixtures/schemas/solid-queue/1.5.0.sql"), "which is deleted as the job ends"),
    ("que", include_str!("../../fixtures/schemas/que/7.sql"), "do not say when a run began"),
    ("procrastinate", include_str!("../../fixtures/schemas/procrastinate/3.10.sql"), "not for its end"),
    ("pgqueuer", include_str!("../../fixtures/schemas/pgqueuer/1.6.0.sql"), "leave the table"),
];

/// Never an empty answer that reads as "nothing".
#[test]
fn libraries_that_keep_none_are_named() {
    for (preset, schema, why) in KEEP_NONE {
        let (doctor, database) = (Doctor::new(), fresh());
        database.client().batch_execute(schema).unwrap_or_else(|error| panic!("{preset}: {error:?}"));
        let ran = fails(&doctor, &["stats", "--runtimes", "--older", "1h", "--db", &database.url()], 2);
        let first = ran.stderr.lines().next().unwrap();
        assert!(first.starts_with(&format!("error: --runtimes: preset {preset}: ")) && first.contains(why), "{first}");
        // The counts are told all the same.
        doctor.run(&["stats", "--older", "1h", "--db", &database.url()]).exits(0);
    }
}

fn table_without(place: &Place, column: &str) -> String {
    let time = place.pick("INTEGER", "timestamptz");
    let columns = ["claimed_at", "finished_at", "lease_expires_at"].map(|name| format!("{name} {time}"));
    let kept: Vec<String> = columns.into_iter().filter(|kept| !kept.starts_with(column)).collect();
    place.sql(&format!(
        "DROP TABLE IF EXISTS jobs; CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, owner_id TEXT, {})",
        kept.join(", ")
    ));
    fails(&place.doctor, &["stats", "--runtimes", "--preset", "lease", "--db", &place.url], 2).stderr
}

#[test]
fn a_table_without_the_column_is_named() {
    on_both(|place| {
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
    on_both(|place| {
        let time = place.pick("INTEGER", "timestamptz");
        place.sql(&format!(
            "CREATE TABLE work (id INTEGER PRIMARY KEY, status TEXT, begun {time}, first {time}, ended {time});
            INSERT INTO work VALUES (1, 'ok', {{ago 700}}, {{ago 900}}, {{ago 600}}),
                (2, 'skipped', {{ago 650}}, NULL, {{ago 600}}), (3, 'bad', {{ago 5000}}, NULL, {{ago 600}})"
        ));
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
        let complaint = |finished: &str, code: i32| {
            place.config(&format!("{WORK}{finished}"));
            fails(&place.doctor, &["stats", "--runtimes", "--config", "config.toml"], code)
                .stderr
                .lines()
                .next()
                .unwrap()
                .to_owned()
        };
        assert!(complaint("", 2).contains("preset work does not say where the end of a run is kept"));
        assert!(complaint("finished = { none = \"they go away\" }", 2).ends_with("preset work: they go away"));
        assert!(
            complaint("finished = { at = \"endet\" }", 78).contains("has no column `endet`, did you mean `ended`?")
        );
        assert!(complaint("finished = { at = \"ended\", states = [\"okay\"] }", 78).contains("did you mean `ok`?"));
        assert!(complaint("finished = { at = \"ended\", none = \"x\" }", 78).contains("needs either `at`"));
        assert!(complaint("finished = { started = \"first\" }", 78).contains("needs either `at`"));
        assert!(complaint("finished = { ad = \"ended\" }", 78).contains("did you mean `at`?"));
        assert!(complaint("finished = { at = \"ended\", states = [] }", 78).contains("needs `states` or `where`"));
        assert!(complaint("finished = { at = \"ended\", stated = \"first\" }", 78).contains("did you mean `started`?"));
        assert!(complaint("finished = { at = \"j.begun + 1\" }", 78).contains("must be a column"));
    });
}

//! A mapping that bends a preset, `extends`.

use crate::support::cli::{Doctor, each, fails};
use crate::support::postgres::fresh;
use crate::support::shop::{Shop, on_both};

fn with_config(queue: &Shop, text: &str) {
    std::fs::write(queue.doctor.path("config.toml"), text).unwrap();
}

/// River, whose own claims show nothing but their age, on either engine.
fn on_river(test: impl Fn(&Shop)) {
    let file = Shop::on_sqlite();
    file.doctor.sql(include_str!("../../fixtures/schemas/river/sqlite/v7.sql"));
    let server = Shop::on(fresh());
    server.client().batch_execute(include_str!("../../fixtures/schemas/river/v7.sql")).unwrap();
    for queue in [file, server] {
        let now = queue.pick("datetime('now', 'subsec', '-2 hours')", "now() - interval '2 hours'");
        let json = queue.pick("jsonb", "to_jsonb");
        let by = queue.pick("jsonb('[\"web1\"]')", "'{web1}'");
        for (id, beat) in [(1, 5), (2, 500)] {
            let at = queue.pick("unixepoch()", "extract(epoch FROM now())::bigint");
            let beat = queue
                .pick("jsonb_object('beat', AT - SILENT)", "jsonb_build_object('beat', AT - SILENT)")
                .replace("AT", at)
                .replace("SILENT", &beat.to_string());
            queue.sql(&format!(
                "INSERT INTO river_job (id, state, attempt, max_attempts, created_at, scheduled_at, attempted_at, attempted_by, args, kind, metadata)
                 VALUES ({id}, 'running', 1, 3, {now}, {now}, {now}, {by}, {json}('7'), 'send_mail', {beat})"
            ).replace("to_jsonb('7')", "'7'"));
        }
        test(&queue);
    }
}

const BEATS: &str = r#"
[mapping.mine]
extends = "river"
time = { "{sql.beat}" = "epoch s" }
[mapping.mine.sql.beat]
postgres = "CASE WHEN j.metadata ->> 'beat' ~ '^[0-9]{1,10}$' THEN (j.metadata ->> 'beat')::bigint END"
sqlite   = "{sql.metadata} ->> '$.beat'"
[mapping.mine.claim]
liveness = [
  { by = "heartbeat", column = "{sql.beat}", silent_after = "60s" },
  { by = "age", column = "attempted_at", silent_after = "1h" },
]
[mapping.mine.caution]
beat = "our workers beat into the metadata"
"#;

const MINE: [&str; 4] = ["--config", "config.toml", "--preset", "mine"];

#[test]
fn river_with_a_heartbeat_of_ones_own() {
    on_river(|queue| {
        with_config(queue, BEATS);
        let run = |words: &[&str]| queue.run(&[words, &MINE].concat());
        let plain = queue.run(&["stale", "--json", "--no-config"]).exits(0).json();
        assert_eq!(plain["summary"]["stuck"], 2, "by age both are");
        let listed = run(&["stale", "--json"]).exits(0).json();
        assert_eq!(each(&listed, "jobs", "id"), ["2"]);
        assert_eq!(listed["jobs"][0]["liveness"], "heartbeat");
        // What it overrides is unproven, wherever the preset is named.
        let overrides = "overrides claim.liveness of river, unproven";
        run(&["reclaim"])
            .exits(0)
            .says(&format!("mapping mine {overrides}"))
            .says("unknown, beat): jobdoctor presets show mine");
        run(&["check"]).exits(0).shows("overrides");
        let done = run(&["reclaim", "--apply", "--json"]).exits(0).json();
        assert_eq!(each(&done, "steps", "id"), ["2"]);
        assert_eq!(queue.rows("SELECT id, state FROM river_job ORDER BY id"), ["1 running", "2 available"]);
        run(&["history", done["run_id"].as_str().unwrap()]).exits(0).shows("which overrides claim.liveness of");
        run(&["undo", done["run_id"].as_str().unwrap(), "--apply"]).exits(0).says("reverted 1 job");
    });
}

#[test]
fn what_differs_is_marked() {
    let queue = Shop::on_sqlite();
    with_config(&queue, BEATS);
    let shown = queue.doctor.run(&["presets", "show", "mine", "--config", "config.toml"]).exits(0);
    shown.shows(
        "that of preset river; unproven is what it overrides:\n#                                   claim.liveness\n",
    );
    shown.shows("# caution slow: ").shows("# caution beat:                     our workers beat into the metadata\n");
    let marked: Vec<&str> = shown.stdout.lines().filter(|line| line.contains("<- ")).collect();
    assert_eq!(marked.len(), 1, "{marked:?}");
    assert!(
        marked[0].starts_with("# liveness   = [{ by = \"age\"")
            && marked[0].ends_with("    <- claim.liveness is overridden")
    );
    // It is what a config file may hold, so that it can be started from.
    assert!(jobdoctor::preset::Node::parse("shown", &shown.stdout).is_ok());
}

const BY_AGE: &str = "[mapping.mine]\nextends = \"lease\"\n[mapping.mine.claim]\n\
                      liveness = [{ by = \"age\", silent_after = \"1m\" }]\n";

/// A heartbeat that the mapping no longer judges by still stands for the claim that was judged.
#[test]
fn the_presets_preconditions_stay() {
    on_both(|queue| {
        with_config(queue, BY_AGE);
        queue.in_flight(1, 2, "'web1:1'", 600);
        let plan = queue.doctor.path("plan.json").display().to_string();
        queue.run(&[&["reclaim", "--save-plan", &plan][..], &MINE].concat()).exits(0);
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 0} WHERE id = 1");
        queue.run(&["reclaim", "--plan", &plan, "--config", "config.toml", "--apply"]).exits(3);
        assert_eq!(queue.states(), ["1 RUNNING 0", "2 QUEUED 1"]);
    });
}

/// The lease and the heartbeat of the preset still contradict a death that the mapping concludes by age.
#[test]
fn the_presets_own_signs_of_life_stay() {
    on_both(|queue| {
        with_config(queue, BY_AGE);
        queue.in_flight(1, 3, "'web1:1'", 600);
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 5}, lease_expires_at = NULL WHERE id = 1");
        queue.sql("UPDATE jobs SET lease_expires_at = {ago -300} WHERE id = 2");
        let stale = queue.run(&[&["stale", "--json"][..], &MINE].concat()).exits(0).json();
        assert_eq!((each(&stale, "jobs", "id"), each(&stale, "unknown", "id")), (vec!["3"], vec!["2"]), "{stale:#}");
    });
}

/// So do those of a time that it no longer judges by: a worker has taken the message since.
#[test]
fn the_old_claim_time_is_compared_too() {
    let queue = Shop::on_sqlite();
    queue.doctor.sql(include_str!("../../fixtures/schemas/symfony-messenger/sqlite/5.4.sql"));
    queue.doctor.sql(
        "INSERT INTO messenger_messages VALUES (1, 'b', '{}', 'default', datetime('now', '-5 hours'), datetime('now', '-5 hours'), \
         datetime('now', '-4 hours'))",
    );
    with_config(&queue, "[mapping.mine]\nextends = \"symfony-messenger\"\nclaim.claimed_at = \"available_at\"\n");
    let plan = queue.doctor.path("plan.json").display().to_string();
    queue.run(&[&["reclaim", "--option", "time_zone=utc", "--save-plan", &plan][..], &MINE].concat()).exits(0);
    queue.doctor.sql("UPDATE messenger_messages SET delivered_at = datetime('now')");
    let apply =
        ["reclaim", "--option", "time_zone=utc", "--plan", &plan, "--config", "config.toml", "--apply", "--json"];
    assert_eq!(each(&queue.run(&apply).exits(3).json(), "skipped", "reason"), ["changed"]);
}

/// A session holds the lock of the job, or of its process, and another process beats: a mapping that judges by age alone asks
/// for neither.
#[test]
fn the_presets_evidence_still_shows_life() {
    let queue = Shop::on(fresh());
    let scene = include_str!("../../fixtures/schemas/good-job/scenes/living-claim.sql");
    let (rows, locks) = scene.split_once("-- another session:\n").unwrap();
    queue.client().batch_execute(include_str!("../../fixtures/schemas/good-job/4.19.sql")).unwrap();
    queue.client().batch_execute(&format!("SET timezone = 'UTC'; {rows}")).unwrap();
    let mut other = queue.client();
    other.batch_execute(locks).unwrap();
    with_config(
        &queue,
        "[mapping.mine]\nextends = \"good-job\"\nclaim.liveness = [{ by = \"age\", silent_after = \"1m\" }]\n",
    );
    let plan = || queue.run(&[&["reclaim", "--json"][..], &MINE].concat()).exits(0).json();
    let held = plan();
    assert_eq!((each(&held, "steps", "id").len(), each(&held, "skipped", "reason")), (0, vec!["unknown", "unknown"]));
    let why = held["skipped"][0]["detail"].as_str().unwrap();
    assert!(why.contains("age only") && why.contains(", but "), "{why}");
    drop(other);
    assert_eq!(each(&plan(), "steps", "id").len(), 2);
}

/// What an action writes is part of what was approved.
#[test]
fn a_plan_knows_the_mapping_it_was_made_with() {
    on_both(|queue| {
        with_config(queue, BY_AGE);
        queue.in_flight(1, 1, "'web1:1'", 600);
        let plan = queue.doctor.path("plan.json").display().to_string();
        let made = queue.run(&[&["reclaim", "--save-plan", &plan, "--json"][..], &MINE].concat()).exits(0).json();
        let digest = made["digest"].as_str().unwrap().to_owned();
        // Where it stands in the file says nothing.
        with_config(queue, &format!("# ours\n\n{BY_AGE}"));
        let again = queue.run(&[&["reclaim", "--json"][..], &MINE].concat()).exits(0).json();
        assert_eq!(again["digest"], digest.as_str());
        with_config(
            queue,
            &format!(
                "{BY_AGE}[mapping.mine.action.requeue]\nto = \"QUEUED\"\nset = {{ kind = \"'x'\", stalls = \"coalesce(j.stalls, 0) + 1\" }}\n"
            ),
        );
        queue
            .run(&["reclaim", "--plan", &plan, "--config", "config.toml", "--apply"])
            .exits(78)
            .says("the mapping has changed since");
        queue.run(&[&["reclaim", "--expect", &digest, "--apply"][..], &MINE].concat()).exits(4);
        assert_eq!(queue.states(), ["1 RUNNING 0"]);
    });
}

#[test]
fn a_time_that_it_spells_otherwise_is_unproven_and_heartbeats_may_stand_in_a_table() {
    on_river(|queue| {
        let zone = queue.pick("text YYYY-MM-DD HH:MM:SS[.ffffff] Asia/Tokyo", "native Asia/Tokyo");
        with_config(queue, &format!("[mapping.mine]\nextends = \"river\"\ntime.attempted_at = \"{zone}\"\n"));
        let checked = queue.run(&[&["check", "--json"][..], &MINE].concat());
        assert!(checked.stdout.contains("overrides time.attempted_at of river, unproven"), "{}", checked.whole());
        queue.sql("CREATE TABLE beats (client TEXT PRIMARY KEY, seen BIGINT)");
        let at = queue.pick("unixepoch()", "extract(epoch FROM now())::bigint");
        queue.sql(&format!("INSERT INTO beats VALUES ('web1', {at})"));
        with_config(
            queue,
            "[mapping.mine]\nextends = \"river\"\ntables.beats = \"beats\"\ntime.\"o.seen\" = \"epoch s\"\n\
             [mapping.mine.claim]\nliveness = [{ by = \"owner\", silent_after = \"60s\" }]\n\
             [mapping.mine.owner]\ntable = \"beats\"\nmatch = { client = \"{sql.client}\" }\nheartbeat = \"seen\"\nmissing = \"dead\"\n",
        );
        let stuck = |queue: &Shop| {
            queue.run(&[&["stale", "--json"][..], &MINE].concat()).exits(0).json()["summary"]["stuck"].clone()
        };
        assert_eq!(stuck(queue), 0);
        queue.sql("DELETE FROM beats");
        assert_eq!(stuck(queue), 2);
    });
}

#[test]
fn an_action_of_its_own_replaces_all_steps() {
    on_both(|queue| {
        let action =
            "[mapping.mine.action.requeue]\nto = \"QUEUED\"\nset = { stalls = \"coalesce(j.stalls, 0) + 1\" }\n";
        with_config(queue, &format!("{BY_AGE}{action}"));
        queue.in_flight(1, 1, "'web1:1'", 600);
        queue.run(&[&["reclaim", "--apply"][..], &MINE].concat()).exits(0);
        let retry =
            "[mapping.mine.interrupted]\nprecondition = []\n[mapping.mine.interrupted.retry]\nto = \"QUEUED\"\n";
        with_config(queue, &format!("{BY_AGE}{action}{retry}"));
        queue.sql(
            "INSERT INTO jobs (id, status, error_code, attempts, max_attempts, finished_at, owner_id) \
             VALUES (2, 'FAILED', 'WORKER_LOST', 5, 5, {ago 60}, 'web1:1')",
        );
        queue.run(&[&["reclaim", "--interrupted", "--apply"][..], &MINE].concat()).exits(0);
        assert_eq!(
            queue.rows("SELECT status, owner_id, error_code FROM jobs WHERE id = 2"),
            ["QUEUED web1:1 WORKER_LOST"]
        );
        assert_eq!(
            queue.rows("SELECT status, owner_id, attempts, stalls FROM jobs WHERE id = 1"),
            ["QUEUED web1:1 1 1"]
        );
    });
}

/// Its own fail would come back. The database is asked for rows in flight, and for one of which nothing else is known.
#[test]
fn a_fail_that_counts_as_interrupted_is_refused() {
    let mine = |filter: &str, set: &str| {
        format!(
            "[mapping.mine]\nengines = [\"sqlite\", \"postgres\"]\ntime.default = {{ sqlite = \"epoch s\", postgres = \"native\" }}\n\
             [mapping.mine.states]\nwaiting = [\"QUEUED\"]\nin_flight = [\"RUNNING\"]\nfailed = [\"FAILED\", \"LOST\"]\n\
             [mapping.mine.claim]\ntable = \"jobs\"\nkey = \"id\"\nstate = \"status\"\nclaimed_at = \"claimed_at\"\n\
             liveness = [{{ by = \"age\", column = \"claimed_at\", silent_after = \"5m\" }}]\n\
             [mapping.mine.owner]\nid = \"owner_id\"\n\
             [mapping.mine.action.requeue]\nto = \"QUEUED\"\n[mapping.mine.action.fail]\nto = \"FAILED\"\n{set}\n\
             [mapping.mine.interrupted]\nsince = \"finished_at\"\n{filter}\n\
             [mapping.mine.interrupted.retry]\nto = \"QUEUED\"\n"
        )
    };
    let failed = |filter: &str, set: &str| mine(&format!("states = [\"FAILED\"]\nwhere = \"{filter}\""), set);
    let extends = |code: &str| {
        format!(
            "{BY_AGE}[mapping.mine.action.fail]\nto = \"FAILED\"\nset = {{ error_code = \"{code}\", error_detail = \":reason\" }}\n"
        )
    };
    for (mapping, is_refused) in [
        (extends("'WORKER_LOST'"), true),
        (extends(":fail_code"), false),
        (extends("'WORKER_LOST'").replace(":reason", ":fail_code"), true),
        (extends("'STOPPED'"), false),
        (failed("j.error_code = 'WORKER_LOST'", "set = { error_code = \":fail_code\" }"), false),
        (failed("j.error_code = 'WORKER_LOST'", "set = { error_code = \"'WORKER_LOST'\" }"), true),
        // Nothing that it writes decides.
        (failed("j.error_code = 'WORKER_LOST'", "stamp = [\"finished_at\"]"), true),
        (failed("j.owner_id IS NOT NULL", "stamp = [\"finished_at\"]"), true),
        (failed("j.owner_id IS NOT NULL", "stamp = [\"finished_at\"]\nclear = [\"owner_id\"]"), false),
        (failed("j.error_code IS NULL", "stamp = [\"finished_at\"]"), true),
        (failed("j.error_detail LIKE 'jobdoctor: %'", "set = { error_detail = \":reason\" }"), true),
        (failed("j.error_detail = 'lost'", "set = { error_detail = \":reason\" }"), false),
        (failed("j.error_code <> 'BY_OPERATOR'", "set = { error_code = \":fail_code\" }"), true),
        (mine("states = [\"LOST\"]\nwhere = \"true\"", "stamp = [\"finished_at\"]"), false),
    ] {
        on_both(|queue| {
            with_config(queue, &mapping);
            queue.in_flight(1, 1, "'web1:1'", 600);
            for command in [&["check"][..], &["reclaim", "--to", "fail", "--apply"]] {
                let ran = queue.run(&[command, &MINE].concat()).exits(if is_refused { 78 } else { 0 });
                if is_refused {
                    let said = ran.whole();
                    assert!(said.contains("`interrupted.where` may select") && said.contains("action.fail"), "{said}");
                }
            }
            assert_eq!(queue.rows("SELECT status FROM jobs"), [if is_refused { "RUNNING" } else { "FAILED" }]);
        });
    }
}

#[test]
fn what_it_cannot_bend_is_refused() {
    for (mapping, why) in [
        ("extends = \"rivr\"", "did you mean `river`?"),
        ("extends = \"river\"\nproof = \"live\"", "key `proof`: belongs to preset river itself"),
        (
            "extends = \"river\"\nclaim = { livenes = [] }",
            "key `claim.livenes`: preset river has no such key, did you mean `liveness`?",
        ),
        ("extends = \"river\"\nclaim = { guard = \"true\" }", "key `claim.guard`: says which rows count"),
        (
            "extends = \"river\"\naction = { time_out = { to = \"discarded\" } }",
            "key `action.time_out`: preset river has no such key",
        ),
        ("extends = \"solid-queue\"\nowner = { table = \"x\" }", "key `owner.table`: says which rows count"),
        (
            "extends = \"solid-queue\"\nskip = { finished = { if = \"false\", reason = \"no\" } }",
            "key `skip.finished`: stays as the preset has it",
        ),
        (
            "extends = \"solid-queue\"\nskip = { sqlite = { finished = { if = \"false\", reason = \"no\" } } }",
            "key `skip.finished`: stays as the preset has it",
        ),
        (
            "extends = \"river\"\ninterrupted = { skip = { again = { if = \"false\", reason = \"no\" } } }",
            "key `interrupted.skip.again`: stays as the preset has it",
        ),
        (
            "extends = \"river\"\nsql = { inserted_later = \"false\" }",
            "key `sql.inserted_later`: stays as the preset has it",
        ),
        ("extends = \"river\"\nwhen = { engine = \"postgres\" }", "key `when`: belongs to preset river itself"),
        ("extends = \"river\"\nname = \"river\"", "key `name`: belongs to preset river itself"),
        ("extends = \"river\"\ncaution = { late = \"no\" }", "key `caution.late`: stays as the preset has it"),
        ("extends = \"river\"\ninterrupted = { where = \"true\" }", "key `interrupted.where`: says which rows count"),
        ("extends = \"river\"\ninterrupted = { states = [] }", "key `interrupted.states`: says which rows count"),
        ("extends = \"river\"\nclaim = \"x\"", "key `claim`: is text, and a table in preset river"),
        ("extends = \"river\"\ntables = { jobz = \"x\" }", "key `tables.jobz`: is no table of preset river"),
        (
            "extends = \"river\"\nstates = { in_flight = [\"running\", \"available\"] }",
            "`available` is in flight and waiting at once",
        ),
        (
            "extends = \"river\"\nstates = { failed = [\"dead\"] }",
            "preset river as bent by config file config.toml, mapping mine, key `action.fail.to`: `discarded` is not",
        ),
        ("extends = \"mine\"", "there is no built-in preset `mine`"),
        (
            "extends = \"river\"\naction = { fail = { to = \"discardd\" } }",
            "`discardd` is not one of the [states], did you mean `discarded`?",
        ),
    ] {
        let doctor = Doctor::new();
        doctor.sql(include_str!("../../fixtures/schemas/river/sqlite/v7.sql"));
        std::fs::write(doctor.path("config.toml"), format!("[mapping.mine]\n{mapping}\n")).unwrap();
        fails(&doctor, &[&["stale", "--db", "queue.db"][..], &MINE].concat(), 78).says(why);
    }
}

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
sql  = { beat = { postgres = "(j.metadata ->> 'beat')::bigint", sqlite = "j.metadata ->> '$.beat'" } }
[mapping.mine.claim]
liveness = [{ by = "heartbeat", column = "{sql.beat}", silent_after = "60s" }]
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

//! The shapes of docs/mapping.md and docs/application-rows.md: each lists the stuck job and reclaims it.

use super::block::{text, text_of};
use crate::support::shop::Shop;
use jobdoctor::preset::Preset;
use std::collections::BTreeSet;
use std::fs;

/// A shape with a stuck job, a healthy one and one that waits.
struct Shape {
    /// The titles of its blocks.
    sql: &'static str,
    toml: &'static str,
    mapping: &'static str,
    jobs: &'static str,
    stuck: &'static str,
    rows: &'static str,
    /// The rows once the stuck job is reclaimed.
    after: [&'static str; 3],
}

const HEARTBEAT: Shape = Shape {
    sql: "sql shop",
    toml: "toml written",
    mapping: "orders",
    jobs: "INSERT INTO order_queue (id, task, status, worker, started, pinged) VALUES
        (1, 'pack', 'working', 'w1', unixepoch() - 900, unixepoch() - 600),
        (2, 'pack', 'working', 'w2', unixepoch() - 900, unixepoch()), (3, 'pack', 'new', NULL, NULL, NULL)",
    stuck: "1",
    rows: "SELECT id, status, worker, tries FROM order_queue ORDER BY id",
    after: ["1 new - 1", "2 working w2 0", "3 new - 0"],
};

const AGE: Shape = Shape {
    sql: "sql shape age",
    toml: "toml shape age",
    mapping: "background",
    jobs: r#"INSERT INTO "BackgroundTasks" ("taskId", "taskType", "Status", "startedAt", "workerName") VALUES
        ('00000000-0000-0000-0000-000000000001', 'mail', 'running', now() - interval '1 h', 'ip-1#worker.2'),
        ('00000000-0000-0000-0000-000000000002', 'mail', 'running', now() - interval '5 min', 'ip-1#worker.2'),
        ('00000000-0000-0000-0000-000000000003', 'mail', 'pending', NULL, NULL)"#,
    stuck: "00000000-0000-0000-0000-000000000001",
    rows: r#"SELECT concat_ws(' ', right("taskId"::text, 1), "Status", coalesce("workerName", '-'), retries) FROM "BackgroundTasks"
        ORDER BY "taskId""#,
    after: ["1 pending - 1", "2 running ip-1#worker.2 0", "3 pending - 0"],
};

const NO_STATE: Shape = Shape {
    sql: "sql shape no-state",
    toml: "toml shape no-state",
    mapping: "outbox",
    jobs: "INSERT INTO outbox (id, topic, locked_by, locked_at, finished_at, attempts) VALUES
        (1, 'mail', 'w1', datetime('now', '-2 hours'), NULL, 1), (2, 'mail', 'w1', datetime('now'), NULL, 1),
        (3, 'mail', 'w1', datetime('now', '-2 hours'), datetime('now'), 1)",
    stuck: "1",
    rows: "SELECT id, locked_by, finished_at IS NULL, attempts FROM outbox ORDER BY id",
    after: ["1 - 1 1", "2 w1 1 1", "3 w1 0 1"],
};

const ENUM: Shape = Shape {
    sql: "sql shape enum",
    toml: "toml shape enum",
    mapping: "imports",
    jobs: "INSERT INTO imports (id, state, claimed_by, claimed_at, heartbeat_at) VALUES
        (1, 'running', 'w1', now() AT TIME ZONE 'utc' - interval '1 h', now() AT TIME ZONE 'utc' - interval '10 min'),
        (2, 'running', 'w2', now() AT TIME ZONE 'utc' - interval '1 h', now() AT TIME ZONE 'utc'), (3, 'queued', NULL, NULL, NULL)",
    stuck: "1",
    rows: "SELECT concat_ws(' ', id, state, coalesce(claimed_by, '-'), failures) FROM imports ORDER BY id",
    after: ["1 queued - 1", "2 running w2 0", "3 queued - 0"],
};

const WAITING: Shape = Shape {
    sql: "sql shape waiting",
    toml: "toml shape waiting",
    mapping: "tasks",
    jobs: "INSERT INTO workers VALUES ('w1', 'mail, media', unixepoch() - 5), ('w2', 'reports', unixepoch() - 900);
        INSERT INTO tasks (id, queue, kind, status, run_at, worker, started, parent) VALUES
        (1, 'mail', 'pack', 'working', unixepoch() - 1000, 'w2', unixepoch() - 950, NULL),
        (2, 'mail', 'pack', 'working', unixepoch() - 1000, 'w1', unixepoch() - 20, NULL),
        (3, 'mail', 'pack', 'new', unixepoch() - 30, NULL, NULL, 2)",
    stuck: "1",
    rows: "SELECT id, status, worker, tries FROM tasks ORDER BY id",
    after: ["1 new - 1", "2 working w1 0", "3 new - 0"],
};

const APPLICATION_ROWS: Shape = Shape {
    sql: "sql shape application-rows",
    toml: "toml shape application-rows",
    mapping: "runs",
    jobs: "INSERT INTO export_runs VALUES (7, 'w1', unixepoch() - 900);
        INSERT INTO order_imports VALUES (7, 'w2', unixepoch());
        INSERT INTO jobs (id, kind, status, run_id) VALUES
        (1, 'export', 'running', 7), (2, 'import', 'running', 7), (3, 'export', 'queued', NULL)",
    stuck: "1",
    rows: "SELECT id, status, run_id, tries FROM jobs ORDER BY id",
    after: ["1 queued - 1", "2 running 7 0", "3 queued - 0"],
};

impl Shape {
    fn holds(&self, shop: &Shop) {
        shop.sql(&format!("{};{}", text_of(self.sql), self.jobs));
        let written = text_of(self.toml);
        // What `adopt` writes begins with a target.
        let mapping = written.find("[mapping.").map_or("", |at| &written[at..]);
        let config = format!("[target.t]\ndb = \"{}\"\npreset = \"{}\"\n{mapping}", shop.url, self.mapping);
        fs::write(shop.doctor.path("c.toml"), config).expect("the config file");
        let run = |arguments: &[&str]| shop.doctor.run(&[arguments, &["--config", "c.toml"]].concat()).exits(0);
        let checked = run(&["check", "--json"]).json();
        let findings = checked["findings"].as_array().expect("findings");
        let bad = findings.iter().find(|one| one["severity"] != "ok" && one["id"] != "index");
        assert_eq!((bad, &checked["can_reclaim"]), (None, &true.into()), "{}", self.toml);
        assert_eq!(run(&["stale", "-o", "name"]).stdout, format!("{}\n", self.stuck), "{}", self.toml);
        run(&["reclaim", "--apply"]);
        assert_eq!(shop.rows(self.rows), self.after, "{}", self.toml);
    }
}

/// On Postgres in a session whose zone is not that of the times.
#[test]
fn they_hold() {
    for shape in [HEARTBEAT, NO_STATE, WAITING, APPLICATION_ROWS] {
        shape.holds(&Shop::on_sqlite());
    }
    for shape in [AGE, ENUM] {
        let shop = Shop::on_postgres();
        shop.sql(&format!("ALTER DATABASE {} SET timezone = 'Asia/Tokyo'", shop.server().name()));
        shape.holds(&shop);
    }
}

/// Each table of the format with a key that it has not, and each key of few words with another one: the errors list what
/// there is.
const ASKED: [&str; 37] = [
    "zz = 1",
    "fencing = 'zz'",
    "[claim]\nzz = 1",
    "[claim]\nliveness = [{ by = 'zz' }]",
    "[claim]\nliveness = [{ by = 'lease', zz = 1 }]",
    "[claim]\nliveness = [{ by = 'heartbeat', zz = 1 }]",
    "[claim]\nliveness = [{ by = 'owner', zz = 1 }]",
    "[claim]\nliveness = [{ by = 'age', zz = 1 }]",
    "[claim]\nliveness = [{ by = 'lock', zz = 1 }]",
    "[claim]\nliveness = [{ by = 'lock', free = 'zz' }]",
    "[owner]\nzz = 1",
    "[owner]\nhost_spelling = { zz = 1 }",
    "[owner]\nrows = 'zz'",
    "[owner]\nmissing = 'zz'",
    "[attempts]\nzz = 1",
    "[attempts]\ncounted = 'zz'",
    "[attempts]\nexhausted = 'zz'",
    "[attempts]\nmax_counts = 'zz'",
    "[attempts]\ndirection = 'zz'",
    "[rules]\nzz = 1",
    "[finished]\nzz = 1",
    "[action]\nzz = 1",
    "[action.requeue]\nzz = 1",
    "[action.requeue]\nattempts = 'zz'",
    "[action.requeue]\nstep = [{ zz = 1 }]",
    "[action.requeue]\nstep = [{ rows = 'zz' }]",
    "[action.requeue]\ndelayed = { zz = 1 }",
    "[waiting]\nzz = 1",
    "[waiting]\naction = { zz = 1 }",
    "[waiting.staged]\nzz = 1",
    "[waiting.workers]\nzz = 1",
    "[place.one]\nzz = 1",
    "[skip.one]\nzz = 1",
    "[skip.one]\nactions = 'zz'",
    "[check.one]\nzz = 1",
    "[notify.one]\nzz = 1",
    "states = { zz = 1 }\n[claim]\ntable = 't'\nkey = 'id'\nwhere = 'true'",
];

#[test]
fn every_key_and_every_word_is_on_the_page() {
    let page = text("docs/mapping.md");
    let (_, keys) = page.split_once("\n## Keys\n").expect("the keys");
    let mut missing = BTreeSet::new();
    for asked in ASKED {
        let error = Preset::parse("asked", "asked", asked).expect_err(asked).message;
        let known = error.split_once("known here: ").or_else(|| error.split_once(" is not one of "));
        let known = known.unwrap_or_else(|| panic!("{asked}: {error}")).1.split(", ");
        // `name` and `advice` are about libraries, and the rest of the words are those of presets.
        let of_mappings = known.filter(|key| !["name", "advice"].contains(key));
        missing.extend(of_mappings.filter(|key| !names(keys, key)).map(str::to_owned));
    }
    assert_eq!(missing, BTreeSet::new());
}

fn names(keys: &str, key: &str) -> bool {
    let code = keys.split('`').skip(1).step_by(2);
    code.flat_map(|code| code.split(['.', '"', '='])).any(|part| part.trim() == key)
}

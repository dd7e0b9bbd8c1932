//! The shapes of docs/mapping.md: each is loaded from the page, lists the job that is stuck, and reclaims it.

use super::block::{text, text_of};
use crate::support::cli::Doctor;
use crate::support::postgres::fresh;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A shape with a stuck job, a healthy one and one that waits.
struct Shape {
    name: &'static str,
    mapping: &'static str,
    jobs: &'static str,
    stuck: &'static str,
    rows: &'static str,
    /// The rows once the stuck job is reclaimed.
    after: [&'static str; 3],
}

const HEARTBEAT: Shape = Shape {
    name: "heartbeat",
    mapping: "orders",
    jobs: "INSERT INTO order_queue (id, task, status, worker, started, pinged) VALUES
        (1, 'pack', 'working', 'w1', unixepoch() - 900, unixepoch() - 600),
        (2, 'pack', 'working', 'w2', unixepoch() - 900, unixepoch()), (3, 'pack', 'new', NULL, NULL, NULL)",
    stuck: "1",
    rows: "SELECT id, status, worker, tries FROM order_queue ORDER BY id",
    after: ["1 new - 1", "2 working w2 0", "3 new - 0"],
};

const AGE: Shape = Shape {
    name: "age",
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
    name: "no-state",
    mapping: "outbox",
    jobs: "INSERT INTO outbox (id, topic, locked_by, locked_at, finished_at, attempts) VALUES
        (1, 'mail', 'w1', datetime('now', '-2 hours'), NULL, 1), (2, 'mail', 'w1', datetime('now'), NULL, 1),
        (3, 'mail', 'w1', datetime('now', '-2 hours'), datetime('now'), 1)",
    stuck: "1",
    rows: "SELECT id, locked_by, finished_at IS NULL, attempts FROM outbox ORDER BY id",
    after: ["1 - 1 1", "2 w1 1 1", "3 w1 0 1"],
};

const ENUM: Shape = Shape {
    name: "enum",
    mapping: "imports",
    jobs: "INSERT INTO imports (id, state, claimed_by, claimed_at, heartbeat_at) VALUES
        (1, 'running', 'w1', now() AT TIME ZONE 'utc' - interval '1 h', now() AT TIME ZONE 'utc' - interval '10 min'),
        (2, 'running', 'w2', now() AT TIME ZONE 'utc' - interval '1 h', now() AT TIME ZONE 'utc'), (3, 'queued', NULL, NULL, NULL)",
    stuck: "1",
    rows: "SELECT concat_ws(' ', id, state, coalesce(claimed_by, '-'), failures) FROM imports ORDER BY id",
    after: ["1 queued - 1", "2 running w2 0", "3 queued - 0"],
};

impl Shape {
    /// The page's statements, then the jobs.
    fn sql(&self) -> String {
        format!("{};{}", text_of(&format!("sql shape {}", self.name)), self.jobs)
    }

    /// `rows` reads the table.
    fn holds(&self, doctor: &Doctor, db: &str, rows: &dyn Fn(&str) -> Vec<String>) {
        let mapping = text_of(&format!("toml shape {}", self.name));
        let config = format!("[target.t]\ndb = \"{db}\"\npreset = \"{}\"\n{mapping}", self.mapping);
        fs::write(doctor.path("c.toml"), config).expect("the config file");
        let run = |arguments: &[&str]| doctor.run(&[arguments, &["--config", "c.toml"]].concat()).exits(0);
        let read = run(&["presets", "show", self.mapping]).stdout;
        assert!(read.contains(mapping.trim()), "{read}");
        let checked = run(&["check", "--json"]).json();
        let findings = checked["findings"].as_array().expect("findings");
        let bad = findings.iter().find(|one| one["severity"] != "ok" && one["id"] != "index");
        assert_eq!((bad, &checked["can_reclaim"]), (None, &true.into()), "{}", self.name);
        assert_eq!(run(&["stale", "-o", "name"]).stdout, format!("{}\n", self.stuck), "{}", self.name);
        let applied = run(&["reclaim", "--apply", "--json"]).json();
        assert_eq!(applied["summary"]["outcomes"]["moved"], 1, "{applied}");
        assert_eq!(rows(self.rows), self.after, "{}", self.name);
        assert_eq!(run(&["stale", "-o", "name"]).stdout, "", "{}", self.name);
    }
}

#[test]
fn those_on_sqlite_hold() {
    for shape in [HEARTBEAT, NO_STATE] {
        let doctor = Doctor::new();
        doctor.sql("q.db", &shape.sql());
        shape.holds(&doctor, "q.db", &|sql| doctor.rows("q.db", sql));
    }
}

/// In a session whose zone is not that of the times.
#[test]
fn those_on_postgres_hold() {
    for shape in [AGE, ENUM] {
        let database = fresh();
        database.client().batch_execute(&shape.sql()).expect("the table of the page");
        let zone =
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END $$";
        database.client().batch_execute(zone).expect("another zone");
        let rows = |sql: &str| {
            let rows = database.client().query(sql, &[]).expect("the rows");
            rows.iter().map(|row| row.get(0)).collect()
        };
        shape.holds(&Doctor::new(), &database.url(), &rows);
    }
}

/// All that the reader of a document asks for, but for what only a preset of the program has.
#[test]
fn every_key_and_every_word_is_on_the_page() {
    const OF_PRESETS: [&str; 15] = [
        "format", "title", "home", "engines", "checked", "proof", "live", "detect", "variant", "options", "name",
        "advice", "words", "text", "does",
    ];
    let page = text("docs/mapping.md");
    let (_, keys) = page.split_once("\n## Keys\n").expect("the keys");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/preset/document");
    let mut missing = BTreeSet::new();
    for file in ["mod.rs", "claim.rs", "values.rs", "actions.rs"] {
        let source = fs::read_to_string(folder.join(file)).expect("read the source");
        let asked = ["get(\"", "must(\"", "default(\"", "take(\"", "text(\"", "named(\"", "Fragment>(\""];
        let asked = asked.into_iter().flat_map(|call| source.split(call).skip(1));
        // In `WORDS`: `("at claim", Counted::AtClaim)`.
        let words = source.split("(\"").skip(1).filter(|rest| {
            rest.split_once("\", ")
                .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_uppercase()) && rest.contains("::"))
        });
        let quoted =
            asked.chain(words).filter_map(|rest| rest.split('"').next()).filter(|key| !OF_PRESETS.contains(key));
        missing.extend(quoted.filter(|key| !names(keys, key)).map(str::to_owned));
    }
    assert_eq!(missing, BTreeSet::new());
}

fn names(keys: &str, key: &str) -> bool {
    let code = keys.split('`').skip(1).step_by(2);
    code.flat_map(|code| code.split(['.', '"', '='])).any(|part| part.trim() == key)
}

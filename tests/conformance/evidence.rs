//! Signs of life in rows that Postgres cannot lock: views over a log of heartbeats, joins, sub-selects, and rows that do not exist.
//! They are read again once the jobs are locked.

use crate::support::cli::Doctor;
use crate::support::doctor::{apply, fit, mapping, outcomes, planned, steps, try_resolve};
use crate::support::gate::{Gate, Order};
use crate::support::labs::{Lab, PostgresLab, Route, SqlLab, store_at};
use crate::support::postgres::Cluster;
use jobdoctor::model::{EvidenceRow, Outcome};
use jobdoctor::policy::Policy;
use jobdoctor::preset::{Jobs, Place};
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the heartbeat of a worker is read: what it is, how it is made, and the mapping's words for it.
struct Source {
    name: &'static str,
    view: &'static str,
    claim: &'static str,
    owner: &'static str,
}

const OWNER: &str = "table = 'workers'\nmatch = { name = 'worker' }\nheartbeat = 'beat'\n";
const BY_OWNER: &str = "from = '{q} AS j'\nliveness = [{ by = 'owner', silent_after = '2m' }]";
const LOG: &str = "table = 'beats'\nmatch = { name = 'worker' }\nheartbeat = 'beat'\nrows = 'newest'\n";
const EXPRESSION: &str = "(SELECT max(b.beat) FROM public.beats AS b WHERE b.name = j.worker)";
const BY_EXPRESSION: &str = "from = '{q} AS j'\nliveness = [{ by = 'heartbeat', silent_after = '2m', \
     column = '(SELECT max(b.beat) FROM public.beats AS b WHERE b.name = j.worker)' }]";
const BY_ROW: &str = "liveness = [{ by = 'heartbeat', column = 'l.beat', silent_after = '2m' }]";

fn sources() -> Vec<Source> {
    let view = |name, view| Source { name, view, claim: BY_OWNER, owner: OWNER };
    let column = |name, claim| Source { name, view: "", claim, owner: "" };
    vec![
        view("DISTINCT ON", "SELECT DISTINCT ON (name) name, beat FROM beats ORDER BY name, beat DESC"),
        view("GROUP BY", "SELECT name, max(beat) AS beat FROM beats GROUP BY name"),
        view(
            "a window function",
            "SELECT name, beat FROM (SELECT name, beat, row_number() OVER (PARTITION BY name ORDER BY beat DESC) AS n \
             FROM beats) AS numbered WHERE n = 1",
        ),
        // This one can be locked, and yet a new row comes beside the locked one.
        view(
            "NOT EXISTS",
            "SELECT name, beat FROM beats AS b WHERE NOT EXISTS \
             (SELECT FROM beats AS newer WHERE newer.name = b.name AND newer.beat > b.beat)",
        ),
        column(
            "a sub-select",
            "from = '{q} AS j LEFT JOIN LATERAL (SELECT max(b.beat) AS beat FROM {beats} AS b WHERE b.name = j.worker) AS l ON true'",
        ),
        column("a join", "from = '{q} AS j LEFT JOIN {newest} AS l ON l.name = j.worker'"),
        Source { name: "a log", view: "", claim: BY_OWNER, owner: LOG },
        Source { name: "an expression", view: "", claim: BY_EXPRESSION, owner: "" },
    ]
}

impl Source {
    fn mapping(&self) -> String {
        let (claim, tables) = match self.owner {
            "" if self.claim == BY_EXPRESSION => (self.claim.to_owned(), "beats = 'beats'"),
            "" => (format!("{}\n{BY_ROW}", self.claim), "beats = 'beats'\nnewest = 'newest'"),
            LOG => (self.claim.to_owned(), "beats = 'beats'"),
            _ => (self.claim.to_owned(), "workers = 'workers'"),
        };
        format!(
            "format = 1\nname = 'm'\ntime = {{ default = 'native', '{EXPRESSION}' = 'native' }}\n\
             states = {{ waiting = ['new'], in_flight = ['working'], failed = ['dead'] }}\n\
             attempts = {{ column = 'tries', max = 50, counted = 'at reclaim' }}\n\
             tables = {{ q = 'q', {} }}\n\
             [claim]\nkey = 'j.id'\nstate = 'j.status'\nclaimed_at = 'j.started'\n{claim}\n\
             [owner]\nid = 'j.worker'\n{}\
             [action.requeue]\nto = 'new'\nclear = ['worker', 'started']\n\
             [action.fail]\nto = 'dead'\n",
            tables.replace('\n', ", "),
            self.owner,
        )
    }

    fn set_up(&self) -> PostgresLab {
        let lab = PostgresLab::new();
        lab.run(
            "CREATE TABLE q (id int PRIMARY KEY, status text, worker text, started timestamptz, tries int DEFAULT 0);
            CREATE TABLE beats (name text, beat timestamptz);
            CREATE TABLE newest (name text PRIMARY KEY, beat timestamptz);
            INSERT INTO q SELECT n, 'working', 'w' || n, now() - interval '1 h' FROM generate_series(1, 2) AS n;
            INSERT INTO beats SELECT 'w' || n, now() - interval '30 min' FROM generate_series(1, 2) AS n;
            INSERT INTO newest SELECT * FROM beats;",
        );
        if !self.view.is_empty() {
            lab.run(&format!("CREATE VIEW workers AS {}", self.view));
        }
        lab
    }
}

/// The first worker shows life.
const BEAT: &str = "INSERT INTO beats VALUES ('w1', now()); UPDATE newest SET beat = now() WHERE name = 'w1'";

/// Applies to both jobs while a statement is committed between the verify, which has seen nothing of it, and what comes after.
fn with_a_commit_after_the_verify(lab: &PostgresLab, spec: &Jobs, sql: &'static str) -> Vec<Outcome> {
    let store = lab.store();
    let steps = steps(&*store, spec, &Policy::default());
    let (url, is_done) = (lab.database.url(), AtomicBool::new(false));
    let gate = Gate::before(lab.database.socket(), move |flight| {
        let is_verify = flight.is_answered && flight.statement().contains("FOR NO KEY UPDATE OF");
        if is_verify && !is_done.swap(true, Ordering::SeqCst) {
            crate::readme::statements::postgres(&url)(sql);
        }
        Order::Pass
    });
    outcomes(&apply(&*store_at(&lab.database.url_through(&gate.socket())), spec, &steps))
}

#[test]
fn a_dead_owners_jobs_are_moved_and_those_of_one_who_beats_again_are_not() {
    for source in sources() {
        let lab = source.set_up();
        let (store, spec, steps) = planned(&lab, &mapping(&source.mapping()));
        lab.run(BEAT);
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Changed, Outcome::Moved], "{}", source.name);
    }
}

#[test]
fn evidence_that_cannot_be_locked_is_read_again_once_the_job_is_locked() {
    for source in sources() {
        let fitted = |lab: &PostgresLab| fit(&*lab.store(), &mapping(&source.mapping()));
        let lab = source.set_up();
        let spec = fitted(&lab);
        let ends = with_a_commit_after_the_verify(&lab, &spec, BEAT);
        assert_eq!(ends, [Outcome::Changed, Outcome::Moved], "{}", source.name);
        // A mutant that takes the verify's word for it moves the job of a worker that lives.
        let lab = source.set_up();
        let mutant = Jobs { unlocked: None, ..fitted(&lab) };
        let ends = with_a_commit_after_the_verify(&lab, &mutant, BEAT);
        assert_eq!(ends, [Outcome::Moved; 2], "{}", source.name);
    }
}

#[test]
fn an_owners_row_that_did_not_exist_is_looked_up_again() {
    let text = Source { name: "a table", view: "", claim: BY_OWNER, owner: OWNER }.mapping();
    let text = text
        .replace("heartbeat = 'beat'", "heartbeat = 'beat'\nmissing = 'dead'")
        .replace("workers = 'workers'", "workers = 'newest'");
    let lab = sources()[0].set_up();
    lab.run("DELETE FROM newest");
    let spec = fit(&*lab.store(), &mapping(&text));
    assert_eq!(spec.unlocked, None);
    let steps = steps(&*lab.store(), &spec, &Policy::default());
    assert!(steps.iter().all(|step| *step.evidence_row() == EvidenceRow::Absent));
    let ends = with_a_commit_after_the_verify(&lab, &spec, "INSERT INTO newest VALUES ('w1', now())");
    assert_eq!(ends, [Outcome::Changed, Outcome::Moved]);
}

/// Where the owners' rows are, and how a worker that has none yet writes its own.
const REGISTRATIONS: [(&str, &str, &str); 11] = [
    ("the table", "CREATE TABLE workers (name text PRIMARY KEY, beat timestamptz)", "workers"),
    (
        "a partition",
        "CREATE TABLE workers (name text PRIMARY KEY, beat timestamptz) PARTITION BY LIST (name);
        CREATE TABLE part PARTITION OF workers DEFAULT",
        "part",
    ),
    (
        "a partition of a partition",
        "CREATE TABLE workers (name text PRIMARY KEY, beat timestamptz) PARTITION BY LIST (name);
        CREATE TABLE middle PARTITION OF workers DEFAULT PARTITION BY RANGE (name);
        CREATE TABLE leaf PARTITION OF middle DEFAULT",
        "leaf",
    ),
    (
        "the table above the partition that is named",
        "CREATE TABLE above (name text PRIMARY KEY, beat timestamptz) PARTITION BY LIST (name);
        CREATE TABLE workers PARTITION OF above DEFAULT",
        "above",
    ),
    (
        "the table under a view",
        "CREATE TABLE kept (name text PRIMARY KEY, beat timestamptz); CREATE VIEW workers AS SELECT * FROM kept",
        "kept",
    ),
    (
        "the table under a view of a view",
        "CREATE TABLE kept (name text PRIMARY KEY, beat timestamptz); CREATE VIEW seen AS SELECT * FROM kept;
        CREATE VIEW workers AS SELECT name, beat FROM seen WHERE name <> ''",
        "kept",
    ),
    (
        "a log under a view that cannot be locked",
        "CREATE TABLE kept (name text, beat timestamptz);
        CREATE VIEW workers AS SELECT name, max(beat) AS beat FROM kept GROUP BY name",
        "kept",
    ),
    (
        "a sub-select of a view",
        "CREATE TABLE kept (name text, beat timestamptz); CREATE TABLE named (name text);
        CREATE VIEW workers AS SELECT name, (SELECT max(k.beat) FROM kept AS k WHERE k.name = n.name) AS beat
        FROM (SELECT DISTINCT name FROM kept UNION SELECT name FROM named) AS n",
        "kept",
    ),
    (
        "a partition under a view",
        "CREATE TABLE kept (name text PRIMARY KEY, beat timestamptz) PARTITION BY LIST (name);
        CREATE TABLE part PARTITION OF kept DEFAULT; CREATE VIEW workers AS SELECT * FROM kept",
        "part",
    ),
    (
        "a partition that is attached",
        "CREATE TABLE workers (name text PRIMARY KEY, beat timestamptz) PARTITION BY LIST (name)",
        "CREATE TABLE part (name text PRIMARY KEY, beat timestamptz); INSERT INTO part VALUES ('w1', now());
        ALTER TABLE workers ATTACH PARTITION part FOR VALUES IN ('w1')",
    ),
    (
        "a child that is added",
        "CREATE TABLE workers (name text PRIMARY KEY, beat timestamptz)",
        "CREATE TABLE part (name text PRIMARY KEY, beat timestamptz); INSERT INTO part VALUES ('w1', now()); ALTER TABLE part INHERIT workers",
    ),
];

/// A worker registers at this very moment: nothing shows its row, and its job is left alone.
#[test]
fn a_registration_that_is_not_committed_is_seen() {
    let cluster = Cluster::start(5432, &["max_prepared_transactions=4"], |_| {});
    let text = Source { name: "", view: "", claim: BY_OWNER, owner: OWNER }.mapping();
    let text = text.replace("heartbeat = 'beat'", "heartbeat = 'beat'\nmissing = 'dead'");
    for (name, ddl, into) in REGISTRATIONS {
        let lab = PostgresLab::of(cluster.fresh(), Route::Direct);
        lab.run(&format!(
            "CREATE TABLE q (id int PRIMARY KEY, status text, worker text, started timestamptz, tries int DEFAULT 0);
            CREATE TABLE others (name text); {ddl};
            INSERT INTO q VALUES (1, 'working', 'w1', now() - interval '1 h')"
        ));
        let (store, spec, steps) = planned(&lab, &mapping(&text));
        assert!(steps.iter().all(|step| *step.evidence_row() == EvidenceRow::Absent), "{name}");
        let register =
            if into.contains(' ') { into.to_owned() } else { format!("INSERT INTO {into} VALUES ('w1', now())") };
        let open = lab.hold_sql(&register);
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Locked], "{name}");
        assert!(lab.ask("SELECT bool_and(status = 'working') FROM q"), "{name}");
        open.rollback();
        lab.run(&format!("BEGIN; {register}; PREPARE TRANSACTION 'worker'"));
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Locked], "{name}, prepared");
        lab.run("ROLLBACK PREPARED 'worker'");
        // Writes to any other table are nothing to it.
        let open = lab.hold_sql("INSERT INTO others VALUES ('w1')");
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved], "{name}");
        open.rollback();
    }
}

#[test]
fn the_plan_names_what_cannot_be_locked() {
    for source in sources() {
        let lab = source.set_up();
        let doctor = Doctor::new();
        let text = source.mapping().replace("format = 1\nname = 'm'\n", "").replace("[claim]", "[mapping.m.claim]");
        let text = text.replace("[owner]", "[mapping.m.owner]").replace("[action.", "[mapping.m.action.");
        std::fs::write(doctor.path("config.toml"), format!("[mapping.m]\n{text}")).unwrap();
        let url = lab.database.url();
        let with = ["--config", "config.toml", "--preset", "m", "--db", &url];
        let planned = doctor.run(&[&["reclaim"], &with[..]].concat()).exits(0);
        let what = match (source.owner, source.claim) {
            ("", BY_EXPRESSION) => EXPRESSION,
            ("", _) => "l.beat",
            (LOG, _) => "the newest row of table beats",
            _ => "view workers",
        };
        let said = format!("{what} shows life and cannot be locked");
        assert!(planned.whole().contains(&said), "{}: {planned:#?}", source.name);
        // It is read again, and does not keep the job from being moved.
        let ran = doctor.run(&[&["reclaim", "--apply"], &with[..]].concat()).exits(0);
        assert!(lab.ask("SELECT bool_and(status = 'new' AND tries = 1) FROM q"), "{}: {ran:#?}", source.name);
    }
}

#[test]
fn a_materialized_view_shows_no_life() {
    let owner = &sources()[0];
    let lab = owner.set_up();
    lab.run("DROP VIEW workers; CREATE MATERIALIZED VIEW workers AS SELECT name, max(beat) AS beat FROM beats GROUP BY name");
    refuses(&lab);
    lab.run(
        "ALTER MATERIALIZED VIEW workers RENAME TO kept; CREATE VIEW inner_one AS SELECT * FROM kept; \
         CREATE VIEW workers AS SELECT name, beat FROM inner_one",
    );
    refuses(&lab);
}

fn refuses(lab: &PostgresLab) {
    let owner = &sources()[0];
    let joined = &sources()[5];
    let selected = &sources()[4];
    let in_place_of = |source: &Source, table: &str| source.mapping().replace(&format!("= '{table}'"), "= 'workers'");
    for text in [owner.mapping(), in_place_of(joined, "newest"), in_place_of(selected, "beats")] {
        let refused = try_resolve(&*lab.store(), &mapping(&text), &Place::default()).unwrap_err();
        assert!(refused.message.contains("workers is a materialized view"), "{refused}");
        assert!(refused.at.line.is_some() && !refused.at.key.is_empty(), "{refused}");
    }
}

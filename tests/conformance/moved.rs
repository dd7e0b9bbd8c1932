//! `moved` is said of a row that is no longer in flight and in the state that was announced, and only where its key names it alone.

use super::record::{Tape, restores};
use crate::support::doctor::{Unrecorded, apply, limits, look, mapping, outcomes, planned, try_resolve};
use crate::support::labs::{SqlLab, for_each_sql_store};
use jobdoctor::model::{Action, Batch, BatchReport, Cell, Engine, Key, Outcome, Step};
use jobdoctor::preset::{Conditions, Jobs, Place, What};
use jobdoctor::store::StoreError;

const REFUSED: Outcome = Outcome::Refused;
const MOVED: Outcome = Outcome::Moved;

/// Dead claims by id and worker; no key of the table is unique.
fn set_up(lab: &dyn SqlLab, claims: &[(i64, &str)]) {
    lab.clear();
    let time = lab.pick("integer", "timestamptz");
    lab.run(&format!(
        "CREATE TABLE q (id bigint, status text, worker text, started {time}, tries integer DEFAULT 0, state_id bigint);
        CREATE TABLE names (id bigint PRIMARY KEY, name text); INSERT INTO names VALUES (1, 'working'), (2, 'new');"
    ));
    for (id, worker) in claims {
        let started = lab.ago(9000);
        lab.run(&format!("INSERT INTO q VALUES ({id}, 'working', '{worker}', {started}, 0, 1)"));
    }
}

const MAPPING: &str = r#"
format   = 1
name     = "m"
time     = { default = { sqlite = "epoch s", postgres = "native" } }
states   = { waiting = ["new"], in_flight = ["working"], failed = ["dead"] }
attempts = { column = "tries", max = 50, counted = "at reclaim" }
[claim]
table      = "q"
key        = "id"
state      = "status"
claimed_at = "started"
liveness   = [{ by = "age", column = "started", silent_after = "5m" }]
[owner]
id = "worker"
[action.requeue]
to    = "new"
clear = ["worker", "started"]
"#;

fn judged(lab: &dyn SqlLab, mapping_text: &str) -> (Jobs, Vec<Step>) {
    let (_, spec, steps) = planned(lab, &mapping(mapping_text));
    (spec, steps)
}

/// The same whether the rows are recorded or not: one look serves the check and the record.
fn ends(lab: &dyn SqlLab, spec: &Jobs, steps: &[Step]) -> (Vec<Outcome>, String) {
    let store = lab.store();
    let mut writer = store.writer(&limits()).unwrap();
    writer.roll_back();
    let batch = Batch { action: Action::Requeue, steps, reason: "a test", waits: &[] };
    let recorded: BatchReport<StoreError> = writer.apply(spec, &batch, &mut Tape::default());
    drop(writer);
    let report = apply(&*store, spec, steps);
    assert_eq!(recorded.results, report.results, "{}", lab.name());
    assert!(report.stop.is_none(), "{}: {report:?}", lab.name());
    let said = report.results[0].error.clone().map(|error| error.message).unwrap_or_default();
    (outcomes(&report), said)
}

/// The place alone tells that a job is in flight, and the action does not touch what tells the place.
#[test]
fn a_row_that_the_action_leaves_in_flight_is_refused() {
    let text = MAPPING
        .replace(r#""status""#, r#""'busy'""#)
        .replace("[owner]", "where = \"j.started IS NOT NULL\"\n[waiting]\nis = \"j.started IS NULL\"\n[owner]");
    let text = text.replace(r#"["worker", "started"]"#, r#"["worker"]"#);
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a"), (2, "b")]);
        let (spec, steps) = judged(lab, &text);
        let before = lab.image("q");
        let (ends_sound, said) = ends(lab, &spec, &steps);
        assert_eq!(ends_sound, [REFUSED, REFUSED], "{}", lab.name());
        assert!(said.contains("still in flight after the action"), "{}: {said}", lab.name());
        assert_eq!(lab.image("q"), before, "{}", lab.name());
        // A mutant that does not look again says `moved`.
        let mutant = Jobs { what: What::Waited, conditions: Conditions::default(), ..spec };
        assert_eq!(ends(lab, &mutant, &steps).0, [MOVED, MOVED], "{}", lab.name());
    });
}

#[test]
fn a_state_that_the_action_does_not_write_is_refused() {
    let joined = r#"from = "{q} AS j JOIN {names} AS s ON s.id = j.state_id""#;
    let text = MAPPING.replace(r#"table      = "q""#, joined).replace(r#""status""#, r#""s.name""#);
    let text = text.replace("[owner]", "[tables]\nq = \"q\"\nnames = \"names\"\n[owner]");
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a")]);
        let (spec, steps) = judged(lab, &text);
        let (ends_sound, said) = ends(lab, &spec, &steps);
        assert_eq!(ends_sound, [REFUSED], "{}", lab.name());
        assert!(said.contains("still in flight after the action"), "{}: {said}", lab.name());
        // A state of another table is none of the rows' own.
        assert_eq!(look(&*lab.store()).states_in_use(&spec).unwrap(), [], "{}", lab.name());
        // What the state is says the same by itself.
        let mutant = Jobs { what: What::Waited, ..spec };
        let (ends_mutant, said) = ends(lab, &mutant, &steps);
        assert_eq!(ends_mutant, [REFUSED], "{}", lab.name());
        assert!(said.contains("not in state new after the action"), "{}: {said}", lab.name());
        // One that writes what its state is told by is moved.
        let text = text.replace(r#"["worker", "started"]"#, "[\"worker\", \"started\"]\nset = { state_id = \"2\" }");
        let (spec, steps) = judged(lab, &text);
        assert_eq!(ends(lab, &spec, &steps).0, [MOVED], "{}", lab.name());
    });
}

#[test]
fn a_key_that_names_two_claims_is_refused_for_both() {
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a"), (1, "b"), (2, "c"), (3, "d"), (4, "e")]);
        let ago = lab.ago(9000);
        // A claim of 3 beside a job of 3 that waits.
        lab.run(&format!("INSERT INTO q VALUES (3, 'new', NULL, {ago}, 0, 1)"));
        let (spec, steps) = judged(lab, MAPPING);
        let before = lab.image("q");
        let (all, said) = ends(lab, &spec, &steps);
        assert_eq!(all, [REFUSED, REFUSED, MOVED, REFUSED, MOVED], "{}", lab.name());
        assert!(said.contains("the key is not unique"), "{}: {said}", lab.name());
        let after = lab.image("q");
        assert_ne!(after, before, "{}", lab.name());
        assert!(lab.ask("SELECT count(*) = 3 FROM q WHERE status = 'working' AND worker IS NOT NULL AND tries = 0"));
    });
}

/// Types of keys on SQLite and on Postgres, each with two keys: beyond what a float counts, with the marks that ids are made of, a
/// number whose fraction a float cuts.
const KEYS: [(&str, &str, [&str; 2]); 6] = [
    ("integer", "bigint", ["9007199254740993", "-2"]),
    ("text", "text", ["'{a/b''1 '", "'\"'"]),
    ("text", "uuid", ["'ff800000-7b22-4c2f-8000-000000000001'", "'ff800000-7b22-4c2f-8000-000000000002'"]),
    ("blob", "bytea", ["'\\xff80'", "'\\x7b22'"]),
    ("real", "double precision", ["1000000.1", "2000000.1"]),
    ("", "numeric(40, 2)", ["1", "'2'"]),
];

/// A reader that looked ids up as texts, and a writer that did, would miss some of them.
#[test]
fn a_claim_is_found_and_moved_by_a_key_of_any_type() {
    for_each_sql_store(|lab| {
        let mut missed = 0;
        for (sqlite, postgres, keys) in KEYS {
            lab.clear();
            lab.run(&format!(
                "CREATE TABLE q (id {} PRIMARY KEY, status text, worker text, started {}, tries integer)",
                lab.pick(sqlite, postgres),
                lab.pick("integer", "timestamptz")
            ));
            for key in keys {
                let key = key.replace("'\\x", lab.pick("x'", "'\\x"));
                lab.run(&format!("INSERT INTO q VALUES ({key}, 'working', 'a', {}, 0)", lab.ago(9000)));
            }
            let (spec, steps) = judged(lab, MAPPING);
            let ids: Vec<String> = steps.iter().map(|step| step.key.to_string()).collect();
            let store = lab.store();
            let found = look(&*store).find(&spec, &ids).unwrap_or_else(|error| panic!("{error}"));
            let keys = found.iter().filter(|found| steps.iter().any(|step| step.key == found.claim.key)).count();
            let texts: Vec<Key> = ids.iter().map(|id| Key::from_text(id)).collect();
            missed += 2 - look(&*store).find_keys(&spec, &texts).map_or(0, |found| found.len());
            let place = format!("{}: {postgres}: {ids:?}", lab.name());
            assert_eq!((keys, ends(lab, &spec, &steps).0), (2, vec![MOVED; 2]), "{place}");
            assert!(lab.ask("SELECT count(*) = 2 FROM q WHERE status = 'new' AND tries = 1"), "{place}");
        }
        assert!(missed > 0, "{}", lab.name());
    });
}

/// A requeue whose statement may touch any number of rows.
fn touching_any() -> String {
    let any = "[[action.requeue.step]]\nrows = \"any\"\nsql = \"UPDATE {q} SET status = 'new', worker = NULL, tries = 9 WHERE id IN :ids\"";
    MAPPING.replace(r#"clear = ["worker", "started"]"#, any)
}

#[test]
fn a_row_that_is_not_in_the_announced_state_is_refused() {
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a"), (2, "b")]);
        let (mut spec, steps) = judged(lab, MAPPING);
        // The action still writes `new`.
        spec.actions.get_mut(&Action::Requeue).unwrap().to.stored = Cell::Text("odd".into());
        let (ends, said) = ends(lab, &spec, &steps);
        assert_eq!(ends, [REFUSED, REFUSED], "{}", lab.name());
        assert!(said.contains("not in state new after the action"), "{}: {said}", lab.name());
    });
}

/// What the UPDATE itself returns does not show it. Postgres 13 calls the triggers of a partition the system's own.
#[test]
fn a_row_that_a_trigger_takes_back_is_refused() {
    let on = |table: &str| {
        format!(
            "CREATE FUNCTION takes_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE q SET status = 'working' \
             WHERE NEW.id = 2 AND NEW.status = 'new' AND id = 2; RETURN NULL; END $$; \
             CREATE TRIGGER t AFTER UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION takes_back()"
        )
    };
    let partition =
        "CREATE TABLE whole (LIKE q) PARTITION BY RANGE (id); ALTER TABLE whole ATTACH PARTITION q DEFAULT;";
    for_each_sql_store(|lab| {
        let sqlite = "CREATE TRIGGER t AFTER UPDATE ON q WHEN NEW.id = 2 AND NEW.status = 'new' BEGIN \
            UPDATE q SET status = 'working' WHERE id = 2; END";
        let postgres = [on("q"), format!("{partition} {}", on("whole"))];
        let triggers = if lab.engine() == Engine::Postgres { &postgres[..] } else { &[sqlite.to_owned()] };
        for trigger in triggers {
            set_up(lab, &[(1, "a"), (2, "b")]);
            lab.run(trigger);
            let (spec, steps) = judged(lab, MAPPING);
            assert_eq!(ends(lab, &spec, &steps).0, [MOVED, REFUSED], "{}: {trigger}", lab.name());
        }
    });
}

/// Two spellings that the column's collation takes for one state.
#[test]
fn a_row_in_a_state_that_equals_one_in_flight_is_refused() {
    let text = MAPPING.replace(r#"["new"]"#, r#"["Working"]"#).replace(r#""new""#, r#""Working""#);
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a")]);
        if lab.engine() == Engine::Postgres {
            lab.run(
                "CREATE COLLATION IF NOT EXISTS any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
                 ALTER TABLE q ALTER status TYPE text COLLATE any_case",
            );
            let (spec, steps) = judged(lab, &text);
            let (ends, said) = ends(lab, &spec, &steps);
            assert_eq!(ends, [REFUSED]);
            assert!(said.contains("still in flight after the action"), "{said}");
        }
    });
}

/// The statement may touch any number of rows, so that no count tells that it wrote to a job that waits.
#[test]
fn a_key_that_a_job_beside_the_claim_has_too_is_refused() {
    let text = touching_any();
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a"), (2, "b")]);
        lab.run("INSERT INTO q (id, status, tries) VALUES (1, 'new', 0)");
        let (spec, steps) = judged(lab, &text);
        assert_eq!(ends(lab, &spec, &steps).0, [REFUSED, MOVED], "{}", lab.name());
        assert!(lab.ask("SELECT count(*) = 2 FROM q WHERE id = 1 AND tries = 0"), "{}", lab.name());
    });
}

/// The primary key of a table says nothing of the tables that inherit from it, as those of home-made partitions do.
#[test]
fn a_key_that_an_heir_has_too_is_refused() {
    let text = touching_any();
    for_each_sql_store(|lab| {
        if lab.engine() == Engine::Sqlite {
            return;
        }
        set_up(lab, &[(1, "a"), (2, "b")]);
        lab.run("ALTER TABLE q ADD PRIMARY KEY (id)");
        let (spec, _) = judged(lab, &text);
        assert!(spec.claim.has_unique_key, "no statement looks for shared keys then");
        lab.run("CREATE TABLE heir () INHERITS (q); INSERT INTO heir (id, status, tries) VALUES (1, 'new', 0)");
        let (spec, steps) = judged(lab, &text);
        assert_eq!(ends(lab, &spec, &steps).0, [REFUSED, MOVED]);
    });
}

/// A join that gives the row twice: two steps, one row, and one death is one attempt.
#[test]
fn a_claim_that_is_listed_twice_is_not_moved_twice() {
    let joined = r#"from = "{q} AS j JOIN {names} AS s ON s.id >= j.state_id""#;
    let text = MAPPING.replace(r#"table      = "q""#, joined);
    let text = text.replace("[owner]", "[tables]\nq = \"q\"\nnames = \"names\"\n[owner]");
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a")]);
        let (spec, steps) = judged(lab, &text);
        assert_eq!(ends(lab, &spec, &steps).0, [REFUSED, REFUSED], "{}", lab.name());
        assert!(lab.ask("SELECT tries = 0 FROM q"), "{}", lab.name());
    });
}

/// One job, and two rows of what shows life: an old heartbeat and a fresh one. The old one alone makes a step.
#[test]
fn a_job_that_a_join_repeats_is_refused_though_one_of_its_rows_is_dead() {
    let joined = MAPPING
        .replace(r#"table      = "q""#, r#"from = "{q} AS j LEFT JOIN {beats} AS b ON b.name = j.worker""#)
        .replace(r#"by = "age", column = "started""#, r#"by = "heartbeat", column = "b.beat""#)
        .replace("[owner]", "[tables]\nq = \"q\"\nbeats = \"beats\"\n[owner]");
    let of_owners = MAPPING.replace(r#"by = "age", column = "started""#, r#"by = "owner""#).replace(
        "id = \"worker\"",
        "id = \"worker\"\ntable = \"latest\"\nmatch = { name = \"worker\" }\nheartbeat = \"beat\"",
    );
    for text in [joined, of_owners] {
        for_each_sql_store(|lab| {
            set_up(lab, &[(1, "a"), (2, "b")]);
            let (time, dead, alive) = (lab.pick("integer", "timestamptz"), lab.ago(6000), lab.ago(1));
            lab.run(&format!(
                "CREATE TABLE beats (name text, beat {time}); CREATE VIEW latest AS SELECT * FROM beats;
                 INSERT INTO beats VALUES ('a', {dead}), ('a', {alive}), ('b', {dead})"
            ));
            let (spec, steps) = judged(lab, &text);
            let (mut all, _) = ends(lab, &spec, &steps);
            // The owners' view is read again on Postgres, and may show the living row first.
            all.iter_mut().filter(|end| **end == Outcome::Changed).for_each(|end| *end = REFUSED);
            assert_eq!(all, [REFUSED, MOVED], "{}", lab.name());
            assert!(lab.ask("SELECT tries = 0 FROM q WHERE id = 1"), "{}", lab.name());
            // The mutant takes every join for one that gives a job one row.
            let mut mutant = spec.clone();
            mutant.claim.may_repeat = false;
            if spec.unlocked.is_none() || text.contains("{beats}") {
                assert_eq!(ends(lab, &mutant, &steps[..1]).0, [MOVED], "{}", lab.name());
            }
        });
    }
}

#[test]
fn a_key_that_names_two_rows_by_now_is_not_given_back() {
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a"), (2, "b"), (3, "c")]);
        let (spec, steps) = judged(lab, MAPPING);
        let store = lab.store();
        let mut writer = store.writer(&limits()).unwrap();
        let mut tape = Tape::default();
        let batch = Batch { action: Action::Requeue, steps: &steps, reason: "a test", waits: &[] };
        assert_eq!(outcomes(&writer.apply(&spec, &batch, &mut tape)), [MOVED; 3]);
        // The second row becomes what the first one is, but for what the record says of it.
        lab.run("UPDATE q SET id = 1 WHERE id = 2");
        let mut rows = restores(&tape);
        rows[1] = rows[0].clone();
        let before = lab.image("q");
        let restores = |steps| Batch { action: Action::Requeue, steps, reason: "a test", waits: &[] };
        let refused: BatchReport<StoreError> = writer.apply(&spec, &restores(&rows[..2]), &mut Unrecorded);
        assert_eq!(outcomes(&refused), [REFUSED; 2], "{}: {refused:?}", lab.name());
        assert_eq!(lab.image("q"), before, "{}", lab.name());
        assert_eq!(outcomes(&writer.apply(&spec, &restores(&rows), &mut Unrecorded)), [REFUSED, REFUSED, MOVED]);
    });
}

/// The place alone tells the state, no attempts are counted, and the one column that would be cleared does not exist here.
#[test]
fn an_action_that_writes_nothing_is_refused_where_it_is_read() {
    let text = MAPPING
        .replace(r#""status""#, r#""'busy'""#)
        .replace("[owner]", "where = \"j.started IS NOT NULL\"\noptional = [\"gone\"]\n[owner]");
    let text = text.replace(r#"["worker", "started"]"#, r#"["gone"]"#);
    let text = text.replace(r#"attempts = { column = "tries", max = 50, counted = "at reclaim" }"#, "");
    for_each_sql_store(|lab| {
        set_up(lab, &[]);
        let refused = try_resolve(&*lab.store(), &mapping(&text), &Place::default()).unwrap_err().to_string();
        assert!(refused.contains("line 18, key `action.requeue.to`: the action writes nothing"), "{refused}");
    });
}

/// What sizes the next batch.
#[test]
fn a_batch_tells_what_it_cost() {
    for_each_sql_store(|lab| {
        set_up(lab, &[(1, "a"), (2, "b")]);
        let (spec, steps) = judged(lab, MAPPING);
        let store = lab.store();
        let mut writer = store.writer(&limits()).unwrap();
        let mut cost = |steps: &[Step]| {
            let batch = Batch { action: Action::Requeue, steps, reason: "a test", waits: &[] };
            writer.apply(&spec, &batch, &mut Unrecorded).cost
        };
        // A server says where its log ends from the second batch on.
        let [first, second] = [cost(&steps[..1]), cost(&steps[1..])];
        let is_server = lab.engine() == Engine::Postgres;
        assert_eq!((first.logged > 0, second.logged > 0), (false, is_server), "{}: {second:?}", lab.name());
        assert!(second.busy <= second.took && !second.busy.is_zero(), "{}: {second:?}", lab.name());
    });
}

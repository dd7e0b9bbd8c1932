//! Where losses are counted: in a library's own place, in a column of a mapping, or by somebody else.

use crate::support::cli::{Doctor, fails, is_valid};
use crate::support::doctor::limits;
use crate::support::postgres::fresh;
use jobdoctor::model::Claim;
use jobdoctor::ops::{self, ApplyOptions, Mode, Selection, Session, Snapshot};
use jobdoctor::policy::{Delay, Policy};
use jobdoctor::preset::{Catalog, Place, Preset};
use jobdoctor::store::{Address, Store, Surroundings, open};
use serde_json::Value;

#[test]
fn river_counts_its_rescues() {
    let (doctor, database) = (Doctor::new(), fresh());
    let mut client = database.client();
    client.batch_execute(include_str!("../../fixtures/schemas/river/v7.sql")).unwrap();
    client
        .batch_execute(
            "INSERT INTO river_job (id, state, attempt, max_attempts, attempted_at, attempted_by, args, kind, metadata)
             SELECT n, 'running', 1, 25, now() - interval '2 h', '{web1}', '{}', 'send_mail', m::jsonb
             FROM (VALUES (1, '{}'), (2, '{\"river:rescue_count\": 1}'), (3, '{\"river:rescue_count\": 2}'),
                 (4, '{\"river:rescue_count\": 1e40}'), (5, '{\"river:rescue_count\": \"many\"}')) AS v (n, m)",
        )
        .unwrap();
    let document =
        doctor.run(&["reclaim", "--db", &database.url(), "--max-stalls", "2", "--apply", "--json"]).exits(0).json();
    is_valid("reclaim", &document);
    let rows = client
        .query("SELECT id || ' ' || state || ' ' || coalesce(metadata ->> 'river:rescue_count', '-') FROM river_job ORDER BY id", &[])
        .unwrap();
    let rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let untouched = format!("4 running 1{}", "0".repeat(40));
    assert_eq!(rows, ["1 available 1", "2 available 2", "3 discarded 3", &untouched, "5 available 1"]);
    assert_eq!(document["skipped"][0]["reason"], "stalls_unreadable", "a count that is no count");
}

/// Another rescuer was there between the snapshot and the write: the precondition covers what it counted.
#[test]
fn a_rescue_in_between_changes_the_precondition() {
    let database = fresh();
    let mut client = database.client();
    client.batch_execute(include_str!("../../fixtures/schemas/river/v7.sql")).unwrap();
    client
        .batch_execute(
            "INSERT INTO river_job (id, state, attempt, max_attempts, attempted_at, attempted_by, args, kind)
             VALUES (1, 'running', 1, 25, now() - interval '2 h', '{web1}', '{}', 'send_mail')",
        )
        .unwrap();
    let (store, catalog) = (store(&database.url()), Catalog::built_in().unwrap());
    let mut look = look(&*store, &catalog, "river");
    let policy = Policy { max_stalls: Some(1), ..Policy::default() };
    let plan = ops::plan(&mut look, &Selection::default(), &policy).unwrap();
    let plan = plan.ready(look);
    client.batch_execute("UPDATE river_job SET metadata = '{\"river:rescue_count\": 1}'").unwrap();
    let document = apply(&*store, plan);
    assert_eq!(document["steps"][0]["outcome"], "changed");
}

const MAPPING: &str = "[mapping.home]\ntime = { default = \"epoch s\" }\n\
    states = { waiting = [\"new\"], in_flight = [\"busy\"], failed = [\"dead\"] }\n\
    attempts = { counted = \"not in the table\", stalls = \"lost\" }\n\
    [mapping.home.claim]\ntable = \"home\"\nkey = \"id\"\nstate = \"status\"\n\
    liveness = [{ by = \"age\", column = \"began\", silent_after = \"1m\" }]\n\
    [mapping.home.action.requeue]\nto = \"new\"\nset = { lost = \"coalesce(j.lost, 0) + 1\" }\n\
    [mapping.home.action.fail]\nto = \"dead\"\n";

fn home(mapping: &str) -> Doctor {
    let doctor = Doctor::new();
    std::fs::write(doctor.path("config.toml"), mapping).unwrap();
    doctor.sql(
        "home.db",
        "CREATE TABLE home (id INTEGER PRIMARY KEY, status TEXT, began INTEGER, lost INTEGER);
         INSERT INTO home VALUES (1, 'busy', unixepoch() - 7200, NULL), (2, 'busy', unixepoch() - 7200, 1)",
    );
    doctor
}

const RECLAIM: [&str; 9] =
    ["reclaim", "--db", "home.db", "--config", "config.toml", "--preset", "home", "--max-stalls", "1"];

#[test]
fn a_mapping_names_its_column() {
    let doctor = home(MAPPING);
    doctor.run(&[&RECLAIM[..], &["--apply"]].concat()).exits(0);
    assert_eq!(doctor.rows("home.db", "SELECT id, status, lost FROM home"), ["1 new 1", "2 dead 1"]);
}

/// A counter that nobody counts up would let every job go back for ever.
#[test]
fn a_mapping_whose_requeue_does_not_count() {
    let doctor = home(&MAPPING.replace("set = { lost = \"coalesce(j.lost, 0) + 1\" }\n", ""));
    let said = fails(&doctor, &RECLAIM, 78).stderr;
    assert!(said.contains("add `lost = \"coalesce(j.lost, 0) + 1\"` to `set` of [action.requeue]"), "{said}");
}

#[test]
fn a_mapping_that_names_no_such_column() {
    let said = fails(&home(&MAPPING.replace("stalls = \"lost\"", "stalls = \"losst\"")), &RECLAIM, 78).stderr;
    assert!(said.contains("losst") && said.contains("lost"), "{said}");
}

/// Not requeued, because of its budget; and not failed, because of the preset: skipped, with both reasons.
#[test]
fn where_nothing_may_fail_it_is_held() {
    let refused = MAPPING.replace(
        "[mapping.home.action.fail]\nto = \"dead\"\n",
        "[mapping.home.action.fail]\nrefused = \"only a person may\"\n",
    );
    let missing = MAPPING.replace("[mapping.home.action.fail]\nto = \"dead\"\n", "");
    for (mapping, reason, why) in
        [(refused, "action_refused", "only a person may"), (missing, "action_not_offered", "preset home has no fail")]
    {
        let document = home(&mapping).run(&[&RECLAIM[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(document["skipped"][0]["id"], "2");
        assert_eq!(document["skipped"][0]["reason"], reason);
        assert_eq!(document["skipped"][0]["detail"], format!("lost once already, 1 allowed; and {why}"));
        assert_eq!(document["summary"]["planned"], 1, "the other one goes back");
    }
}

fn store(address: &str) -> Box<dyn Store> {
    open(&Address::parse(address, &Surroundings::default()).unwrap())
}

fn look(store: &dyn Store, catalog: &Catalog, preset: &str) -> Snapshot {
    let (place, limits) = (Place::default(), limits());
    Session { store, catalog, preset: Some(preset), place: &place, limits: &limits, target: None }.snapshot().unwrap()
}

fn apply(store: &dyn Store, plan: ops::ReadyPlan) -> Value {
    let order = ApplyOptions {
        fast: false,
        sweep_lock: None,
        record: Default::default(),
        schema: "jobdoctor.reclaim/v1",
        mode: Mode::Apply,
        guard: Default::default(),
        run_id: "RUN".to_owned(),
        later: Delay::default(),
    };
    let done = ops::reclaim(store, &limits(), plan, &order).unwrap();
    serde_json::to_value(&done.document).unwrap()
}

/// Where no column counts, whoever keeps a record may: then the budget is that record's.
#[test]
fn somebody_else_counts() {
    let text = MAPPING.replace(", stalls = \"lost\"", "").replace("[mapping.home]", "").replace("mapping.home.", "");
    let doctor = home(MAPPING);
    let mut catalog = Catalog::default();
    catalog.add(Preset::parse("the test's", "home", &text).unwrap()).unwrap();
    let store = store(&doctor.path("home.db").display().to_string());
    let policy = Policy { max_stalls: Some(2), ..Policy::default() };
    let mut alone = look(&*store, &catalog, "home");
    let refused = ops::plan(&mut alone, &Selection::default(), &policy).err().map(|error| error.to_string());
    assert!(refused.is_some_and(|said| said.contains("nothing counts how often")));
    let counted = |claim: &Claim| if claim.key.to_string() == "2" { 2 } else { 0 };
    let mut counting = alone.counting_stalls(Box::new(counted));
    let plan = ops::plan(&mut counting, &Selection::default(), &policy).unwrap();
    let named = Selection { ids: vec!["2".to_owned()], ..Selection::default() };
    let plan_of_one = ops::plan(&mut counting, &named, &policy).unwrap();
    let shown = serde_json::to_value(ops::show(&mut counting, &["2".to_owned()], &policy, None).unwrap()).unwrap();
    assert_eq!((&shown["jobs"][0]["stalls"], &shown["jobs"][0]["would"]["action"]), (&2.into(), &"fail".into()));
    let plan = plan.ready(counting);
    assert_eq!(plan_of_one.len(), 1);
    let document = apply(&*store, plan);
    assert_eq!(doctor.rows("home.db", "SELECT id, status FROM home"), ["1 new", "2 dead"], "{document:#}");
}

/// What the row counts itself is not counted again.
#[test]
fn a_column_comes_before_everybody_else() {
    let doctor = home(MAPPING);
    let mut catalog = Catalog::default();
    let text = MAPPING.replace("[mapping.home]", "").replace("mapping.home.", "");
    catalog.add(Preset::parse("the test's", "home", &text).unwrap()).unwrap();
    let store = store(&doctor.path("home.db").display().to_string());
    let mut look = look(&*store, &catalog, "home").counting_stalls(Box::new(|_: &Claim| 99));
    let shown =
        serde_json::to_value(ops::show(&mut look, &["1".to_owned()], &Policy::default(), None).unwrap()).unwrap();
    assert_eq!(shown["jobs"][0]["stalls"], 0);
}

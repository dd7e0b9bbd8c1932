//! Who holds how much: what an aggregate says, and what a scan counts on its way, must be what the claims say one by one.

use crate::support::cli::Doctor;
use crate::support::doctor::{built_in, cutoffs, fit, fitted, look, mapping, scan};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Edit, Value, insert};
use crate::support::labs::{Lab, as_in_memory, for_each_sql_store, for_each_store};
use crate::support::tables::{JOBS, ORDERS, ORDERS_MAPPING, PINGS};
use jobdoctor::model::{Claim, Engine, Owner};
use jobdoctor::policy::Policy;
use jobdoctor::preset::Jobs;
use jobdoctor::store::{Detail, Wanted};
use serde_json::json;
use std::collections::BTreeMap;

type Held = BTreeMap<Option<(String, String, Option<String>)>, u64>;

fn add(held: &mut Held, owner: Option<&Owner>, claims: u64) {
    let owner = owner.cloned();
    *held.entry(owner.map(|owner| (owner.id, owner.name, owner.host))).or_default() += claims;
}

fn held(lab: &dyn Lab, spec: &Jobs) -> Held {
    let store = lab.store();
    let mut held = Held::new();
    look(&*store).count_by_owner(spec, &mut |owner, claims| add(&mut held, owner, claims)).unwrap();
    held
}

/// The holders are the owners of exactly these claims, which are all there are.
#[track_caller]
pub fn must_be_those_of(lab: &dyn Lab, spec: &Jobs, claims: &[Claim]) {
    let mut one_by_one = Held::new();
    claims.iter().for_each(|claim| add(&mut one_by_one, claim.owner.as_ref(), 1));
    assert_eq!(held(lab, spec), one_by_one, "{}", lab.name());
    let store = lab.store();
    let mut reader = look(&*store);
    let suspects = cutoffs(&*reader, &Policy::default());
    for (wanted, detail) in [(suspects, Detail::ForAction), (Wanted::All, Detail::ForListing)] {
        let (mut counted, holders) = (Held::new(), reader.scan(spec, &wanted, detail, &mut |_| {}).unwrap());
        holders.owners().unwrap().for_each(|(owner, claims)| add(&mut counted, owner, claims));
        assert_eq!((counted, holders.claims()), (one_by_one.clone(), claims.len() as u64), "{}", lab.name());
    }
}

/// Owners whose spelling a collation, a blank or a NULL might run together.
const OWNERS: [Value; 9] = [
    Text("web1:7"),
    Text("web1:7"),
    Text("WEB1:7"),
    Text("web1:77"),
    Text("web10:7"),
    Text("web1:7 "),
    Text("wéb1:7"),
    Text(""),
    Null,
];

fn jobs() -> Vec<Edit> {
    let states = ["RUNNING", "CLAIMED", "QUEUED", "SUCCEEDED"];
    let rows = OWNERS.iter().cycle().take(OWNERS.len() * states.len()).enumerate();
    rows.map(|(n, owner)| {
        let state = Text(states[n % states.len()]);
        insert("jobs", &[("id", Int(n as i64)), ("status", state), ("owner_id", *owner), ("heartbeat_at", Ago(9))])
    })
    .collect()
}

#[test]
fn each_owner_is_told_from_every_other() {
    as_in_memory(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&jobs());
        let (store, spec) = fitted(lab, &built_in("lease"));
        must_be_those_of(lab, &spec, &scan(&*store, &spec, &Wanted::All));
        held(lab, &spec)
    });
}

#[test]
fn owners_in_a_table_of_their_own() {
    as_in_memory(|lab| {
        lab.create(&[ORDERS, PINGS]);
        lab.edit(&[insert("worker_pings", &[("name", Text("alive")), ("seen_at", Ago(1))])]);
        for (n, worker) in [Text("alive"), Text("alive"), Text("ghost"), Null].into_iter().enumerate() {
            let cells = [("id", Int(n as i64)), ("status", Text("working")), ("worker", worker)];
            lab.edit(&[insert("order_queue", &cells)]);
        }
        let (store, spec) = fitted(lab, &mapping(ORDERS_MAPPING));
        must_be_those_of(lab, &spec, &scan(&*store, &spec, &Wanted::All));
        held(lab, &spec)
    });
}

const FOLDED: &str = r#"
states = { waiting = ["QUEUED"], in_flight = ["RUNNING"] }
time   = { default = { sqlite = "epoch s", postgres = "native" } }
[claim]
table = "jobs"
key = "id"
state = "status"
liveness = [{ by = "heartbeat", column = "heartbeat_at", silent_after = "1m" }]
[owner]
id = "owner_id"
[action.requeue]
to = "QUEUED"
"#;

/// Where the column's own collation takes two spellings for one, two owners stay two.
#[test]
fn owners_are_told_apart_byte_by_byte() {
    for_each_sql_store(|lab| {
        let folds = lab.engine() == Engine::Sqlite
            || lab.ask("SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_collation WHERE collprovider = 'i')");
        if folds && lab.engine() == Engine::Postgres {
            lab.run("CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        }
        let collation = if folds { lab.pick("COLLATE NOCASE", "COLLATE folded") } else { "" };
        lab.run(&format!(
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, owner_id TEXT {collation}, heartbeat_at {});
            INSERT INTO jobs VALUES (1, 'RUNNING', 'web1:7', NULL), (2, 'RUNNING', 'WEB1:7', NULL)",
            lab.pick("INTEGER", "timestamptz")
        ));
        let spec = fit(&*lab.store(), &mapping(FOLDED));
        assert_eq!(held(lab, &spec).len(), 2, "{}", lab.name());
    });
}

/// Where the table names no owners, whatever is in flight is held by nobody who is known; and nothing by nobody at all.
#[test]
fn a_queue_without_owners() {
    let (claim, rest) = ORDERS_MAPPING.split_once("[owner]").unwrap();
    let (_, actions) = rest.split_once("[action]").unwrap();
    let claim = claim.replace(r#"{ by = "owner", silent_after = "2m" }, "#, "");
    let nameless = format!("{claim}[action]{actions}").replace(r#""worker", "#, "");
    for_each_store(|lab| {
        lab.create(&[ORDERS, PINGS]);
        let spec = fit(&*lab.store(), &mapping(&nameless));
        assert!(spec.owner.id.is_none());
        assert_eq!(held(lab, &spec), Held::new(), "{}", lab.name());
        for n in 0..3 {
            lab.edit(&[insert("order_queue", &[("id", Int(n)), ("status", Text("working")), ("worker", Text("a"))])]);
        }
        assert_eq!(held(lab, &spec), Held::from([(None, 3)]), "{}", lab.name());
    });
}

/// Of an owner that holds a healthy job too nobody may say that it vanished, however many other owners there are. The mutant is a
/// scan that forgets who held what once there are too many owners to keep apart.
#[test]
fn of_more_owners_than_are_kept_apart_the_database_is_asked() {
    for others in [10, 10_001] {
        let doctor = Doctor::new();
        doctor.run(&["init", "--db", "queue.db"]).exits(0);
        doctor.sql(&format!(
            "INSERT INTO jobs (id, kind, status, owner_id, claimed_at, heartbeat_at, lease_expires_at)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {others} + 6)
             SELECT i, 'k', 'RUNNING', iif(i <= 6, 'web1:' || (i % 2), 'app:' || i), unixepoch() - 9000,
                    unixepoch() - iif(i <= 5, 8000, 0), unixepoch() + iif(i <= 5, -7000, 9000) FROM n"
        ));
        let said = doctor.on_queue(&["stale", "--json"]).exits(0).json();
        assert_eq!(said["summary"]["in_flight"], others + 6);
        let told: Vec<_> =
            said["diagnoses"].as_array().unwrap().iter().map(|one| (&one["diagnosis"], &one["owner"])).collect();
        assert_eq!(told, [(&json!("vanished"), &json!("web1:1")), (&json!("hangs"), &json!("web1:0"))], "{others}");
    }
}

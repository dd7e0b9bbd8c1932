//! `--save-plan` and `--plan`: only those rows, and of them only the unchanged.

use crate::support::cli::{Ran, is_valid};
use crate::support::shop::{Shop, on_both};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn queue(shop: &Shop) {
    shop.in_flight(1, 3, "'web1:1'", 4000);
    shop.in_flight(7, 7, "'web2:1'", 1);
}

fn save(shop: &Shop) -> Value {
    shop.run(&["reclaim", "--save-plan", "plan.json"]).exits(0);
    let plan = serde_json::from_slice(&fs::read(shop.doctor.path("plan.json")).unwrap()).unwrap();
    is_valid("plan", &plan);
    plan
}

fn apply(shop: &Shop) -> Ran {
    shop.run(&["reclaim", "--plan", "plan.json", "--apply"])
}

#[test]
fn a_saved_plan_is_carried_out() {
    on_both(|shop| {
        queue(shop);
        let plan = save(shop);
        assert_eq!(plan["steps"].as_array().unwrap().len(), 3);
        let mode = fs::metadata(shop.doctor.path("plan.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // One more is dead by now, which the plan does not know of.
        shop.in_flight(9, 9, "'web1:1'", 4000);
        apply(shop).exits(0);
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1", "7 RUNNING 0", "9 RUNNING 0"]);
    });
}

#[test]
fn what_has_changed_since_is_left_alone() {
    let changes = [
        ("UPDATE jobs SET lease_token = 'another' WHERE id = 2", "2 RUNNING 0"),
        ("UPDATE jobs SET heartbeat_at = {ago 1}, lease_expires_at = {ago -60} WHERE id = 2", "2 RUNNING 0"),
        ("UPDATE jobs SET heartbeat_at = {ago 3999} WHERE id = 2", "2 RUNNING 0"),
        ("UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 2", "2 SUCCEEDED 0"),
        ("UPDATE jobs SET attempts = 3 WHERE id = 2", "2 RUNNING 3"),
    ];
    for (change, left) in changes {
        on_both(|shop| {
            queue(shop);
            save(shop);
            shop.sql(change);
            apply(shop).exits(3).shows("Skipped");
            assert_eq!(shop.states(), ["1 QUEUED 1", left, "3 QUEUED 1", "7 RUNNING 0"], "{change}");
        });
    }
    on_both(|shop| {
        queue(shop);
        save(shop);
        shop.sql("DELETE FROM jobs WHERE id = 2");
        apply(shop).exits(3);
        assert_eq!(shop.states(), ["1 QUEUED 1", "3 QUEUED 1", "7 RUNNING 0"]);
    });
}

/// `--plan` brings its selection along, `--older` and `--to` included.
#[test]
fn the_policy_comes_with_the_plan() {
    on_both(|shop| {
        queue(shop);
        shop.run(&["reclaim", "--older", "1h", "--to", "fail", "--limit", "2", "--save-plan", "plan.json"]).exits(0);
        apply(shop).exits(0);
        assert_eq!(shop.states(), ["1 FAILED 1", "2 FAILED 1", "3 RUNNING 0", "7 RUNNING 0"]);
        for more in [["--older", "1s"], ["--to", "fail"], ["--id", "1"], ["--limit", "1"], ["--queue", "x"]] {
            shop.run(&[&["reclaim", "--plan", "plan.json"], &more[..]].concat()).exits(2);
        }
    });
}

/// Somebody has written a living job into it, and made the digest fit.
#[test]
fn an_altered_plan_gets_no_living_job() {
    on_both(|shop| {
        queue(shop);
        // While it looked dead, so that its precondition is known.
        let all = shop.run(&["sweep", "--restart", "--host", "web2", "--json"]).exits(0).json();
        assert_eq!(all["steps"][0]["id"], "7");
        shop.run(&["reclaim", "--older", "1h", "--save-plan", "plan.json"]).exits(0);
        let mut plan: Value = serde_json::from_slice(&fs::read(shop.doctor.path("plan.json")).unwrap()).unwrap();
        let mut step = plan["steps"][0].clone();
        step["id"] = json!("7");
        step["key"] = json!([if step["key"][0].is_number() { json!(7) } else { json!("7") }]);
        plan["steps"].as_array_mut().unwrap().push(step);
        fs::write(shop.doctor.path("plan.json"), plan.to_string()).unwrap();
        apply(shop).exits(78).says("altered or damaged");
        plan["digest"] = json!(digest(plan["steps"].as_array().unwrap()));
        fs::write(shop.doctor.path("plan.json"), plan.to_string()).unwrap();
        let ran = shop.run(&["reclaim", "--plan", "plan.json", "--apply", "--json"]).exits(3);
        assert_eq!(ran.json()["skipped"][0]["reason"], "healthy");
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1", "7 RUNNING 0"]);
    });
}

/// The digest of a plan, as its document says it is made.
fn digest(steps: &[Value]) -> String {
    let mut digest = jobdoctor::policy::Digest::default();
    for step in steps {
        digest.add(jobdoctor::policy::Digest::print(&serde_json::from_value(step.clone()).unwrap()));
    }
    digest.hex("")
}

#[test]
fn files_that_are_no_plan_for_this_queue() {
    let shop = Shop::empty_on_sqlite();
    queue(&shop);
    let plan = save(&shop);
    let before = shop.jobs();
    let refuses = |text: String, code: i32, why: &str| {
        fs::write(shop.doctor.path("plan.json"), text).unwrap();
        let ran = apply(&shop).exits(code);
        assert!(ran.stderr.contains(why) && ran.stdout.is_empty(), "{why} is not in {ran:#?}");
        assert_eq!(shop.jobs(), before, "{why}");
    };
    let altered = |path: &str, value: Value| {
        let mut altered = plan.clone();
        *altered.pointer_mut(path).unwrap() = value;
        altered.to_string()
    };
    refuses(String::new(), 78, "is not a plan");
    refuses("[1]".to_owned(), 78, "is not a plan");
    let whole = plan.to_string();
    refuses(whole[..whole.len() / 2].to_owned(), 78, "is not a plan");
    refuses(altered("/schema", json!("jobdoctor.stale/v1")), 78, "its schema is");
    refuses(altered("/target/engine", json!("postgres")), 78, "another engine");
    refuses(altered("/target/preset", json!("river")), 78, "preset river");
    refuses(altered("/target/identity", json!("/elsewhere.db")), 78, "another database");
    refuses(altered("/target/table", json!("main.other")), 78, "another table");
    refuses(altered("/policy/older_seconds", json!(-1.0)), 78, "not a threshold");
    refuses(altered("/policy/older_seconds", json!(1e300)), 78, "not a threshold");
    refuses(altered("/policy/rules", json!(["nonsense"])), 78, "there is no rule `nonsense`");
    refuses(altered("/policy/to", json!("delete")), 78, "unknown variant `delete`");
    refuses(altered("/steps/0/action", json!("delete")), 78, "unknown variant `delete`");
    refuses(altered("/steps/0/action", json!("fail")), 78, "altered or damaged");
    refuses(altered("/steps/1/id", json!("1")), 78, "its key is that of job");
    refuses(altered("/steps/1/key", json!({ "id": 1 })), 78, "is not a plan");
    refuses(altered("/steps/1", plan["steps"][0].clone()), 78, "in it twice");
    fs::remove_file(shop.doctor.path("plan.json")).unwrap();
    apply(&shop).exits(66);
    shop.run(&["reclaim", "--plan", ".", "--apply"]).exits(78);
    shop.run(&["reclaim", "--plan", "/dev/zero", "--apply"]).exits(78);
}

#[test]
fn nothing_but_another_plan_is_replaced() {
    let shop = Shop::empty_on_sqlite();
    queue(&shop);
    save(&shop);
    save(&shop);
    fs::write(shop.doctor.path("notes.txt"), "mine").unwrap();
    shop.run(&["reclaim", "--save-plan", "notes.txt"]).exits(2);
    assert_eq!(fs::read_to_string(shop.doctor.path("notes.txt")).unwrap(), "mine");
    std::os::unix::fs::symlink("notes.txt", shop.doctor.path("link.json")).unwrap();
    shop.run(&["reclaim", "--save-plan", "link.json"]).exits(2);
    shop.run(&["reclaim", "--save-plan", "queue.db"]).exits(2);
    shop.run(&["reclaim", "--save-plan", "none/plan.json"]).exits(78);
    shop.run(&["reclaim", "--save-plan", "plan.json", "--apply"]).exits(2);
    assert_eq!(shop.doctor.files(), ["link.json", "notes.txt", "plan.json", "queue.db"]);
}

/// `--older` on the command line counts for every claim, whatever the config file says of its queue; and so it does later.
#[test]
fn a_flag_overrules_the_thresholds_of_the_config_file_later_too() {
    on_both(|shop| {
        queue(shop);
        let config =
            format!("[target.shop]\ndb = {:?}\n[[target.shop.threshold]]\nqueue = \"*\"\nolder = \"5h\"\n", shop.url);
        fs::write(shop.doctor.path("config.toml"), config).unwrap();
        let run = |arguments: &[&str]| shop.doctor.run(&[arguments, &["--config", "config.toml"]].concat());
        run(&["reclaim", "--older", "10m", "--save-plan", "plan.json"]).exits(0);
        run(&["reclaim", "--plan", "plan.json", "--apply"]).exits(0);
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1", "7 RUNNING 0"]);
    });
}

//! Entries of `too_long` and `rules` that say too little, or what this queue does not know: an error that says where, before
//! anything is written.

use super::waiting::{limits, swept};
use crate::support::cli::fails;
use crate::support::shop::Shop;

#[test]
fn what_cannot_be_read() {
    let shop = Shop::empty_on_sqlite();
    for (entry, complaint) in [
        ("after = \"5m\"\naction = \"fail\"", "needs `state`"),
        ("state = \"RUNNING\"\naction = \"fail\"", "needs `after`"),
        ("state = \"RUNNING\"\nafter = \"5m\"", "needs `action`"),
        ("state = \"RUNNING\"\nafter = \"5m\"\naction = \"retry\"", "too_long[1].action"),
        ("state = \"RUNNING\"\nafter = \"5M\"\naction = \"fail\"", "5m"),
        ("state = \"RUNNING\"\nafter = \"5m\"\nto = \"fail\"", "there is no such key"),
    ] {
        limits(&shop, &format!("[[target.shop.too_long]]\n{entry}\n"));
        let arguments = swept(&["--db", "queue.db"]);
        let said = fails(&shop.doctor, &arguments, 78).stderr;
        assert!(said.contains(complaint), "{entry}: {said}");
        assert!(said.contains("line "), "{entry}: {said}");
    }
}

#[test]
fn what_the_queue_does_not_know() {
    let shop = Shop::empty_on_sqlite();
    for (entry, complaint) in [
        ("state = \"RUNING\"\nafter = \"5m\"\naction = \"fail\"", "`RUNNING`?"),
        ("state = \"SUCCEEDED\"\nafter = \"5m\"\naction = \"fail\"", "known here: CLAIMED, RUNNING, QUEUED"),
        ("state = \"RUNNING\"\nsince = \"run_at\"\nafter = \"5m\"\naction = \"fail\"", "leave `since` out"),
        ("state = \"RUNNING\"\nafter = \"5m\"\naction = \"wake\"", "cannot be woken"),
        ("state = \"QUEUED\"\nafter = \"5m\"\naction = \"fail\"", "name the column in `since`"),
        ("state = \"QUEUED\"\nsince = \"runat\"\nafter = \"5m\"\naction = \"fail\"", "run_at"),
        ("state = \"QUEUED\"\nsince = \"run_at\"\nafter = \"5m\"\naction = \"wake\"", "no worker can be woken"),
        ("state = \"QUEUED\"\nsince = \"run_at\"\nafter = \"5m\"\naction = \"cancel\"", "[waiting.action.cancel]"),
        // The requeue of the reference schema leaves `deadline_at` as it is: it would go on for ever.
        ("state = \"QUEUED\"\nsince = \"deadline_at\"\nafter = \"5m\"\naction = \"requeue\"", "with every sweep"),
    ] {
        limits(&shop, &format!("[[target.shop.too_long]]\n{entry}\n"));
        for command in [
            swept(&["--db", "queue.db", "--apply"]),
            vec!["check", "--config", "config.toml", "--target", "shop", "--db", "queue.db"],
        ] {
            let said = fails(&shop.doctor, &command, 78).stderr;
            assert!(said.contains(complaint), "{command:?} with {entry}: {said}");
            assert!(said.contains("line "), "{command:?} with {entry}: {said}");
        }
    }
}

#[test]
fn rules_with_an_action_of_their_own() {
    let shop = Shop::empty_on_sqlite();
    for (rules, complaint) in [
        ("rules = [{ name = \"deadline_passed\" }]", "`action` is missing"),
        ("rules = [{ name = \"deadline_passed\", action = \"wake\" }]", "rules[1].action"),
        ("rules = [\"too_long\"]", "rules"),
        ("rules = [\"lease_expired\"]", "rules"),
    ] {
        limits(&shop, &format!("{rules}\n"));
        let said = fails(&shop.doctor, &swept(&["--db", "queue.db"]), 78).stderr;
        assert!(said.contains(complaint) && said.contains("line 2"), "{rules}: {said}");
    }
    shop.in_flight(1, 1, "'web1:1'", 5);
    shop.sql("UPDATE jobs SET deadline_at = {ago 60}");
    for (rules, action) in [
        ("rules = [\"deadline_passed\"]", "fail"),
        ("rules = [{ name = \"deadline_passed\", action = \"time_out\" }]", "time_out"),
        ("rules = [{ name = \"deadline_passed\", action = \"requeue\" }]", "requeue"),
    ] {
        limits(&shop, &format!("{rules}\n"));
        let document = shop.run(&swept(&["--json"])).exits(0).json();
        assert_eq!(document["steps"][0]["action"], action, "{rules}");
    }
}

/// A queue whose jobs wait elsewhere has no such state.
#[test]
fn where_a_place_is_the_state() {
    let shop = Shop::on_postgres();
    shop.sql(
        "CREATE TABLE delayed_jobs (id bigserial PRIMARY KEY, priority int NOT NULL DEFAULT 0, attempts int NOT NULL DEFAULT 0,
         handler text NOT NULL, last_error text, run_at timestamp, locked_at timestamp, failed_at timestamp, locked_by text,
         queue text, created_at timestamp, updated_at timestamp)",
    );
    limits(
        &shop,
        "[[target.shop.too_long]]\nstate = \"waiting\"\nsince = \"run_at\"\nafter = \"5m\"\naction = \"wake\"\n",
    );
    let said = fails(&shop.doctor, &swept(&["--db", &shop.url, "--preset", "delayed-job"]), 78).stderr;
    assert!(said.contains("known here: locked"), "{said}");
}

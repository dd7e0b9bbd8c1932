//! Tables that are not there, that are empty, that are views, and tables that are no queue.

use super::draft::Draft;
use crate::support::shop::{Shop, on_both};

fn asked(draft: &Draft) -> Vec<String> {
    draft.asked().into_iter().collect()
}

fn time(shop: &Shop) -> &'static str {
    if shop.is_postgres() { "timestamptz" } else { "integer" }
}

fn print_queue(shop: &Shop) {
    let time = time(shop);
    shop.sql(&format!(
        "CREATE TABLE print_queue (id integer PRIMARY KEY, status text NOT NULL, worker text, started {time}, tries integer NOT NULL DEFAULT 0)"
    ));
}

#[test]
fn a_table_that_is_not_there_is_named_with_its_nearest() {
    on_both(|shop| {
        print_queue(shop);
        let ran = shop.run(&["adopt", "print_quue"]).exits(66);
        assert_eq!(ran.stdout, "");
        ran.says("print_quue").says("print_queue");
        let machine = shop.run(&["adopt", "print_quue", "-o", "json"]).exits(66);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&machine.stderr).unwrap()["schema"], "jobdoctor.error/v1");
    });
}

/// Without rows nothing is shown: everything that rows would tell is asked.
#[test]
fn an_empty_table_asks_for_what_rows_would_tell() {
    on_both(|shop| {
        print_queue(shop);
        let draft = Draft::of(shop, "print_queue", &[], &[]);
        assert_eq!(draft.ran.code, 78, "{:#?}", draft.ran);
        let asked = draft.asked();
        for key in ["states.in_flight", "states.waiting", "claim.liveness", "attempts.counted"] {
            assert!(asked.contains(key), "{key} in {asked:?}: {:#?}", draft.ran);
        }
        let shown = asked.iter().find(|key| draft.value(key).is_some());
        assert_eq!(shown, None, "{}", draft.ran.stdout);
    });
}

/// What a worker writes is behind a view, in a lock's own table, or in the table that a partition is of.
#[test]
fn what_keeps_no_claim_itself_is_refused_with_the_way_out() {
    on_both(|shop| {
        print_queue(shop);
        shop.sql(
            "CREATE VIEW open_prints AS SELECT * FROM print_queue WHERE status <> 'done';
             CREATE TABLE reports (id integer PRIMARY KEY, state text NOT NULL, title text);
             CREATE TABLE report_locks (report_id integer PRIMARY KEY REFERENCES reports (id), locked_at text)",
        );
        let mut refused = vec![("open_prints", "is a view"), ("reports", "report_locks")];
        if shop.is_postgres() {
            shop.sql(
                "CREATE TABLE parts (id integer, day date, worker text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
                 CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
            );
            refused.push(("parts_1", "is a partition of public.parts"));
        }
        for (table, why) in refused {
            let ran = shop.run(&["adopt", table]).exits(78);
            ran.says(why).says("docs/mapping.md");
        }
    });
}

/// Without a table, those that look like a queue are listed, in every schema, with the next command.
#[test]
fn tables_that_look_like_a_queue_are_listed() {
    on_both(|shop| {
        print_queue(shop);
        shop.sql("DROP TABLE IF EXISTS jobs; CREATE TABLE customers (id integer PRIMARY KEY, name text, status text)");
        let mut wanted = vec!["print_queue"];
        if shop.is_postgres() {
            shop.sql("CREATE SCHEMA ops; CREATE TABLE ops.report_run (id integer PRIMARY KEY, status text, runner text, begun timestamptz, tries integer)");
            wanted = vec!["ops.report_run", "public.print_queue"];
        }
        let listed = shop.run(&["adopt", "-o", "json"]).exits(0).json();
        let tables: Vec<_> =
            listed["tables"].as_array().unwrap().iter().map(|table| table["table"].as_str().unwrap()).collect();
        assert_eq!(tables, wanted);
        let said = shop.run(&["adopt"]).exits(0).stdout;
        assert!(said.contains(&format!("jobdoctor adopt {} --db ", wanted[0])), "{said}");
    });
}

/// Orders that other tables refer to, and subscriptions that have a status: neither is worked on by anybody.
#[test]
fn a_table_that_is_no_queue_is_called_so() {
    on_both(|shop| {
        let time = time(shop);
        shop.sql(&format!(
            "CREATE TABLE orders (id integer PRIMARY KEY, customer text NOT NULL, status text NOT NULL, total_cents integer NOT NULL, ordered_at {time});
             CREATE TABLE order_lines (order_id integer NOT NULL REFERENCES orders (id), sku text NOT NULL, quantity integer NOT NULL);
             CREATE TABLE refunds (id integer PRIMARY KEY, order_id integer NOT NULL REFERENCES orders (id), cents integer);
             INSERT INTO orders VALUES (1, 'a', 'open', 100, {{ago 900}}), (2, 'b', 'shipped', 200, {{ago 800}}), (3, 'c', 'processing', 9, {{ago 70}});
             INSERT INTO order_lines VALUES (1, 'x', 1), (2, 'y', 2);
             CREATE TABLE subscriptions (account text PRIMARY KEY, plan text NOT NULL, status text NOT NULL, renews_on {time});
             INSERT INTO subscriptions VALUES ('a', 'pro', 'active', {{ago -9000}}), ('b', 'free', 'cancelled', NULL), ('c', 'pro', 'pending', {{ago -99}})"
        ));
        for table in ["orders", "subscriptions"] {
            shop.run(&["adopt", table]).exits(78).says("looks like no queue").says("docs/mapping.md");
        }
    });
}

/// A lease ends an unknown while ahead: six hours from now in Chicago read as now in UTC, and then every living worker's lease has ended.
#[test]
fn the_zone_of_a_lease_is_asked_even_if_it_ends_near_now_on_postgres() {
    let shop = Shop::on_postgres();
    shop.sql(
        "CREATE TABLE night_shift (id integer PRIMARY KEY, status text NOT NULL, worker text, leased_until timestamp);
         INSERT INTO night_shift SELECT n, 'running', 'w' || n % 2, (now() AT TIME ZONE 'UTC') + n * interval '20 s' FROM generate_series(1, 6) AS n;
         INSERT INTO night_shift SELECT n, 'queued' FROM generate_series(7, 12) AS n",
    );
    let draft = Draft::of(&shop, "night_shift", &["claim.liveness=lease leased_until".to_owned()], &[]);
    assert_eq!(asked(&draft), ["states.in_flight", "time.leased_until"], "{:#?}", draft.ran);
    assert_eq!(draft.value("time"), None, "{}", draft.ran.stdout);
}

/// Jobs that are held back wait as well, but no worker takes them: a job of a dead worker goes where it came from.
#[test]
fn a_job_never_goes_to_a_state_in_which_jobs_are_held_back() {
    on_both(|shop| {
        print_queue(shop);
        shop.sql(
            "INSERT INTO print_queue (id, status, worker, started) VALUES (1, 'running', 'w1', {ago 9000}), (2, 'running', 'w2', {ago 3});
             INSERT INTO print_queue (id, status) VALUES (3, 'on_hold'), (4, 'on_hold'), (5, 'on_hold'), (6, 'queued'), (7, 'on_hold')",
        );
        let answers = ["states.in_flight=running".to_owned(), "claim.liveness=age started 30m".to_owned()];
        let draft = Draft::of(shop, "print_queue", &answers, &[]);
        assert!(draft.asked().contains("states.waiting"), "{:#?}", draft.ran);
        assert_eq!(draft.value("action"), None, "{}", draft.ran.stdout);
        let answers = [
            &answers[..],
            &["states.waiting=queued", "states.ignored=on_hold", "attempts.max=none"].map(str::to_owned),
        ]
        .concat();
        let draft = Draft::of(shop, "print_queue", &answers, &[]);
        assert_eq!(draft.value("action.requeue.to"), Some("queued".to_owned()), "{}", draft.ran.stdout);
    });
}

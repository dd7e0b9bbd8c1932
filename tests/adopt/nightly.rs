//! A table of two million rows is drafted from samples, in seconds.

use super::draft::Draft;
use crate::support::shop::on_both;
use std::time::{Duration, Instant};

#[test]
fn a_large_table_takes_seconds() {
    on_both(|shop| {
        let numbers = shop.numbers(1, 2_000_000);
        shop.sql(&format!(
            "CREATE TABLE big (id integer PRIMARY KEY, status text NOT NULL, worker text, started {{time}}, payload text NOT NULL);
             INSERT INTO big SELECT n, 'done', 'w' || n % 50, {{ago 90000}}, '{{\"number\": ' || n || '}}' FROM {numbers};
             INSERT INTO big SELECT 3000000 + n, 'waiting', NULL, NULL, '{{}}' FROM {numbers} WHERE n <= 100;
             INSERT INTO big VALUES (4000001, 'running', 'w1', {{ago 9000}}, '{{}}'), (4000002, 'running', 'w2', {{ago 2}}, '{{}}')"
        ));
        let answers = [
            "states.in_flight=running",
            "states.waiting=waiting",
            "states.done=done",
            "claim.liveness=age started 30m",
        ];
        // Without statistics and without an index; then with both.
        for prepare in ["", "CREATE INDEX big_status ON big (status); ANALYZE big"] {
            shop.sql(prepare);
            let begun = Instant::now();
            let draft = Draft::of(shop, "big", &answers.map(str::to_owned), &[]);
            let took = begun.elapsed();
            assert_eq!(draft.ran.code, 0, "{:#?}", draft.ran);
            assert!(took < Duration::from_secs(15), "{took:?}");
            assert_eq!(draft.saved(shop).stuck().into_iter().collect::<Vec<_>>(), ["4000001"]);
        }
    });
}

//! What goes with it, and how long it may be.

use crate::support::shop::Shop;

#[test]
fn it_needs_an_apply_and_a_time_that_makes_sense() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 1, "'web1:1'", 6000);
    for arguments in [
        &["--verify", "2m"][..],
        &["--apply", "--verify", "0s"],
        &["--apply", "--verify", "25h"],
        &["--apply", "--verify", "5M"],
        &["--apply", "--verify", "-1s"],
    ] {
        for command in ["reclaim", "sweep"] {
            let ran = shop.run(&[&[command], arguments].concat()).exits(2);
            assert!(
                ran.stdout.is_empty() && ran.stderr.contains("--verify") || ran.stderr.contains("--apply"),
                "{ran:#?}"
            );
        }
    }
    assert_eq!(shop.states(), ["1 RUNNING 0"], "nothing was written");
}

/// It goes on where the time for applying is over; and a plan that was refused has nothing to watch.
#[test]
fn the_time_limit_is_another_matter() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 2, "'web1:1'", 6000);
    let refused = ["reclaim", "--apply", "--verify", "10m", "--max-jobs", "1", "--json"];
    assert!(shop.run(&refused).exits(4).json()["verified"].is_null());
    let short = ["reclaim", "--apply", "--verify", "2s", "--timeout", "1s", "-o", "jsonl"];
    let ran = shop.run(&short).exits(0);
    let head: serde_json::Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(head["verified"]["waiting"], 2);
    assert!(head["verified"]["waited_seconds"].as_f64().unwrap() >= 2.0, "{head}");
}

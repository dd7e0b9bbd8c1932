//! `--warning` and `--critical`, through the program.

use super::line::said;
use crate::support::shop::{Shop, on_both};

fn state(shop: &Shop, more: &[&str]) -> String {
    said(shop.run(&[&["health"], more].concat())).state
}

#[test]
fn of_silence_and_share() {
    on_both(|shop| {
        shop.in_flight(1, 1, "'web1:1'", 900);
        shop.in_flight(2, 4, "'web2:1'", 1);
        for (more, expected) in [
            (&["-w", "silence=10m"][..], "WARNING"),
            (&["-w", "silence=600"], "WARNING"),
            (&["-w", "silence=1h"], "OK"),
            (&["-w", "silence=@10m:1h"], "WARNING"),
            (&["-w", "stuck=5", "-c", "silence=10m"], "CRITICAL"),
            (&["-w", "share=24.9"], "WARNING"),
            (&["-w", "share=25%"], "OK"),
            (&["-w", "stuck=5,silence=1h", "-w", "share=20"], "WARNING"),
            (&["--warning=stuck=5,silence=1h,share=50"], "OK"),
            (&["-w", "stuck=5,share=20", "-w", "share=50"], "OK"),
            (&["-c", "share=20,stuck=5"], "CRITICAL"),
            (&["-c", "5"], "WARNING"),
            (&["-w", "silence=5m:1h 30m, stuck=5"], "OK"),
            (&["-w", "unknown=3"], "WARNING"),
        ] {
            assert_eq!(state(shop, more), expected, "{more:?}");
        }
        let said = said(shop.run(&["health", "-w", "stuck=5,silence=20m", "-c", "silence=@1h:2h,share=~:50"]));
        let ranges = |label: &str| (said.data[label].warning.as_str(), said.data[label].critical.as_str());
        assert_eq!(ranges("stuck"), ("5", ""));
        assert_eq!(ranges("silence"), ("1200", "@3600:7200"));
        assert_eq!(ranges("share"), ("", "~:50"));
        assert_eq!(ranges("unknown"), ("0", ""), "it stays with other ranges");
    });
}

#[test]
fn ranges_that_make_no_sense() {
    let shop = Shop::empty_on_sqlite();
    for range in
        ["-w=", "-c=20:10", "-w=silence=5M", "-c=5,", "-w=1e3", "-w=inf", "-w=NaN", "-w=stuck=5m", "-w=share=5%%"]
    {
        let said = said(shop.run(&["health", range]));
        assert!(said.state == "UNKNOWN" && said.text.starts_with("invalid value") && said.data.is_empty(), "{said:?}");
    }
    for (text, why) in [
        ("age=5", "`age` is not measured: stuck, silence, share, unknown, due, oldest_due are"),
        ("stuck=x", "'stuck=x' for '--warning <RANGES>': stuck: `x` is not a number"),
        ("stuck=5,silence=5M", "'stuck=5,silence=5M' for '--warning <RANGES>': silence: 5 minutes is 5m"),
        ("unknown=7:", ""),
    ] {
        let said = said(shop.run(&["health", "-w", text]));
        assert!(said.text.contains(why), "{said:?}");
    }
    // An address is none, whatever it is called.
    for text in ["stuck=postgres://app:c4n4ry@h/d", "pasword=c4n4ry", "postgres://app:c4n4ry@h/d?stuck=5"] {
        let found = said(shop.run(&["health", "-w", text]));
        assert!(found.state == "UNKNOWN" && !format!("{found:?}").contains("'stuck=postgres"), "{found:?}");
    }
}

/// What is broken is said where only the first line is read.
#[test]
fn the_first_line_says_which_range_it_is() {
    on_both(|shop| {
        shop.in_flight(1, 3, "'web1:1'", 7200);
        shop.in_flight(4, 4, "'web2:1'", 1);
        for (more, why) in [
            (&[][..], ": stuck 3 above 0"),
            (&["-w", "10:"], ": stuck 3 below 10"),
            (&["-w", "@2:5"], ": stuck 3 within @2:5"),
            (&["-w", "1", "-c", "2"], ": stuck 3 above 2"),
            (&["-w", "0", "-c", "share=50%"], ": share 75% above 50%"),
            (&["-w", "stuck=1,share=80,unknown=1:"], ": stuck 3 above 1, unknown 0 below 1"),
        ] {
            let found = said(shop.run(&[&["health"], more].concat()));
            assert!(found.text.ends_with(why), "{why}: {found:?}");
        }
        let found = said(shop.run(&["health", "-w", "stuck=0", "-c", "silence=1h"]));
        assert!(found.text.contains(": silence 2h") && found.text.ends_with(" above 1h"), "{found:?}");
        assert!(said(shop.run(&["health", "-w", "10"])).text.contains("longest silent 2h"));
        assert!(!said(shop.run(&["health", "-w", "10"])).text.contains(": "), "nothing is");
    });
}

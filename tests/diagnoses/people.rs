//! How it looks.

use super::fleet::{at, diagnoses, incident, put};
use crate::support::cli::fails;
use crate::support::shop::on_both;
use insta::assert_snapshot;

#[test]
fn above_the_table() {
    on_both(|queue| {
        put(queue, &incident());
        let whole = queue.run(&["stale", "--limit", "2"]).exits(0).whole();
        assert_snapshot!("above_the_table", whole.replace(&queue.url, "URL").replace("'URL'", "URL"));
    });
}

#[test]
fn ten_lines_and_how_many_more() {
    on_both(|queue| {
        let of = |host: i64| at("web", "A", &format!("old-{host:02}:1"), 4000 * host + 11_130, 4000 * host + 7830);
        put(queue, &(0..13).flat_map(|host| [of(host), of(host)]).collect::<Vec<_>>());
        let said = diagnoses(queue, &[]);
        assert_eq!(said.lines().count(), 11, "{said}");
        assert_eq!(said.lines().last(), Some("and 3 more"), "{said}");
    });
}

#[test]
fn the_summary_is_one_and_nothing_else() {
    on_both(|queue| {
        put(queue, &incident());
        let whole = queue.run(&["stale", "--summary"]).exits(0).whole();
        assert_snapshot!("summary", whole.replace(&queue.url, "URL").replace("'URL'", "URL"));
        queue.run(&["stale", "--summary", "--exit-code"]).exits(1);
        assert_eq!(queue.run(&["stale", "--summary", "-o", "none"]).exits(0).stdout, "");
        for format in ["csv", "name"] {
            let ran = queue.run(&["stale", "--summary", "-o", format]).exits(2);
            assert!(ran.stdout.is_empty() && ran.stderr.contains("--summary lists no jobs"), "{ran:#?}");
        }
        fails(&queue.doctor, &["stale", "--db", &queue.url, "--summary", "--id", "1"], 2).says("--id");
    });
}

#[test]
fn text_from_the_database_does_nothing_to_a_terminal() {
    let owner = "we\u{1b}[2Jb1\nhost FAKE vanished:1";
    on_both(|queue| {
        put(queue, &[at("mail", "A", owner, 11_130, 7830), at("we\u{202e}b", "A", owner, 11_130, 7830)]);
        let said = queue.run(&["stale"]).exits(0).stdout;
        let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!said.contains(acts), "{said:?}");
        assert!(!said.lines().any(|line| line.starts_with("host FAKE")), "{said}");
        assert!(said.starts_with("host we\\x1b[2Jb1\\nhost FAKE vanished vanished 2h 10m ago"), "{said}");
        // Machines get it exactly.
        let document = queue.run(&["stale", "--json"]).exits(0).json();
        assert_eq!(document["diagnoses"][0]["host"], owner.rsplit_once(':').unwrap().0);
    });
}

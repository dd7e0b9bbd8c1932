//! Who writes rows of the queue: every text is a text, wherever it comes to stand, and what the rows say of life is believed.

use crate::support::cli::is_valid;
use crate::support::shop::on_both;

/// What SQL, a shell, a terminal or a format would read as something else.
const TEXTS: [&str; 12] = [
    "'; DROP TABLE jobs; --",
    "'' OR '1'='1",
    "\\'; UPDATE jobs SET status = 'FAILED'; --",
    "$$; $jobdoctor$; $1 ?1 :now %s {}",
    "\"; DROP TABLE jobs; --",
    "{\"a\":1}",
    "[[1]]",
    "$(touch PWNED) `touch PWNED`",
    "line\nbreak\r\ttab",
    "\u{1b}]0;title\u{7}\u{1b}[2J",
    "\u{202e}right to left",
    "--apply",
];

#[test]
fn a_text_is_a_text() {
    on_both(|shop| {
        shop.sql("CREATE TABLE other (x integer); INSERT INTO other VALUES (1)");
        for (n, text) in TEXTS.iter().enumerate() {
            let spelled = if shop.is_postgres() {
                format!("convert_from('\\x{}', 'UTF8')", hex(text))
            } else {
                format!("CAST(x'{}' AS TEXT)", hex(text))
            };
            shop.sql(&format!(
                "INSERT INTO jobs (id, queue, kind, payload, status, owner_id, lease_token, claimed_at, heartbeat_at,
                     lease_expires_at, error_code, error_detail)
                 SELECT {n} + 1, t, t, t, 'RUNNING', t, t, {{ago 9000}}, {{ago 9000}}, {{ago 8000}}, t, t
                 FROM (SELECT {spelled} AS t) AS texts"
            ));
        }
        shop.in_flight(100, 120, "'web2:' || n", 1);
        let all = TEXTS.len();
        for look in [&["stale"][..], &["owners"], &["stats"], &["show", "1", "3", "12"], &["reclaim"]] {
            let document = shop.run(&[look, &["-o", "json"]].concat()).exits(0).json();
            is_valid(look[0], &document);
        }
        // Even asked for by their names.
        let named = shop.run(&["stale", "--owner", TEXTS[0], "--queue", TEXTS[0], "-o", "name"]).exits(0);
        assert_eq!(named.stdout, "1\n");
        let max = all.to_string();
        let done = shop
            .run(&["reclaim", "--apply", "--max-jobs", &max, "-o", "json", "--reason", TEXTS[0]])
            .exits(0)
            .document("reclaim");
        assert_eq!(done["summary"]["outcomes"]["moved"], all, "{done:#}");
        let id = done["run_id"].as_str().unwrap();
        let undone = shop.run(&["undo", id, "--apply", "-o", "json"]).exits(0).json();
        assert_eq!(undone["summary"]["outcomes"]["moved"], all, "{undone:#}");
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'RUNNING' AND attempts = 0"), ["33"]);
        assert_eq!(shop.rows("SELECT x FROM other"), ["1"]);
        assert!(!shop.doctor.files().iter().any(|name| name == "PWNED"));
    });
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// What the README says that he can do: rows are the only evidence rows there are.
#[test]
fn who_writes_the_signs_of_life_decides_who_lives() {
    on_both(|shop| {
        shop.in_flight(1, 2, "'web1:' || n", 9000);
        shop.in_flight(3, 4, "'web2:' || n", 1);
        shop.sql("UPDATE jobs SET heartbeat_at = {ago 0}, lease_expires_at = {ago -60} WHERE id = 1");
        shop.sql("UPDATE jobs SET heartbeat_at = {ago 9000}, claimed_at = {ago 9000}, lease_expires_at = {ago 8000} WHERE id = 3");
        let stuck = shop.run(&["stale", "-o", "name", "-q"]).exits(0).stdout;
        let mut stuck: Vec<&str> = stuck.lines().collect();
        stuck.sort_unstable();
        assert_eq!(stuck, ["2", "3"]);
    });
}

//! `-v`: the statements of a plan, with the names of their parameters.

use crate::support::cli::Ran;
use crate::support::shop::on_both;

/// The lines below such an action.
fn statements(ran: &Ran, action: &str) -> Vec<String> {
    let (_, after) = ran.stderr.split_once(&format!("each batch of {action} runs:\n")).unwrap();
    let lines = after.lines().map_while(|line| line.strip_prefix("    "));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_statements_that_are_printed_do_what_the_plan_says() {
    on_both(|shop| {
        shop.in_flight(1, 3, "'web1:1'", 4000);
        shop.sql("UPDATE jobs SET attempts = 4 WHERE id = 3");
        let ran = shop.run(&["reclaim", "-v", "-o", "name"]).exits(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.matches("each batch of").count()), ("1\n2\n3\n", 2), "{ran:#?}");
        for (action, ids) in [("requeue", "id < 3"), ("fail", "id = 3")] {
            let printed = statements(&ran, action);
            let [sql] = printed.as_slice() else { panic!("{ran:#?}") };
            let values = [
                (":ids", format!("(SELECT id FROM jobs WHERE {ids})")),
                (":now", "{ago 0}".to_owned()),
                (":run_at", "{ago 0}".to_owned()),
                (":reason", "'by hand'".to_owned()),
                (":fail_code", "'WORKER_LOST'".to_owned()),
            ];
            shop.sql(&values.iter().fold(sql.clone(), |sql, (name, value)| sql.replace(name, value)));
        }
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 FAILED 5"]);
        // An undo restores rows: it has no statements of a preset's.
        shop.in_flight(4, 4, "'web1:1'", 4000);
        shop.run(&["reclaim", "--apply", "-v"]).exits(0).says("each batch of requeue runs:");
        let undo = shop.run(&["undo", "last", "-v"]).exits(0);
        assert!(!undo.stderr.contains("each batch of"), "{undo:#?}");
    });
}

/// A table may have any name.
#[test]
fn no_name_begins_a_line_or_moves_the_cursor() {
    on_both(|shop| {
        shop.in_flight(1, 1, "'web1:1'", 4000);
        let name = "jobs\nwarning: none\u{1b}[2J";
        shop.sql(&format!("ALTER TABLE jobs RENAME TO \"{name}\""));
        let ran = shop.run(&["reclaim", "--preset", "lease", "--table", name, "-v"]).exits(0);
        assert!(statements(&ran, "requeue").concat().contains("warning: none\\x1b[2J\" AS "), "{ran:#?}");
        assert!(!ran.whole().contains('\u{1b}'), "{ran:#?}");
    });
}

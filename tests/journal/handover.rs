//! A run in Markdown: one paste for a ticket or a channel.

use super::queue::on_both;

#[test]
fn it_tells_what_was_done_and_what_was_not() {
    on_both(|queue| {
        queue.sql("DELETE FROM jobs");
        queue.in_flight(1, 30, "'web2:' || n", 840);
        queue.in_flight(31, 31, "'`@all` | <b>' || n", 840);
        queue.sql("UPDATE jobs SET attempts = max_attempts WHERE id = 7");
        let apply =
            ["reclaim", "--apply", "--max-jobs", "99", "--reason", "INC-42: `web2` *lost* power", "--verify", "1s"];
        queue.refuses("of the trigger");
        queue.run(&["reclaim", "-o", "markdown"]).exits(2).says("a plan did nothing");
        queue.run(&["history", "-o", "markdown"]).exits(2).says("tells one run");
        let told = queue.run(&[&apply[..], &["-o", "markdown"]].concat());
        let again = queue.run(&["history", "last", "-o", "markdown"]).exits(0);
        assert_eq!(told.stdout, again.stdout);
        let line = |beginning: &str| {
            let mut lines = told.stdout.lines().filter(|line| line.starts_with(beginning));
            lines.next().unwrap_or_else(|| panic!("no {beginning} in {}", told.stdout))
        };
        assert_eq!(line("**"), "**jobdoctor reclaim**: requeued 29, failed 1; not moved 1");
        assert!(line("- when:").ends_with(", because: `` INC-42: `web2` *lost* power ``"));
        // What the database says stays code, which means nothing to Markdown.
        assert!(
            line("- cause: ``")
                .starts_with("- cause: `` host `@all` | <b>31 vanished: 1 job of kind SendInvoice ``, since ")
        );
        assert!(line("- cause: `h").starts_with("- cause: `host web2 vanished: 30 jobs of kind SendInvoice`, since "));
        assert_eq!(line("- failed:"), "- failed: `7`");
        let refused = queue.pick("SQLITE_CONSTRAINT_TRIGGER", "23514");
        assert_eq!(line("- not moved:"), format!("- not moved: `2` (refused by `{refused}`)"));
        assert_eq!(line("- afterwards:"), "- afterwards: of 29 requeued, after 1s: 29 still waiting");
        let run = line("- run:").split('`').nth(1).unwrap();
        assert!(line("- run:").contains(&format!("reverting it would do: `jobdoctor undo {run} --db ")));
        assert_eq!(queue.json(&["history", run], 0)["run"]["verified"]["waiting"], 29);
    });
}

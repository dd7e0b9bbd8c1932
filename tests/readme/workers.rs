//! The worker's statements for the reference schema: each write is fenced, and a run that ends badly counts.

use super::statements::{Database, Row, filled};
use crate::support::shop::on_both;

/// Runs a statement on job 1 as the wrong owner and with the wrong token, which must touch nothing, then rightly.
fn fenced(run: &mut Database, statement: &str, token: &str) -> Row {
    let mut call = |owner: &str, token: &str| {
        run(&filled(statement, &[("id", "1"), ("owner", owner), ("token", token), ("error", "no")]))
    };
    assert!(call("web1:8", token).is_empty() && call("web1:7", "another").is_empty(), "{statement}");
    let mut rows = call("web1:7", token);
    assert_eq!(rows.len(), 1, "{statement}");
    rows.remove(0)
}

#[test]
fn their_writes_are_fenced_and_attempts_count() {
    on_both(|shop| {
        let [claim, heartbeat, well, badly] = shop.statements();
        let (mut run, now) = (shop.connect(), shop.at(0));
        run("INSERT INTO jobs (queue, priority) VALUES ('mail', 0), ('media', 0)");
        let claim = filled(&claim, &[("owner", "web1:7"), ("queue", "mail")]);
        let token = |rows: Vec<Row>| rows.first().and_then(|row| row[3].clone()).expect("a claim");
        let first = token(run(&claim));
        assert!(run(&claim).is_empty(), "the other job is in another queue");
        assert_eq!(fenced(&mut run, &heartbeat, &first), [None]);
        run(&format!("UPDATE jobs SET cancel_requested_at = {now} WHERE id = 1"));
        assert!(fenced(&mut run, &heartbeat, &first)[0].is_some(), "the heartbeat hears of the request");
        assert_eq!(fenced(&mut run, &badly, &first), [Some("QUEUED".to_owned())]);
        assert!(run(&claim).is_empty(), "it rests for 30 seconds");
        run(&format!("UPDATE jobs SET attempts = 4, run_at = {now} WHERE id = 1"));
        let last = token(run(&claim));
        assert_eq!(fenced(&mut run, &badly, &last), [Some("FAILED".to_owned())]);
        run(&format!("UPDATE jobs SET status = 'QUEUED', attempts = 0, run_at = {now} WHERE id = 1"));
        let again = token(run(&claim));
        fenced(&mut run, &well, &again);
        assert_eq!(shop.states()[0], "1 SUCCEEDED 0");
    });
}

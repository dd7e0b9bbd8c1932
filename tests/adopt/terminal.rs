//! A person at a terminal is asked one question after the other, and told the same in flags.

use crate::support::cli::until;
use crate::support::pty::{On, OnTerminal};
use crate::support::shop::Shop;

#[test]
fn one_question_after_the_other() {
    let shop = Shop::on_sqlite();
    shop.sql(
        "CREATE TABLE print_queue (id integer PRIMARY KEY, status text NOT NULL, worker text, pinged integer);
         INSERT INTO print_queue VALUES (1, 'working', 'w1', {ago 9000}), (2, 'working', 'w2', {ago 3}), (3, 'queued', NULL, NULL), (4, 'queued', NULL, NULL)",
    );
    let terminal = OnTerminal::start(&shop.doctor, &["adopt", "print_queue", "--db", "queue.db"], (200, 60), On::Both);
    // Enter takes what rows support, and leaves open what none does.
    let answers = ["", "", "heartbeat nowhere 2m", "heartbeat pinged 2m"];
    for (n, answer) in answers.into_iter().enumerate() {
        until("the next question", || terminal.written().matches("leaves it open").count() > n);
        terminal.types(answer);
    }
    let (end, written) = terminal.end();
    assert_eq!(end, Ok(0), "{written}");
    // Sample values stand beside the question, and a column that is not there is asked for again.
    for part in
        ["working: 2 rows", "[working], or another answer", "no column `nowhere`", "2 in flight: 1 alive, 1 stuck"]
    {
        assert!(written.contains(part), "{part} in {written}");
    }
    let flags = "--answer states.in_flight=working --answer states.waiting=queued --answer 'claim.liveness=heartbeat pinged 2m'";
    assert!(written.contains(flags), "{written}");
}

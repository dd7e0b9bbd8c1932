//! A role that may read only some of the columns.

use super::draft::Draft;
use crate::support::shop::Shop;

#[test]
fn columns_that_the_role_may_not_read_are_left_out_on_postgres() {
    let shop = Shop::on_postgres();
    let role = format!("adopter_{}", shop.server().name());
    shop.sql(&format!(
        "CREATE TABLE mail_jobs (id integer PRIMARY KEY, status text NOT NULL, worker text, started timestamptz, pulse timestamptz, payload text);
         INSERT INTO mail_jobs VALUES (1, 'done', 'w1', now() - interval '1 h', now() - interval '1 h', 'x'),
             (2, 'running', 'w2', now() - interval '1 h', now() - interval '1 h', 'x'), (3, 'running', 'w1', now(), now(), 'x'), (4, 'waiting', NULL, NULL, NULL, 'x');
         CREATE ROLE {role} LOGIN;
         GRANT SELECT (id, status, worker, started, pulse) ON mail_jobs TO {role}"
    ));
    let address = shop.url.replace("user=doctor", &format!("user={role}"));
    let words = ["adopt", "mail_jobs", "--name", "m", "--db", &address];
    let asking = Draft::told(shop.doctor.run(&words).exits(78));
    assert!(asking.asked().contains("claim.liveness"), "{:#?}", asking.ran);
    let answers = [
        "--answer",
        "states.in_flight=running",
        "--answer",
        "states.waiting=waiting",
        "--answer",
        "claim.liveness=heartbeat pulse 2m",
    ];
    let complete = Draft::told(shop.doctor.run(&[&words[..], &answers].concat()).exits(0));
    assert!(!complete.ran.stdout.contains("payload ="), "{}", complete.ran.stdout);
    assert!(complete.ran.stderr.contains("payload"), "which column stayed closed: {}", complete.ran.stderr);
    shop.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

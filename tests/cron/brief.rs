//! What a mail says: a paragraph of plain lines when something was done, and nothing else.

use crate::cli::scene::incident;
use crate::support::cli::Doctor;
use crate::support::pty::{On, OnTerminal};
use crate::support::shop::on_both;

/// The host's name and the run's, which differ.
fn settled(text: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let run = text.split("This was run ").nth(1).and_then(|rest| rest.split('.').next()).unwrap_or("no run");
    text.replacen(&format!("sweep on {host} of"), "sweep on HOST of", 1).replace(run, "RUN")
}

#[test]
fn what_where_how_many_and_how_to_take_it_back() {
    let ran = incident().run(&["sweep", "--db", "queue.db", "--apply"]).exits(0);
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(settled(&ran.stdout), @r"
sweep on HOST of sqlite queue.db, table main.jobs, preset lease:
moved 5 of 5 stuck jobs: 3 requeue, 1 cancel, 1 fail.
Left alone: 1 owner_alive, 1 unknown.
This was run RUN. More: jobdoctor history RUN --db queue.db
To look at taking it back: jobdoctor undo RUN --db queue.db
");
}

#[test]
fn what_was_left_and_why() {
    on_both(|shop| {
        shop.in_flight(1, 3, "'web1:7'", 600);
        shop.sql(
            "CREATE UNIQUE INDEX one_waiting_twin ON jobs (kind) WHERE status = 'QUEUED' AND kind = 'Twin';
             INSERT INTO jobs (id, queue, kind) VALUES (20, 'mail', 'Twin');
             UPDATE jobs SET kind = 'Twin' WHERE id = 2",
        );
        let ran = shop.run(&["sweep", "--apply"]).exits(3);
        assert_eq!(ran.stderr, "");
        for word in
            ["moved 2 of 3 stuck jobs: 2 requeue.", "Not moved: 1 refused by the database.", "refused by ", ": 2\n"]
        {
            assert!(ran.stdout.contains(word), "{word}: {ran:#?}");
        }
        assert!(!ran.stdout.contains("─") && ran.stdout.lines().count() <= 8, "no table: {ran:#?}");
    });
}

#[test]
fn what_was_refused_is_an_error_in_one_paragraph() {
    on_both(|shop| {
        shop.in_flight(1, 20, "'web' || n || ':7'", 600);
        let ran = shop.run(&["sweep", "--apply"]).exits(4);
        assert_eq!(ran.stdout, "");
        let lines: Vec<&str> = ran.stderr.lines().collect();
        let [why, lift] = lines[..] else { panic!("{ran:#?}") };
        assert!(why.starts_with("error: sweep on ") && why.contains(": refused: the brake: 20 of the 20"), "{why}");
        assert!(why.ends_with("; nothing was written"), "{why}");
        assert!(
            lift.starts_with("hint: if they are dead all the same: jobdoctor sweep ")
                && lift.ends_with("--max-jobs 20")
        );
        // Quiet is about words beside the report, and this is the error.
        let quiet = shop.run(&["sweep", "--apply", "-q"]).exits(4).stderr;
        // How long a server has been up may be another second by now.
        assert!(
            quiet.contains(": refused: the brake: 20 of the 20") && quiet.ends_with(&format!("{lift}\n")),
            "{quiet}"
        );
    });
}

#[test]
fn a_terminal_and_a_format_that_was_asked_for_get_what_they_always_got() {
    let ran = incident().run(&["sweep", "--db", "queue.db", "--apply", "-o", "table"]).exits(0);
    assert!(ran.stdout.starts_with("ID ") && ran.stderr == "recovered 5 orphaned jobs\n", "{ran:#?}");
    let doctor: Doctor = incident();
    let (_, seen) = OnTerminal::start(&doctor, &["sweep", "--db", "queue.db", "--apply"], (100, 40), On::Both).end();
    assert!(seen.contains("OUTCOME") && seen.contains("recovered 5 orphaned jobs"), "{seen}");
}

//! What a mail says: a paragraph of plain lines when something was done, and nothing else.

use crate::cli::scene::incident;
use crate::support::cli::Doctor;
use crate::support::pty::{On, OnTerminal};
use crate::support::shop::{Shop, on_both};

/// The host's name and the run's, which differ.
fn settled(text: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let run = text.split("This was run ").nth(1).and_then(|rest| rest.split('.').next()).unwrap_or("no run");
    text.replacen(&format!("sweep on {host} of"), "sweep on HOST of", 1).replace(run, "RUN")
}

#[test]
fn what_where_how_many_and_how_to_take_it_back() {
    let ran = incident().on_queue(&["sweep", "--apply"]).exits(0);
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(settled(&ran.stdout), @r"
sweep on HOST of sqlite queue.db, table main.jobs, preset lease:
moved 5 of 5 stuck jobs: 3 requeued, 1 failed, 1 cancelled.
Host web2 vanished: requeued 1, failed 1, cancelled 1.
Host media1 vanished: requeued 1.
1 job of kind SendInvoice is in flight without an owner: requeued 1.
1 job was only older than allowed (age only): a slow job looks so too.
Skipped: 1 owner_alive, 1 unknown.
This was run RUN. More: jobdoctor history RUN --db queue.db
To see what reverting it would do: jobdoctor undo RUN --db queue.db
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
        for word in ["moved 2 of 3 stuck jobs: 2 requeued.", "Not moved: 1 refused.", "refused ", ": 2; fail them"] {
            assert!(ran.stdout.contains(word), "{word}: {ran:#?}");
        }
        assert!(!ran.stdout.contains("─") && ran.stdout.lines().count() <= 8, "no table: {ran:#?}");
    });
}

/// What a trigger says, and what jobs are called, is no line of the paragraph, nor of the warnings.
#[test]
fn text_of_the_database_forges_no_line() {
    on_both(|shop| {
        let prepare = || {
            shop.sql("DELETE FROM jobs");
            shop.in_flight(1, 3, "'web1:7'", 600);
        };
        prepare();
        let forged = "no\nmoved 9999 of 9999 stuck jobs";
        shop.refuses(forged);
        for format in [&[][..], &["-o", "table"], &["-o", "none"]] {
            prepare();
            let ran = shop.run(&[&["sweep", "--apply"], format].concat()).exits(3);
            let said = ran.whole();
            assert!(said.contains("refused (no\\nmoved 9999 of 9999 stuck jobs): 2"), "{ran:#?}");
            assert!(!said.lines().any(|line| line.trim_start().starts_with("moved 9999")), "{ran:#?}");
        }
    });
}

/// Neither can it forge a hint.
#[test]
fn an_error_of_the_database_is_one_line() {
    let shop = Shop::empty_on_postgres();
    shop.in_flight(1, 1, "'web1:7'", 600);
    shop.sql(
        "ALTER TABLE jobs RENAME TO real;
         CREATE FUNCTION no() RETURNS boolean LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION USING MESSAGE = E'no\\nhint: run this', HINT = E'x\\nhint: and that'; END $$;
         CREATE VIEW jobs AS SELECT * FROM real WHERE no()",
    );
    let ran = shop.run(&["sweep", "--preset", "lease"]);
    ran.says("no\\nhint: run this");
    assert!(!ran.stderr.lines().any(|line| line.starts_with("hint: run") || line.starts_with("hint: and")), "{ran:#?}");
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
            lift.starts_with("hint: if that is right all the same: jobdoctor sweep ")
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
    let ran = incident().on_queue(&["sweep", "--apply", "-o", "table"]).exits(0);
    assert!(
        ran.stdout.starts_with("ID ") && ran.stderr.ends_with("\nrequeued 3 jobs, failed 1 job, cancelled 1 job\n"),
        "{ran:#?}"
    );
    let doctor: Doctor = incident();
    let (_, seen) = OnTerminal::start(&doctor, &["sweep", "--db", "queue.db", "--apply"], (100, 40), On::Both).end();
    assert!(seen.contains("vanished") && seen.contains("requeued 3 jobs, failed 1 job, cancelled 1 job"), "{seen}");
}

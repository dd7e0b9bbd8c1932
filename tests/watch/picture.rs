//! What a person sees.

use crate::cli::scene::{calm, incident, orphans};
use crate::support::cli::{Doctor, fails};
use crate::support::pty::{On, OnTerminal};
use crate::support::shop::Shop;
use rustix::process::Signal;
use std::fs;

const WATCH: [&str; 5] = ["stale", "--db", "queue.db", "--watch", "1s"];
const SIZE: (u16, u16) = (110, 30);

fn marks(picture: &[String]) -> Vec<(char, String)> {
    let rows = picture.iter().skip_while(|line| !line.trim_start().starts_with("ID ")).skip(1);
    let rows = rows.filter(|line| !line.starts_with("and "));
    rows.map(|row| (row.chars().next().unwrap(), row[1..].split_whitespace().next().unwrap().to_owned())).collect()
}

fn shows(picture: &[String], row: (char, &str)) -> bool {
    marks(picture).iter().any(|(mark, id)| (*mark, id.as_str()) == row)
}

#[test]
fn what_comes_and_what_goes_is_marked_for_one_look() {
    let doctor = incident();
    let terminal = OnTerminal::start(&doctor, &WATCH, SIZE, On::Both);
    let first = terminal.until("there is a picture", |picture| !picture.is_empty());
    assert!(first[0].contains("every 1s: 6 jobs stuck, 1 unknown, of 8 in flight"), "{first:#?}");
    assert!(first[1].starts_with("host web2 vanished"), "{first:#?}");
    // Nothing is new in the first snapshot; what nobody can judge comes last.
    let ids: Vec<String> = marks(&first).into_iter().map(|(mark, id)| format!("{mark}{id}")).collect();
    assert_eq!(ids, [" 5", " 1", " 2", " 3", " 4", " 8", " 7"], "{first:#?}");

    doctor.sql(
        "BEGIN; DELETE FROM jobs WHERE id = 1; UPDATE jobs SET status = 'QUEUED' WHERE id = 2;
        UPDATE jobs SET lease_expires_at = unixepoch() - 60, heartbeat_at = unixepoch() - 4000 WHERE id = 6; COMMIT",
    );
    let second = terminal.until("it is seen", |picture| shows(picture, ('-', "1")));
    assert!(shows(&second, ('-', "2")) && shows(&second, ('+', "6")), "{second:#?}");
    assert!(shows(&second, (' ', "5")), "{second:#?}");
    let third = terminal.until("the marks are gone", |picture| !shows(picture, ('-', "1")));
    assert!(!shows(&third, ('-', "2")) && shows(&third, (' ', "6")), "{third:#?}");
    drop(terminal);
}

/// A job that was claimed anew and is stuck again is another finding.
#[test]
fn the_same_job_claimed_again_is_gone_and_new() {
    let doctor = incident();
    let terminal = OnTerminal::start(&doctor, &WATCH, SIZE, On::Both);
    terminal.until("there is a picture", |picture| shows(picture, (' ', "1")));
    doctor.sql("UPDATE jobs SET owner_id = 'media2:9', claimed_at = claimed_at + 60 WHERE id = 1");
    let picture = terminal.until("it is seen", |picture| shows(picture, ('-', "1")));
    assert!(shows(&picture, ('+', "1")), "{picture:#?}");
}

#[test]
fn a_look_that_fails_never_reads_as_nothing_stuck() {
    let doctor = incident();
    let terminal = OnTerminal::start(&doctor, &WATCH, SIZE, On::Both);
    terminal.until("there is a picture", |picture| shows(picture, (' ', "1")));
    fs::rename(doctor.path("queue.db"), doctor.path("away.db")).unwrap();
    let picture = terminal.until("it cannot look", |picture| picture.iter().any(|line| line.contains("CANNOT READ")));
    assert!(picture[0].starts_with("CANNOT READ: there is no file queue.db"), "{picture:#?}");
    let words = picture[1..3].join(" ");
    assert!(words.contains("retrying every 1s; this snapshot is") && words.contains("6 jobs stuck"), "{picture:#?}");
    assert!(shows(&picture, (' ', "1")), "what is known stays: {picture:#?}");
    // Meanwhile one goes; that shows once there is something to be seen again.
    doctor.sql_in("away.db", "DELETE FROM jobs WHERE id = 1");
    fs::rename(doctor.path("away.db"), doctor.path("queue.db")).unwrap();
    let picture = terminal.until("it looks again", |picture| shows(picture, ('-', "1")));
    assert!(picture[0].contains("5 jobs stuck"), "{picture:#?}");
    assert!(!picture.iter().any(|line| line.contains("CANNOT READ")), "{picture:#?}");
}

#[test]
fn ended_by_a_signal_it_gives_the_cursor_back() {
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
        let doctor = calm();
        let terminal = OnTerminal::start(&doctor, &WATCH, SIZE, On::Both);
        let picture = terminal.until("there is a picture", |picture| !picture.is_empty());
        assert!(picture[0].contains("0 jobs stuck, of 1 in flight"), "{picture:#?}");
        terminal.signal(signal);
        let (end, written) = terminal.end();
        assert_eq!(end, Err(number), "{written:?}");
        assert!(written.starts_with("\x1b[?25l"), "{written:?}");
        assert!(written.ends_with("\x1b[?25h"), "{written:?}");
    }
}

#[test]
fn it_fits_whatever_the_terminal_and_says_how_many_more() {
    for (columns, rows) in [(100, 24), (60, 12), (40, 8), (20, 5), (9, 2)] {
        let doctor = orphans(60);
        let terminal = OnTerminal::start(&doctor, &WATCH, (columns, rows), On::Both);
        let picture = terminal.until("there is a picture", |picture| !picture.is_empty());
        assert!(picture.len() < usize::from(rows), "{columns}x{rows}: {picture:#?}");
        assert!(
            picture.iter().all(|line| line.chars().count() <= usize::from(columns)),
            "{columns}x{rows}: {picture:#?}"
        );
        if rows >= 12 {
            let (shown, last) = (marks(&picture).len(), picture.last().unwrap());
            assert_eq!(*last, format!("and {} more", 60 - shown), "{picture:#?}");
            assert!(shown >= 2, "{picture:#?}");
        }
    }
}

#[test]
fn a_terminal_of_another_size_is_drawn_on_anew() {
    let doctor = orphans(60);
    let watch = ["stale", "--db", "queue.db", "--watch", "1h"];
    let terminal = OnTerminal::start(&doctor, &watch, (100, 24), On::Both);
    terminal.until("there is a picture", |picture| picture.len() == 23);
    terminal.resize((100, 14));
    terminal.until("it is drawn anew", |picture| picture.len() == 13);
}

#[test]
fn no_more_rows_than_asked_for() {
    let doctor = orphans(60);
    let terminal = OnTerminal::start(&doctor, &[&WATCH[..], &["--limit", "4"]].concat(), SIZE, On::Both);
    let picture = terminal.until("there is a picture", |picture| !picture.is_empty());
    assert_eq!(marks(&picture).len(), 4, "{picture:#?}");
    assert_eq!(picture.last().unwrap(), "and 56 more");
    assert!(picture[0].contains("60 jobs stuck"), "{picture:#?}");
}

#[test]
fn what_a_database_says_does_nothing_to_the_picture() {
    let doctor = incident();
    let evil = "\u{1b}[2J\u{1b}[H\u{1b}[J\r\nID FAKE";
    doctor.connect("queue.db").execute("UPDATE jobs SET kind = ?1, owner_id = ?1", [evil]).unwrap();
    let terminal = OnTerminal::start(&doctor, &WATCH, SIZE, On::Both);
    terminal.until("there is a picture", |picture| !picture.is_empty());
    // The program's own sequences are the cursor's, the clearing ones and colours.
    let mut rest = terminal.written();
    assert_eq!(rest.matches("\x1b[2J").count(), 1, "{rest:?}");
    for own in ["\x1b[?25l", "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J", "\r\n"] {
        rest = rest.replace(own, "");
    }
    let rest = crate::support::pty::plain(&rest);
    assert!(!rest.contains(char::is_control), "{rest:?}");
}

#[test]
fn only_a_terminal_can_be_drawn_on() {
    let doctor = incident();
    for format in ["table", "wide", "csv", "jsonl", "name", "none"] {
        let ran = doctor.run(&[&WATCH[..], &["-o", format]].concat()).exits(2);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("-o jsonl"), "{ran:#?}");
    }
    assert!(fails(&doctor, &WATCH, 2).stderr.contains("--watch"));
    for wrong in ["0s", "500ms", "-2s", "soon"] {
        fails(&doctor, &["stale", "--db", "queue.db", "--watch", wrong], 2);
    }
    let dumb = incident().env("TERM", "dumb");
    let (end, written) = OnTerminal::start(&dumb, &WATCH, SIZE, On::Both).end();
    assert_eq!(end, Ok(2), "{written}");
    assert!(written.contains("TERM=dumb") && written.contains("leave --watch out"), "{written}");
}

/// A first snapshot that fails ends it as it ends `stale`, with the terminal as it was.
#[test]
fn what_cannot_be_looked_at_from_the_start_is_an_error() {
    let doctor = Doctor::new();
    let (end, written) = OnTerminal::start(&doctor, &WATCH, SIZE, On::Both).end();
    assert_eq!(end, Ok(66), "{written}");
    assert!(!written.contains("\x1b[?25l") && written.contains("there is no file queue.db"), "{written:?}");
}

/// Neither the address's own password nor one that the database's error quotes is drawn.
#[test]
fn no_password_is_on_the_screen() {
    const PASSWORD: &str = "c4n4ry-p4ss";
    let shop = Shop::empty_on_postgres();
    shop.in_flight(1, 1, "'web1:1'", 3600);
    let address = format!("{} password={PASSWORD}", shop.url);
    let watch = ["stale", "--db", &address, "--preset", "lease", "--watch", "1s", "-v"];
    let terminal = OnTerminal::start(&shop.doctor, &watch, SIZE, On::Both);
    terminal.until("there is a picture", |picture| shows(picture, (' ', "1")));
    shop.sql(&format!(
        "CREATE FUNCTION ask() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'could not connect to host=db2 password={PASSWORD}, postgres://ops:{PASSWORD}@db2/app'; END $$;
        ALTER TABLE jobs RENAME TO kept; CREATE VIEW jobs AS SELECT * FROM kept WHERE ask()"
    ));
    let picture = terminal.until("it cannot look", |picture| picture.iter().any(|line| line.contains("CANNOT READ")));
    assert!(picture.join("").contains("could not connect to host=db2 password=(hidden)"), "{picture:#?}");
    terminal.signal(Signal::INT);
    let (_, written) = terminal.end();
    assert!(!written.contains("c4n4ry"), "{written:?}");
}

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
    let mut is_row = false;
    let rows = picture.iter().filter(|line| {
        let is_header = line.trim_start().starts_with("ID ");
        is_row = is_header || is_row && line.starts_with([' ', '+', '-', '>']);
        is_row && !is_header
    });
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
    // Nothing is new in the first snapshot.
    let mut ids: Vec<String> = marks(&first).into_iter().map(|(mark, id)| format!("{mark}{id}")).collect();
    ids.sort();
    assert_eq!(ids, [" 1", " 2", " 3", " 4", " 5", " 7", " 8"], "{first:#?}");

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
        let shown = marks(&picture).len();
        assert!(rows < 12 || shown == 3 && picture.contains(&"57 more, requeue".to_owned()), "{picture:#?}");
    }
}

#[test]
fn a_terminal_of_another_size_is_drawn_on_anew() {
    let doctor = incident();
    let watch = ["stale", "--db", "queue.db", "--watch", "1h"];
    let terminal = OnTerminal::start(&doctor, &watch, (100, 12), On::Both);
    terminal.until("there is a picture", |picture| picture.len() == 11);
    terminal.resize((100, 9));
    terminal.until("it is drawn anew", |picture| picture.len() == 8);
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
    fails(&doctor, &[&WATCH[..], &["--limit", "4"]].concat(), 2).says("--limit");
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

/// Arrows select a job and move the page, Enter shows it, any of the ending keys leads back, and `q` ends.
#[test]
fn keys_open_a_job_and_end_it() {
    let doctor = incident();
    let before = fs::read(doctor.path("queue.db")).unwrap();
    let terminal = OnTerminal::start(&doctor, &WATCH, SIZE, On::Both);
    terminal.until("there is a picture", |picture| shows(picture, (' ', "1")));
    terminal.type_in("\x1b[B");
    let picture = terminal.until("one is selected", |picture| picture.iter().any(|line| line.starts_with('>')));
    let (_, id) = marks(&picture).into_iter().find(|(mark, _)| *mark == '>').unwrap();
    terminal.type_in("j");
    terminal.until("the next is selected", |picture| shows(picture, (' ', &id)));
    terminal.type_in("\x1b[A");
    terminal.until("the first again", |picture| shows(picture, ('>', &id)));
    terminal.type_in("\n");
    let shown = terminal.until("it is shown", |picture| picture[0].starts_with("job:"));
    assert!(shown[0].ends_with(&format!(" {id}")) && shown.iter().any(|line| line.starts_with("RULE ")), "{shown:#?}");
    terminal.type_in("q");
    terminal.until("it is back", |picture| shows(picture, ('>', &id)));
    // No key writes, whatever it is elsewhere.
    terminal.type_in("afuryd ");
    terminal.type_in("q");
    let (end, written) = terminal.end();
    assert_eq!(end, Ok(0), "{written:?}");
    assert!(written.ends_with("\x1b[?25h"), "{written:?}");
    assert_eq!(fs::read(doctor.path("queue.db")).unwrap(), before);
}

/// The page is longer than the terminal: what is selected stays in sight, on the smallest too.
#[test]
fn what_is_selected_is_in_sight() {
    for size in [(100, 12), (40, 5), (9, 2)] {
        let doctor = incident();
        let terminal = OnTerminal::start(&doctor, &WATCH, size, On::Both);
        terminal.until("there is a picture", |picture| !picture.is_empty());
        for _ in 0..12 {
            terminal.type_in("\x1b[B");
        }
        if size.1 == 12 {
            let picture = terminal.until("the last is in sight", |picture| shows(picture, ('>', "7")));
            assert!(picture.len() < 12, "{picture:#?}");
        }
        terminal.type_in("q");
        assert_eq!(terminal.end().0, Ok(0));
    }
}

#[test]
fn groups_are_watched_too() {
    let doctor = incident();
    let terminal = OnTerminal::start(&doctor, &[&WATCH[..], &["--by", "host"]].concat(), SIZE, On::Both);
    let has = |words: &'static str| move |picture: &[String]| picture.iter().any(|line| line.starts_with(words));
    terminal.until("there are groups", has("web2 "));
    doctor.sql("UPDATE jobs SET owner_id = 'web9:1' WHERE owner_id LIKE 'web2%'");
    terminal.until("there are others", has("web9 "));
    terminal.type_in("q");
    assert_eq!(terminal.end().0, Ok(0));
    let terminal = OnTerminal::start(&doctor, &["status", "--db", "queue.db", "--watch", "1s"], SIZE, On::Both);
    terminal.until("there is a page", has("queue: "));
    terminal.type_in("q");
    assert_eq!(terminal.end().0, Ok(0));
}

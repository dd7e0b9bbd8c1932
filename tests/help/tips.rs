//! A command line that clap refuses gets the one that was probably meant, and it is accepted.

use crate::support::cli::Doctor;

#[test]
fn the_command_line_that_was_meant() {
    let doctor = Doctor::new();
    doctor.run(&["demo"]).exits(0);
    let set = |line: &str, meant: &str| {
        let ran = doctor.run(&line.split(' ').collect::<Vec<_>>());
        let tip = format!("did you mean `jobdoctor {meant}`?");
        assert!(ran.code != 0 && ran.whole().contains(&tip), "{line}: {ran:#?}");
        let words: Vec<&str> = meant.split(' ').chain(["--help"]).collect();
        doctor.run(&words).exits(if meant.starts_with("health") { 3 } else { 0 });
    };
    set("stale 5", "stale --id 5");
    set("stale 5 6 --db demo.db", "stale --id 5 --id 6 --db demo.db");
    set("stale 5m", "stale --older 5m");
    set("stale mail", "stale --queue mail");
    set("stale --since 5m", "stale --older 5m");
    set("reclaim demo.db", "reclaim --db demo.db");
    set("reclaim web2:911", "reclaim --owner web2:911");
    set("reclaim gone.db 7", "reclaim --db gone.db --id 7");
    set("owners web2", "owners --host web2");
    set("health demo.db", "health --db demo.db");
    set("show", "stale");
    set("show --db demo.db", "stale --db demo.db");
    set("undo", "undo last");
    set("adopt demo.db", "adopt --db demo.db");
    set("history demo.db", "history --db demo.db");
    set("demo.db", "status --db demo.db");
    set("--db demo.db 5", "--db demo.db show 5");
    set("retry 5 --db demo.db", "reclaim --id 5 --db demo.db");
    set("explain 5", "show 5");
    set("undo --apply", "undo last");
    set("sweep --restart web1", "sweep --restart --host web1");
    // The word that was refused, not the same word elsewhere.
    set("stale foo --db demo.db --queue foo", "stale --queue foo --db demo.db --queue foo");
    // An id is any text.
    doctor.run(&["show", "https://example.com/a", "--db", "demo.db"]).exits(66).says("no such job");
}

/// The mutants replace another word, or the same one for ever.
#[test]
fn what_cannot_be_put_right_gets_no_tip_of_that_kind() {
    let doctor = Doctor::new();
    doctor.run(&["demo"]).exits(0);
    let many = format!("reclaim --aply {}", (0..50).map(|n| n.to_string()).collect::<Vec<_>>().join(" "));
    for line in [
        "stale demo.db --db demo.db",
        "stale -- demo.db",
        "reclaim --since 1h --apply",
        "stats --since 7d",
        "stale --all-targets demo.db",
        "presets list",
        &many,
    ] {
        let ran = doctor.run(&line.split(' ').collect::<Vec<_>>()).exits(2);
        assert!(!ran.stderr.contains("did you mean `jobdoctor"), "{line}: {ran:#?}");
    }
}

/// The mutant shows the password, or lets the word reach the terminal.
#[test]
fn what_was_typed_is_hidden_and_inert() {
    let doctor = Doctor::new();
    for words in [
        &["stale", "postgres://u:sekret@h/d"][..],
        &["adopt", "postgres://u:sekret@h/d"],
        &["postgres://u:sekret@h/d"],
        &["stale", "--older", "host=h password='sekret pw'"],
        &["stale", "--older", "postgres://u:it's sekret@h/d"],
        &["stale", "--db", "host=h", "host=h pasword=sekret"],
        &["stale", "host=h pasword='sekret'"],
        &["stale", "--db", "demo.db", "user=u", "password", "=", "sekret"],
        &["stale", "-ou:sekret@h/d"],
        &["stale", "-opostgres://u:se'kret sekret@h/d"],
        &["history", "u:sekret@h"],
        &["undo", "--option=host=h pasword='sekret'"],
        &["help", "u:sekret@h"],
        &["man", "pass=sekret"],
        &["presets", "show", "u:sekret@h"],
    ] {
        for format in [&[][..], &["-o", "json"]] {
            let ran = doctor.run(&[words, format].concat());
            assert!(ran.code == 2 && !ran.whole().contains("sekret"), "{words:?}: {ran:#?}");
        }
    }
    // A word that is part of a longer one.
    let ran = doctor.run(&["health", "--queue", "age=h", "-w", "age=h pasword=sekret"]).exits(3);
    assert!(!ran.whole().contains("sekret"), "{ran:#?}");
    let ran = doctor.run(&["stale", "a\u{1b}[2Jb"]).exits(2);
    assert!(ran.whole().contains("did you mean") && !ran.whole().contains('\u{1b}'), "{ran:#?}");
}

#[test]
fn every_unknown_word_has_a_tip() {
    for word in ["kill", "summary", "info", "xyzzy", "42x", "restart"] {
        let ran = Doctor::new().run(&[word]).exits(2);
        assert_eq!(ran.stderr.matches("tip: ").count(), 1, "{ran:#?}");
    }
}

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
    set("show demo.db 5", "show --db demo.db 5");
    set("undo", "undo last");
    set("adopt demo.db", "adopt --db demo.db");
    set("history demo.db", "history --db demo.db");
    set("demo.db", "status --db demo.db");
    set("--db demo.db 5", "--db demo.db show 5");
    // A file of that name is no database where a database is not asked for.
    let ran = doctor.run(&["show", "gone.db", "--db", "demo.db"]).exits(66);
    ran.says("no such job");
}

/// The mutant shows the password, or lets the word reach the terminal.
#[test]
fn what_was_typed_is_hidden_and_inert() {
    let doctor = Doctor::new();
    for words in
        [&["stale", "postgres://u:sekret@h/d"][..], &["adopt", "postgres://u:sekret@h/d"], &["postgres://u:sekret@h/d"]]
    {
        for format in ["table", "json"] {
            let ran = doctor.run(&[words, &["-o", format]].concat()).exits(2);
            assert!(!ran.whole().contains("sekret"), "{ran:#?}");
        }
    }
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

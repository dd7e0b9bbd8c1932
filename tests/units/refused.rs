//! What cannot be written for another program is an error, not a unit that fails at night.

use crate::support::cli::Doctor;

#[test]
fn with_a_sentence() {
    let doctor = Doctor::new();
    std::fs::write(doctor.path("password"), "x\n").unwrap();
    std::fs::write(doctor.path("c.toml"), "[target.\"a\\nb\"]\ndb = \"q.db\"\n").unwrap();
    let server = ["--db", "postgres://ops@db/app"];
    let image = ["kubernetes", "--image", "i"];
    for (arguments, message) in [
        (vec!["cron"], "no database is named"),
        (vec!["cron", "--db", "q.db", "--every", "7m"], "it must be a part of an hour or a day"),
        (vec!["cron", "--db", "q.db", "--every", "30s"], "it must be a part of an hour or a day"),
        (vec!["cron", "--db", "q.db", "--user", "a b"], "a user name is letters, digits"),
        (vec!["cron", "--db", "q.db", "--program", "jobdoctor"], "it must be an absolute path"),
        (vec!["cron", "--db", "q.db", "--name", "A b"], "a name is 1 to 52 lower-case letters"),
        (vec!["cron", "--config", "c.toml"], "a control character cannot be written here"),
        (vec!["cron", "--db", "q.db", "--program", "/usr/bin/a\nb"], "a control character cannot be written here"),
        (vec!["systemd", "--db", "q.db", "--worker", "w.service"], "--restart"),
        (vec!["systemd", "--db", "q.db", "--restart", "--older", "5m"], "cannot be used with"),
        (vec!["systemd", "--db", "q.db", "--restart", "--worker", "../w.service"], "the name of a service"),
        ([&image[..], &["--db", "q.db"]].concat(), "a SQLite file is on this host"),
        (
            [&image[..], &["--db", "host=/run/postgresql dbname=app"]].concat(),
            "the socket in /run/postgresql is on this host",
        ),
        ([&image[..], &server, &["--password-file", "password"]].concat(), "is on this host, and no pod sees it"),
        ([&["kubernetes"], &server[..]].concat(), "--image"),
        (vec!["cron", "--target", "none", "--db", "q.db"], "there is no target `none`"),
    ] {
        let ran = doctor.run(&[&["generate"], &arguments[..]].concat()).exits(2);
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {ran:#?}");
    }
    let long = "x".repeat(2000);
    let ran = doctor.run(&["generate", "cron", "--db", &long]).exits(2);
    assert!(ran.stderr.contains("too long for cron") && ran.stderr.contains("--target"), "{ran:#?}");
    doctor.run(&["generate"]).exits(2);
}

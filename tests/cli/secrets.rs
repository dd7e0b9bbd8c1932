//! A password never comes back: not in an error, not in a document, not in a hint, not in help.

use super::scene::incident;
use crate::support::cli::{Doctor, Ran, is_valid};
use std::os::unix::fs::PermissionsExt;

const CANARY: &str = "c4n4ry-p4ss";

fn keeps_quiet(doctor: &Doctor, arguments: &[&str], code: i32) {
    for more in [&["-v"][..], &["--json"]] {
        let ran: Ran = doctor.run(&[arguments, more].concat());
        assert_eq!(ran.code, code, "{ran:#?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains(CANARY) && !said.contains("c4n4ry"), "{arguments:?} {more:?}: {ran:#?}");
        if let Ok(document) = serde_json::from_str(&ran.stderr) {
            is_valid("error", &document);
        }
    }
}

/// Addresses that lead nowhere, each with a password; and the code it ends in.
fn addresses() -> Vec<(String, i32)> {
    [
        ("postgres://ops:PASS@127.0.0.1:1/app", 69),
        ("postgresql://ops:PASS@localhost:1/app?connect_timeout=1", 69),
        ("host=127.0.0.1 port=1 user=ops password=PASS dbname=app", 69),
        ("host=/nonexistent user=ops password='PASS' dbname=app", 69),
        ("postgres://ops@127.0.0.1:1/app?password=PASS", 69),
        ("postgres://ops:PASS@db.invalid/app", 69),
        ("postgres://ops:PA@SS@db.invalid/app", 2),
        ("postgres://ops:12/PASS@db.invalid/app", 2),
        ("postgres://ops:PA@SS@db:internal:x/app", 2),
        ("postgres://ops:PASS@127.0.0.1:port/app", 2),
        ("host=127.0.0.1 password=PASS bogus=1", 2),
        ("password=PASS port=x", 2),
        ("mysql://ops:PASS@db/app", 2),
        ("postgres:/ops:PASS@db/app", 2),
    ]
    .iter()
    .map(|(address, code)| (address.replace("PASS", CANARY).replace("PA@SS", "c4n4ry@p4ss"), *code))
    .collect()
}

#[test]
fn of_the_flag() {
    for (address, code) in addresses() {
        keeps_quiet(&Doctor::new(), &["stale", "--db", &address], code);
        keeps_quiet(&Doctor::new(), &["check", &format!("--db={address}")], code);
    }
}

#[test]
fn of_the_environment() {
    for (address, code) in addresses() {
        keeps_quiet(&Doctor::new().env("DATABASE_URL", &address), &["stale"], code);
        keeps_quiet(&Doctor::new().env("JOBDOCTOR_DB", &address), &["reclaim"], code);
    }
    let doctor = Doctor::new().env("PGHOST", "127.0.0.1").env("PGPORT", "1").env("PGPASSWORD", CANARY);
    keeps_quiet(&doctor, &["owners"], 69);
    keeps_quiet(&doctor.env("PGPORT", "x"), &["owners"], 2);
}

#[test]
fn of_the_config_file() {
    let doctor = Doctor::new();
    for (address, code) in addresses() {
        std::fs::write(doctor.path("config.toml"), format!("[target.app]\ndb = \"{address}\"\n")).unwrap();
        std::fs::set_permissions(doctor.path("config.toml"), std::fs::Permissions::from_mode(0o600)).unwrap();
        keeps_quiet(&doctor, &["stale", "--config", "config.toml"], code);
    }
    // A mistake near it must not quote it.
    let (address, _) = &addresses()[0];
    for text in [
        format!("[target.app]\ndbb = \"{address}\"\n"),
        format!("[target.app]\ndb = [\"{address}\"]\n"),
        format!("[target.app]\ndb = {address}\n"),
        format!("[target.app]\ndb = \"{address}\n"),
        format!("[target.app]\ndb = \"{address}\" ; preset = \"lease\"\n"),
    ] {
        std::fs::write(doctor.path("config.toml"), &text).unwrap();
        keeps_quiet(&doctor, &["stale", "--config", "config.toml"], 78);
    }
}

#[test]
fn of_a_mistyped_command_line() {
    for address in ["postgres://ops:PASS@127.0.0.1:1/app", "host=127.0.0.1 user=ops password=PASS dbname=app"] {
        let address = address.replace("PASS", CANARY);
        let (flag, to) = (format!("--bd={address}"), format!("--to={address}"));
        for arguments in [
            &["stale", &address][..],
            &[&address],
            &["stale", &flag],
            &["stale", "--bd", &address],
            &["stale", "--older", &address],
            &["stale", "--db", &address, "--older", "5M"],
            &["reclaim", "--to", &address],
            &["reclaim", &to],
            &["completions", &address],
        ] {
            for more in [&[][..], &["-o", "json"]] {
                let ran = Doctor::new().run(&[arguments, more].concat()).exits(2);
                let said = format!("{}{}", ran.stdout, ran.stderr);
                assert!(!said.contains("c4n4ry"), "{arguments:?}: {ran:#?}");
            }
        }
    }
}

#[test]
fn of_a_help_text() {
    let doctor = Doctor::new()
        .env("JOBDOCTOR_DB", format!("postgres://ops:{CANARY}@127.0.0.1:1/app"))
        .env("DATABASE_URL", format!("postgres://ops:{CANARY}@127.0.0.1:1/app"))
        .env("PGPASSWORD", CANARY);
    for arguments in
        [&["--help"][..], &["-h"], &["stale", "--help"], &["reclaim", "-h"], &["man", "stale"], &["init", "--help"]]
    {
        let ran = doctor.run(arguments).exits(0);
        assert!(!ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY), "{arguments:?}");
    }
}

#[test]
fn of_the_next_command() {
    let doctor = incident().env("PGPASSWORD", CANARY);
    // A path may be called anything; a hint does not repeat what looks like an address with a password.
    let name = format!("ops:{CANARY}@queue.db");
    std::fs::copy(doctor.path("queue.db"), doctor.path(&name)).unwrap();
    let ran = doctor.run(&["stale", "--db", &format!("sqlite://{name}")]).exits(0);
    assert!(!ran.stderr.contains(CANARY), "{ran:#?}");
}

//! Several hosts in one address: which server is used, and what is said where none can be.

use super::{SOME, lag, queue, states};
use crate::support::cli::fails;
use std::path::Path;
use std::process::Command;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Used {
    Primary,
    Standby,
}
use Used::{Primary, Standby};

/// By attribute: which server is used where the standby is named first, and where the primary is.
const ATTRIBUTES: [(&str, Used, Used); 6] = [
    ("any", Standby, Primary),
    ("read-write", Primary, Primary),
    ("read-only", Standby, Standby),
    ("primary", Primary, Primary),
    ("standby", Standby, Standby),
    ("prefer-standby", Standby, Standby),
];

/// Where libpq ends up.
fn psql(db: &str) -> Used {
    let asked = Command::new("psql").args(["-XAtc", "SELECT pg_is_in_recovery()", db]).output().unwrap();
    match asked.stdout.as_slice() {
        b"t\n" => Standby,
        b"f\n" => Primary,
        _ => panic!("psql {db}: {}", String::from_utf8_lossy(&asked.stderr)),
    }
}

#[test]
fn the_attribute_decides() {
    let (pair, doctor, database) = queue(SOME);
    for (attribute, standby_first, primary_first) in ATTRIBUTES {
        for (sockets, expected) in
            [([pair.standby(), pair.primary()], standby_first), ([pair.primary(), pair.standby()], primary_first)]
        {
            let db = format!("{} target_session_attrs={attribute}", database.url(&sockets));
            let document = doctor.run(&["stale", "--db", &db, "--json"]).exits(0).json();
            let used = if lag(&document).is_some() { Standby } else { Primary };
            assert_eq!(used, expected, "{db}");
            assert_eq!(psql(&db), expected, "{db}: what libpq does");
            assert_eq!(document["summary"]["stuck"], 2, "{db}");
        }
    }
}

#[test]
fn where_no_server_fits() {
    let (pair, doctor, database) = queue(SOME);
    for (socket, attribute) in [
        (pair.standby(), "read-write"),
        (pair.standby(), "primary"),
        (pair.primary(), "read-only"),
        (pair.primary(), "standby"),
    ] {
        let db = format!("{} target_session_attrs={attribute}", database.url(&[socket]));
        assert!(!Command::new("psql").args(["-XAtc", "SELECT 1", &db]).output().unwrap().status.success(), "{db}");
        let ran = fails(&doctor, &["stale", "--db", &db], 69);
        assert!(ran.stderr.contains(&socket.display().to_string()), "{attribute}: {ran:#?}");
    }
    // A wish, not a condition.
    let db = format!("{} target_session_attrs=prefer-standby", database.url(&[pair.primary()]));
    assert_eq!(lag(&doctor.run(&["stale", "--db", &db, "--json"]).exits(0).json()), None);
}

#[test]
fn a_write_finds_the_primary() {
    for words in ["reclaim", "sweep"] {
        let (pair, doctor, database) = queue(SOME);
        let db = database.url(&[pair.standby(), pair.primary()]);
        doctor.run(&[words, "--apply", "--db", &db]).exits(0);
        let after = states(&mut pair.client(&database));
        assert_eq!(after, ["1 QUEUED 1", "2 QUEUED 1", "3 RUNNING 0", "4 RUNNING 0"], "{words}");
    }
}

#[test]
fn a_dead_host_is_passed_over() {
    let (pair, doctor, database) = queue(SOME);
    let dead = Path::new("/nonexistent/one");
    for sockets in [[dead, pair.primary()], [pair.primary(), dead]] {
        let document = doctor.run(&["stale", "--db", &database.url(&sockets), "--json"]).exits(0).json();
        assert_eq!((lag(&document), &document["summary"]["stuck"]), (None, &2.into()));
    }
    doctor.run(&["reclaim", "--apply", "--db", &database.url(&[dead, pair.primary()])]).exits(0);
    assert_eq!(states(&mut pair.client(&database))[0], "1 QUEUED 1");
}

/// Who has two hosts wants to know about both.
#[test]
fn all_are_dead() {
    let (_pair, doctor, database) = queue(SOME);
    let db = database.url(&[Path::new("/nonexistent/one"), Path::new("/nonexistent/two")]);
    let ran = fails(&doctor, &["stale", "--db", &db], 69);
    ran.says("/nonexistent/one").says("/nonexistent/two");
    assert_eq!(ran.stderr.matches("there is no socket").count(), 2, "each with its reason: {ran:#?}");
}

//! The six modes, against servers with TLS and without and users who must, may and must not use it.

use super::{How, Visitor, says};
use crate::support::authority::Authority;
use crate::support::tls_server::{plain, usual};

#[derive(Debug, Clone, Copy)]
enum Comes {
    Tls,
    Plain,
    No(i32),
}
use Comes::{No, Plain, Tls};

const MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

#[track_caller]
fn come(visitor: &Visitor, user: &str, root: &str, expected: [Comes; 6]) {
    for (mode, expected) in MODES.into_iter().zip(expected) {
        let words = format!("user={user} sslmode={mode} {root}");
        match expected {
            Tls => assert!(visitor.gets_in(&words).is_tls(), "{words}"),
            Plain => assert_eq!(visitor.gets_in(&words), How::Plain, "{words}"),
            No(code) => drop(visitor.is_refused(&words, code)),
        }
    }
}

const ROOT: &str = "sslrootcert=root.pem";

#[test]
fn who_must_may_and_must_not_use_tls() {
    let visitor = Visitor::to(usual());
    come(&visitor, "tls", ROOT, [No(77), Tls, Tls, Tls, Tls, Tls]);
    come(&visitor, "plain", ROOT, [Plain, Plain, Plain, No(77), No(77), No(77)]);
    come(&visitor, "both", ROOT, [Plain, Plain, Tls, Tls, Tls, Tls]);
}

#[test]
fn a_server_without_tls() {
    let visitor = Visitor::to(plain());
    come(&visitor, "both", ROOT, [Plain, Plain, Plain, No(69), No(69), No(69)]);
    come(&visitor, "tls", ROOT, [No(77), No(77), No(77), No(69), No(69), No(69)]);
    says(&visitor.is_refused("user=both sslmode=require", 69), "the server does not speak TLS");
}

#[test]
fn without_a_root() {
    come(&Visitor::to(usual()), "both", "", [Plain, Plain, Tls, Tls, No(78), No(78)]);
    let ran = Visitor::to(usual()).is_refused("user=both sslmode=verify-full sslrootcert=not-there.pem", 78);
    says(&ran, "there is no file not-there.pem");
    says(&ran, "sslrootcert=system");
    come(&Visitor::to(usual()), "both", "sslrootcert=not-there.pem", [Plain, Plain, Tls, Tls, No(78), No(78)]);
}

/// Where there are root certificates they count in every mode; and `prefer` would rather do without TLS than not at
/// all.
#[test]
fn with_the_root_of_another_authority() {
    let visitor = Visitor::to(usual());
    visitor.file("other.pem", &Authority::new("ours").root(), 0o644);
    let other = "sslrootcert=other.pem";
    come(&visitor, "both", other, [Plain, Plain, Plain, No(69), No(69), No(69)]);
    come(&visitor, "tls", other, [No(77), No(69), No(69), No(69), No(69), No(69)]);
    // Both ways were tried, and both reasons count.
    let ran = visitor.is_refused("user=tls sslmode=prefer sslrootcert=other.pem", 69);
    says(&ran, "no trusted authority has signed");
    says(&ran, "without TLS: ");
    says(
        &visitor.is_refused("user=tls sslmode=verify-ca sslrootcert=other.pem", 69),
        "no trusted authority has signed",
    );
}

#[test]
fn a_socket_is_below_all_that() {
    let visitor = Visitor::to(usual());
    let socket = usual().at_socket();
    for mode in MODES {
        let address = format!("{socket} sslmode={mode}");
        visitor.doctor.run(&["stale", "--db", &address]).exits(0);
        assert!(visitor.psql(&address).0.is_some(), "{mode}");
    }
}

//! Who logs in with a certificate.

use super::{How, Visitor, says};
use crate::support::authority::{Authority, Wanted};
use crate::support::tls_server::{authority, usual};
use std::fs;
use std::os::unix::fs::MetadataExt;

const FULL: &str = "user=cert sslmode=verify-full sslrootcert=root.pem";
const SHOWN: &str = "user=cert sslmode=verify-full sslrootcert=root.pem sslcert=client.crt sslkey=client.key";

/// Somebody with a certificate for that user.
fn of(user: &str, authority: &Authority) -> Visitor {
    let visitor = Visitor::to(usual());
    let issued = authority.issue(&Wanted::client(user));
    visitor.file("client.crt", &issued.chain, 0o644);
    visitor.file("client.key", &issued.key, 0o600);
    visitor
}

#[test]
fn the_right_one() {
    let visitor = of("cert", authority());
    assert!(visitor.gets_in(SHOWN).is_tls());
    let weaker = SHOWN.replace("verify-full", "prefer");
    assert!(visitor.gets_in(&weaker).is_tls());
}

#[test]
fn none() {
    says(&of("cert", authority()).is_refused(FULL, 77), "client certificate");
}

#[test]
fn that_of_somebody_else() {
    of("somebody", authority()).is_refused(SHOWN, 77);
}

#[test]
fn that_of_another_authority() {
    let visitor = of("cert", &Authority::new("another"));
    says(&visitor.is_refused(SHOWN, 69), "refused our client certificate");
}

#[test]
fn the_usual_files() {
    let visitor = Visitor::to(usual());
    let issued = authority().issue(&Wanted::client("cert"));
    visitor.usual_file("postgresql.crt", &issued.chain, 0o644);
    says(&visitor.is_refused(FULL, 78), "postgresql.key, is not there");
    visitor.usual_file("postgresql.key", &issued.key, 0o600);
    assert!(visitor.gets_in(FULL).is_tls());
    // Left at home.
    visitor.alone_is_refused(&format!("{FULL} sslcertmode=disable"), 77);
}

/// libpq goes on without one, and is then told by the server that it lacks one.
#[test]
fn one_that_is_named_and_not_there() {
    let visitor = of("cert", authority());
    fs::remove_file(visitor.doctor.path("client.crt")).unwrap();
    says(&visitor.is_refused(SHOWN, 78), "client.crt cannot be read");
}

#[test]
fn a_key_that_is_not_there() {
    let visitor = of("cert", authority());
    fs::remove_file(visitor.doctor.path("client.key")).unwrap();
    says(&visitor.is_refused(SHOWN, 78), "client.key, is not there");
}

#[test]
fn a_key_that_others_can_use() {
    let visitor = of("cert", authority());
    let key = fs::read_to_string(visitor.doctor.path("client.key")).unwrap();
    for mode in [0o604, 0o644, 0o660, 0o602] {
        visitor.file("client.key", &key, mode);
        says(&visitor.is_refused(SHOWN, 78), "chmod 600");
    }
    for mode in [0o600, 0o400] {
        visitor.file("client.key", &key, mode);
        visitor.gets_in(SHOWN);
    }
    // Root's keys may be shared with a group.
    visitor.file("client.key", &key, 0o640);
    if fs::metadata(visitor.doctor.path("client.key")).unwrap().uid() == 0 {
        visitor.gets_in(SHOWN);
    } else {
        visitor.is_refused(SHOWN, 78);
    }
}

/// Files that are no good are trouble with TLS like any other: who only prefers it does without.
#[test]
fn a_key_that_others_can_use_where_tls_is_not_needed() {
    let visitor = of("both", authority());
    let key = fs::read_to_string(visitor.doctor.path("client.key")).unwrap();
    visitor.file("client.key", &key, 0o644);
    let address = |user: &str, mode: &str| format!("user={user} sslmode={mode} sslcert=client.crt sslkey=client.key");
    for mode in ["disable", "allow", "prefer"] {
        assert_eq!(visitor.gets_in(&address("both", mode)), How::Plain, "{mode}");
        let ran = visitor.is_refused(&address("tls", mode), 77);
        assert_eq!(ran.stderr.contains("its mode is 0644"), mode != "disable", "{ran:#?}");
    }
    says(&visitor.is_refused(&address("both", "require"), 78), "chmod 600");
}

#[test]
fn a_key_that_is_encrypted() {
    let visitor = of("cert", authority());
    let body = "c4n4ry".repeat(10);
    visitor.file(
        "client.key",
        &format!("-----BEGIN ENCRYPTED PRIVATE KEY-----\n{body}\n-----END ENCRYPTED PRIVATE KEY-----\n"),
        0o600,
    );
    let ran = visitor.is_refused(SHOWN, 78);
    says(&ran, "is encrypted");
    says(&ran, "openssl pkey -in client.key");
    assert!(!ran.stderr.contains("c4n4ry"), "{ran:#?}");
}

#[test]
fn a_key_to_another_certificate() {
    let visitor = of("cert", authority());
    visitor.file("client.key", &authority().issue(&Wanted::client("cert")).key, 0o600);
    says(&visitor.is_refused(SHOWN, 78), "is not the one to the certificate");
}

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
fn the_right_one_and_others() {
    let visitor = of("cert", authority());
    for mode in ["verify-full", "prefer"] {
        assert!(visitor.gets_in(&SHOWN.replace("verify-full", mode)).is_tls());
    }
    says(&visitor.is_refused(FULL, 77), "client certificate");
    of("somebody", authority()).is_refused(SHOWN, 77);
    says(&of("cert", &Authority::new("another")).is_refused(SHOWN, 69), "refused our client certificate");
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

//! Lists of revoked certificates.

use super::{Visitor, says};
use crate::support::tls_server::{authority, certificate, usual};

const FULL: &str = "user=tls sslmode=verify-full sslrootcert=root.pem";

#[test]
fn a_certificate_on_the_list() {
    let visitor = Visitor::to(usual());
    let (root, ours) = authority().lists(&[certificate()], 2900);
    visitor.file("list.pem", &(root + &ours), 0o644);
    for mode in ["require", "verify-ca", "verify-full"] {
        let words = format!("{FULL} sslmode={mode} sslcrl=list.pem");
        says(&visitor.is_refused(&words, 69), "has been revoked");
    }
    // Who checks nothing does not look at lists either.
    visitor.gets_in("user=tls sslmode=require sslcrl=list.pem");
}

#[test]
fn a_certificate_that_is_not_on_it() {
    let visitor = Visitor::to(usual());
    let other = authority().issue(&crate::support::authority::Wanted::server(&["localhost"]));
    let (root, ours) = authority().lists(&[&other], 2900);
    visitor.file("list.pem", &(root + &ours), 0o644);
    assert!(visitor.gets_in(&format!("{FULL} sslcrl=list.pem")).is_tls());
}

#[test]
fn a_list_that_does_not_speak_for_all() {
    let visitor = Visitor::to(usual());
    let (root, ours) = authority().lists(&[], 2900);
    for one in [&root, &ours] {
        visitor.file("list.pem", one, 0o644);
        says(&visitor.is_refused(&format!("{FULL} sslcrl=list.pem"), 69), "is not known");
    }
}

#[test]
fn an_old_list() {
    let visitor = Visitor::to(usual());
    let (root, ours) = authority().lists(&[], 2021);
    visitor.file("list.pem", &(root + &ours), 0o644);
    says(&visitor.is_refused(&format!("{FULL} sslcrl=list.pem"), 69), "should have been renewed");
}

#[test]
fn the_usual_list() {
    let visitor = Visitor::to(usual());
    let (root, ours) = authority().lists(&[certificate()], 2900);
    visitor.usual_file("root.crl", &(root + &ours), 0o644);
    says(&visitor.is_refused(FULL, 69), "has been revoked");
}

/// libpq finds lists in a directory by a hash in their names; here every list in it counts.
#[test]
fn a_directory_of_lists() {
    let visitor = Visitor::to(usual());
    let (root, ours) = authority().lists(&[certificate()], 2900);
    visitor.file("lists/one.pem", &root, 0o644);
    visitor.file("lists/another.pem", &ours, 0o644);
    says(&visitor.alone_is_refused(&format!("{FULL} sslcrldir=lists"), 69), "has been revoked");
    let (_, none) = authority().lists(&[], 2900);
    visitor.file("lists/another.pem", &none, 0o644);
    visitor.alone_gets_in(&format!("{FULL} sslcrldir=lists"));
}

/// libpq goes on as if nobody had been revoked.
#[test]
fn a_list_that_is_not_there() {
    let visitor = Visitor::to(usual());
    says(&visitor.alone_is_refused(&format!("{FULL} sslcrl=not-there.pem"), 78), "not-there.pem cannot be read");
    says(&visitor.alone_is_refused(&format!("{FULL} sslcrldir=not-there"), 78), "not-there cannot be read");
}

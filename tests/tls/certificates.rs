//! Whose certificate a server may show.

use super::{FULL, Visitor, says};
use crate::support::authority::Authority;
use crate::support::tls_server::{authority, expired, of_its_own, usual};

#[test]
fn the_name_counts_in_verify_full_alone() {
    let visitor = Visitor::to(usual());
    assert!(visitor.gets_in(FULL).is_tls());
    let ran = visitor.is_refused(&format!("{FULL} host=127.0.0.1"), 69);
    says(&ran, "the server's certificate is not for 127.0.0.1: it names localhost");
    for mode in ["require", "verify-ca"] {
        assert!(visitor.gets_in(&format!("{FULL} host=127.0.0.1 sslmode={mode}")).is_tls());
    }
}

#[test]
fn the_name_is_the_hosts_and_not_the_address() {
    let visitor = Visitor::to(usual());
    visitor.gets_in(&format!("{FULL} host=localhost hostaddr=127.0.0.1"));
    let ran = visitor.is_refused(&format!("{FULL} host=elsewhere.example hostaddr=127.0.0.1"), 69);
    says(&ran, "is not for elsewhere.example");
}

#[test]
fn the_usual_root_is_found_through_home() {
    let visitor = Visitor::to(usual());
    let full = "user=tls sslmode=verify-full";
    says(&visitor.is_refused(full, 78), ".postgresql/root.crt");
    visitor.usual_file("root.crt", &Authority::new("another").root(), 0o644);
    visitor.is_refused(full, 69);
    // It counts where nobody asked for it, too.
    visitor.is_refused("user=tls sslmode=require", 69);
    visitor.usual_file("root.crt", &authority().root(), 0o644);
    visitor.gets_in(full);
    visitor.gets_in("user=tls sslmode=require");
}

/// psql knows this from 16 on.
#[test]
fn the_systems_authorities() {
    let mut visitor = Visitor::to(usual());
    let root = visitor.doctor.path("root.pem").display().to_string();
    visitor.alone_is_refused("user=tls sslrootcert=system", 69);
    visitor.doctor = visitor.doctor.env("SSL_CERT_FILE", root);
    assert!(visitor.alone_gets_in("user=tls sslrootcert=system").is_tls());
    assert!(visitor.alone_gets_in("user=tls sslrootcert=system sslmode=verify-full").is_tls());
    let ran = visitor.alone_is_refused("user=tls sslrootcert=system host=127.0.0.1", 69);
    says(&ran, "is not for 127.0.0.1");
    for mode in ["disable", "allow", "prefer", "require", "verify-ca"] {
        visitor.alone_is_refused(&format!("user=tls sslrootcert=system sslmode={mode}"), 2);
    }
    let empty = visitor.doctor.path("empty.pem");
    visitor.file("empty.pem", "", 0o644);
    visitor.doctor = visitor.doctor.env("SSL_CERT_FILE", empty.display().to_string());
    says(&visitor.alone_is_refused("user=tls sslrootcert=system", 78), "no authorities to trust");
}

#[test]
fn an_expired_certificate() {
    let visitor = Visitor::to(expired());
    says(&visitor.is_refused(FULL, 69), "expired on 2021-01-01T00:00:00Z");
    visitor.is_refused("user=tls sslmode=require sslrootcert=root.pem", 69);
    visitor.gets_in("user=tls sslmode=require");
}

#[test]
fn a_certificate_that_signed_itself() {
    let (server, issued) = of_its_own();
    let visitor = Visitor::to(server);
    visitor.is_refused(FULL, 69);
    visitor.file("root.pem", &issued.chain, 0o644);
    assert!(visitor.gets_in(FULL).is_tls());
    says(&visitor.is_refused(&format!("{FULL} host=127.0.0.1"), 69), "is not for 127.0.0.1");
    visitor.gets_in(&format!("{FULL} host=127.0.0.1 sslmode=verify-ca"));
}

//! What else an address can say about TLS.

use super::{FULL, How, Visitor, says};
use crate::support::tls_server::{PASSWORD, usual};

#[test]
fn versions() {
    let visitor = Visitor::to(usual());
    let tls = |version: &str| How::Tls(version.to_owned());
    assert_eq!(visitor.gets_in(FULL), tls("TLSv1.3"));
    assert_eq!(visitor.gets_in(&format!("{FULL} ssl_min_protocol_version=TLSv1.3")), tls("TLSv1.3"));
    assert_eq!(visitor.gets_in(&format!("{FULL} ssl_max_protocol_version=TLSv1.2")), tls("TLSv1.2"));
    visitor.is_refused(&format!("{FULL} ssl_max_protocol_version=TLSv1.4"), 2);
}

#[test]
fn the_name_need_not_be_told() {
    let visitor = Visitor::to(usual());
    assert!(visitor.gets_in(&format!("{FULL} sslsni=0")).is_tls());
    says(&visitor.is_refused(&format!("{FULL} sslsni=0 host=127.0.0.1"), 69), "is not for 127.0.0.1");
}

#[test]
fn a_password_that_is_bound_to_the_connection() {
    let visitor = Visitor::to(usual());
    let scram = format!("user=scram password={PASSWORD} channel_binding=require sslrootcert=root.pem");
    assert!(visitor.gets_in(&format!("{scram} sslmode=verify-full")).is_tls());
    let ran = visitor.is_refused(&format!("{scram} sslmode=disable"), 77);
    says(&ran, "channel_binding=require");
    assert!(!ran.stderr.contains(PASSWORD), "{ran:#?}");
    assert_eq!(visitor.gets_in(&format!("{scram} sslmode=disable channel_binding=prefer")), How::Plain);
    visitor.is_refused("user=scram password=wr0ng sslmode=verify-full sslrootcert=root.pem", 77);
    // Nobody asked for a password, so none was bound.
    visitor.is_refused("user=both channel_binding=require sslmode=require", 77);
}

/// psql knows this from 17 on. A server that is older hangs up; a newer one lets us in.
#[test]
fn tls_from_the_first_byte() {
    let visitor = Visitor::to(usual());
    let direct = format!("{FULL} sslnegotiation=direct");
    if usual().version() < 17 {
        says(&visitor.alone_is_refused(&direct, 69), "hung up");
    } else {
        assert!(visitor.alone_gets_in(&direct).is_tls());
    }
    visitor.alone_is_refused(&format!("{FULL} sslmode=prefer sslnegotiation=direct"), 2);
}

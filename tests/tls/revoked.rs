//! Lists of revoked certificates.

use super::{FULL, Visitor, says};
use crate::support::tls_server::{authority, certificate, usual};

#[test]
fn a_certificate_on_the_list() {
    let visitor = Visitor::to(usual());
    let (root, ours) = authority().lists(&[certificate()], 2900);
    visitor.file("list.pem", &(root.clone() + &ours), 0o644);
    for mode in ["require", "verify-ca", "verify-full"] {
        let words = format!("{FULL} sslmode={mode} sslcrl=list.pem");
        says(&visitor.is_refused(&words, 69), "has been revoked");
    }
    visitor.usual_file("root.crl", &(root + &ours), 0o644);
    says(&visitor.is_refused(FULL, 69), "has been revoked");
    let (root, ours) = authority().lists(&[], 2900);
    visitor.file("none.pem", &(root + &ours), 0o644);
    assert!(visitor.gets_in(&format!("{FULL} sslcrl=none.pem")).is_tls());
    // Who checks nothing does not look at lists either.
    visitor.gets_in("user=tls sslmode=require sslcrl=list.pem");
}

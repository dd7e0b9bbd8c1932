//! Which certificates are trusted: roots, names, dates and revocation lists.

use super::server::Server;
use super::{Scene, named, says};
use crate::support::authority::{Authority, Wanted, self_signed};
use jobdoctor::store::{Root, SslMode, StoreErrorKind};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, version};
use std::sync::Arc;

#[test]
fn what_is_wrong_with_a_certificate_is_said() {
    let scene = Scene::trusting(SslMode::VerifyFull);
    let named = |names: &[&str]| scene.authority.issue(&Wanted::server(names));
    scene.is_refused(&named(&["localhost"]), "elsewhere.example", "is not for elsewhere.example: it names localhost");
    let addressed = named(&["db.example", "192.0.2.1"]);
    scene.is_refused(&addressed, "192.0.2.2", "is not for 192.0.2.2: it names db.example, 192.0.2.1");
    scene.meets(&addressed, "192.0.2.1").unwrap();
    scene.is_refused(&named(&[]), "localhost", "names no host");
    let issued = |from, to| scene.authority.issue(&Wanted::server(&["localhost"]).years(from, to));
    scene.is_refused(&issued(2020, 2021), "localhost", "expired on 2021-01-01T00:00:00Z");
    scene.is_refused(&issued(2899, 2900), "localhost", "is not valid before 2899-01-01T00:00:00Z");
    let client = scene.authority.issue(&Wanted::client("somebody"));
    scene.is_refused(&client, "localhost", "is not made for a server");
    let other = Authority::new("ours").issue(&Wanted::server(&["localhost"]));
    scene.is_refused(&other, "localhost", "no trusted authority has signed");
    scene.is_refused(&self_signed(&["localhost"]), "localhost", "is an authority's");
}

/// A server that does not hold its certificate's key is refused even where nothing is verified.
#[test]
fn the_signature_of_the_handshake_counts_even_where_nothing_is_verified() {
    let scene = Scene::new(SslMode::Require);
    for version in [&version::TLS12, &version::TLS13] {
        let (shown, other) = (scene.localhost(), scene.localhost());
        let key = PrivateKeyDer::from_pem_slice(other.key.as_bytes()).unwrap();
        let signer = ring::default_provider().key_provider.load_private_key(key).unwrap();
        let chain = CertificateDer::pem_slice_iter(shown.chain.as_bytes()).map(Result::unwrap).collect();
        let forged = Arc::new(rustls::sign::CertifiedKey::new(chain, signer));
        let mut config = ServerConfig::clone(&Server::with(&shown, &[version], None).config);
        config.cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(forged));
        let result = scene.meets_server(&Server { config: Arc::new(config) }, "localhost");
        says(result, StoreErrorKind::Unreachable, "");
    }
}

#[test]
fn files_of_roots_that_cannot_be_used() {
    let mut scene = Scene::new(SslMode::Prefer);
    let empty = scene.file("empty.pem", "nothing\n");
    scene.settings.root = Some(Root::File(named(empty)));
    scene.is_unfit("holds no certificate");
    let cut = scene.file("cut.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n");
    scene.settings.root = Some(Root::File(named(cut)));
    scene.is_unfit("cut off");
    scene.settings.root = Some(Root::File(named(scene.directory.path().to_owned())));
    scene.is_unfit("cannot be read");
}

#[test]
fn revoked_certificates() {
    let mut scene = Scene::trusting(SslMode::VerifyCa);
    let (bad, good) = (scene.localhost(), scene.localhost());
    let (root, ours) = scene.authority.lists(&[&bad], 2900);
    scene.settings.revoked = Some(named(scene.file("both.pem", &(root.clone() + &ours))));
    scene.is_refused(&bad, "localhost", "has been revoked");
    scene.meets(&good, "localhost").unwrap();
    // Every certificate of the chain is checked.
    for one in [&root, &ours] {
        scene.settings.revoked = Some(named(scene.file("one.pem", one)));
        scene.is_refused(&good, "localhost", "no list says whether");
    }
    // A directory adds what is missing, whatever its files are called.
    scene.settings.revoked = Some(named(scene.file("one.pem", &root)));
    scene.file("lists/9c1e3a2b.r0", &ours);
    scene.file("lists/README", "lists of revoked certificates\n");
    scene.settings.revoked_directory = Some(scene.path("lists"));
    scene.meets(&good, "localhost").unwrap();
    scene.is_refused(&bad, "localhost", "has been revoked");
    // Old lists say nothing.
    let (root, ours) = scene.authority.lists(&[], 2021);
    scene.settings.revoked_directory = None;
    scene.settings.revoked = Some(named(scene.file("old.pem", &(root + &ours))));
    scene.is_refused(&good, "localhost", "should have been renewed by 2021-01-01T00:00:00Z");
}

#[test]
fn lists_that_cannot_be_used() {
    let mut scene = Scene::trusting(SslMode::VerifyCa);
    scene.settings.revoked = Some(named(scene.path("not-there.pem")));
    scene.is_unfit("cannot be read");
    scene.settings.revoked = Some(named(scene.file("root-again.pem", &scene.authority.root())));
    scene.is_unfit("holds no list");
    let broken = "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n";
    scene.settings.revoked = Some(named(scene.file("broken.pem", broken)));
    scene.is_unfit("cannot be used");
    scene.settings.revoked = None;
    scene.settings.revoked_directory = Some(scene.path("not-there"));
    scene.is_unfit("cannot be read");
    std::fs::create_dir(scene.path("empty")).unwrap();
    scene.settings.revoked_directory = Some(scene.path("empty"));
    scene.is_unfit("sslcrldir");
}

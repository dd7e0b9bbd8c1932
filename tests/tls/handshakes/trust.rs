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

const ALL_WITH_TLS: [SslMode; 5] =
    [SslMode::Allow, SslMode::Prefer, SslMode::Require, SslMode::VerifyCa, SslMode::VerifyFull];

#[test]
fn a_trusted_server_is_met_in_every_mode() {
    for mode in ALL_WITH_TLS {
        let scene = Scene::trusting(mode);
        let seen = scene.meets(&scene.localhost(), "localhost").unwrap();
        assert_eq!(seen.name.as_deref(), Some("localhost"), "{mode:?}");
        assert_eq!(seen.version, Some(rustls::ProtocolVersion::TLSv1_3));
        assert!(!seen.client);
    }
}

#[test]
fn a_server_of_another_authority_is_refused_in_every_mode() {
    for mode in ALL_WITH_TLS {
        let scene = Scene::trusting(mode);
        let other = Authority::new("ours").issue(&Wanted::server(&["localhost"]));
        scene.is_refused(&other, "localhost", "no trusted authority has signed");
    }
}

#[test]
fn only_verify_full_looks_at_the_name() {
    for mode in [SslMode::Allow, SslMode::Prefer, SslMode::Require, SslMode::VerifyCa] {
        let scene = Scene::trusting(mode);
        scene.meets(&scene.localhost(), "elsewhere.example").unwrap();
    }
    let scene = Scene::trusting(SslMode::VerifyFull);
    let words = "is not for elsewhere.example: it names localhost";
    scene.is_refused(&scene.localhost(), "elsewhere.example", words);
    let server = scene.authority.issue(&Wanted::server(&["db.example", "192.0.2.1"]));
    scene.is_refused(&server, "localhost", "it names db.example, 192.0.2.1");
    scene.is_refused(&server, "192.0.2.2", "is not for 192.0.2.2");
    scene.meets(&server, "192.0.2.1").unwrap();
    let nameless = scene.authority.issue(&Wanted::server(&[]));
    scene.is_refused(&nameless, "localhost", "names no host");
}

#[test]
fn without_roots_the_weaker_modes_trust_any_server_and_the_others_none() {
    for mode in [SslMode::Allow, SslMode::Prefer, SslMode::Require] {
        let scene = Scene::new(mode);
        scene.meets(&scene.localhost(), "elsewhere.example").unwrap();
        let expired = scene.authority.issue(&Wanted::server(&["localhost"]).years(2020, 2021));
        scene.meets(&expired, "localhost").unwrap();
    }
    for mode in [SslMode::VerifyCa, SslMode::VerifyFull] {
        let mut scene = Scene::new(mode);
        let path = scene.path("home/root.crt").display().to_string();
        scene.is_unfit(&format!("there is no file {path}"));
        scene.is_unfit("sslrootcert=system");
        scene.settings.root = None;
        scene.is_unfit("no file is named");
    }
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
fn the_times_of_a_certificate() {
    let scene = Scene::trusting(SslMode::VerifyCa);
    let issued = |from, to| scene.authority.issue(&Wanted::server(&["localhost"]).years(from, to));
    scene.is_refused(&issued(2020, 2021), "localhost", "expired on 2021-01-01T00:00:00Z");
    scene.is_refused(&issued(2899, 2900), "localhost", "is not valid before 2899-01-01T00:00:00Z");
    scene.meets(&issued(2020, 2900), "localhost").unwrap();
}

#[test]
fn a_certificate_for_clients_is_no_servers() {
    let scene = Scene::trusting(SslMode::VerifyCa);
    let client = scene.authority.issue(&Wanted::client("somebody"));
    scene.is_refused(&client, "localhost", "is not made for a server");
}

#[test]
fn a_certificate_that_signed_itself_is_trusted_where_it_is_itself_a_root() {
    let issued = self_signed(&["localhost"]);
    let mut scene = Scene::trusting(SslMode::VerifyFull);
    scene.is_refused(&issued, "localhost", "is an authority's");
    let root = scene.file("self.pem", &issued.chain);
    scene.settings.root = Some(Root::File(named(root)));
    scene.meets(&issued, "localhost").unwrap();
    scene.is_refused(&issued, "elsewhere.example", "it names localhost");
    scene.is_refused(&self_signed(&["localhost"]), "localhost", "is an authority's");
    scene.settings.mode = SslMode::VerifyCa;
    scene.meets(&issued, "elsewhere.example").unwrap();
    let list = scene.authority.lists(&[], 2900).1;
    scene.settings.revoked = Some(named(scene.file("lists.pem", &list)));
    scene.is_refused(&issued, "localhost", "is an authority's");
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
fn the_usual_files_are_used_if_they_are_there() {
    let mut scene = Scene::new(SslMode::VerifyFull);
    scene.file("home/root.crt", &scene.authority.root());
    let issued = scene.localhost();
    scene.meets(&issued, "localhost").unwrap();
    let lists = scene.authority.lists(&[&issued], 2900);
    scene.file("home/root.crl", &(lists.0 + &lists.1));
    scene.is_refused(&issued, "localhost", "has been revoked");
    scene.settings.revoked = None;
    let me = scene.authority.issue(&Wanted::client("me"));
    scene.file("home/postgresql.crt", &me.chain);
    scene.is_unfit("is not there");
    scene.file("home/postgresql.key", &me.key);
    let server = Server::with(&issued, &[&version::TLS13], Some(&scene.authority));
    assert!(scene.meets_server(&server, "localhost").unwrap().client);
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
        scene.is_refused(&good, "localhost", "is not known");
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

//! What we show of ourselves.

use super::authority::{Authority, Wanted};
use super::server::Server;
use super::{Scene, named, says};
use crate::store::StoreErrorKind;
use crate::store::conninfo::SslMode;
use crate::store::postgres::tls::connector;
use rustls::version;
use std::path::Path;

#[test]
fn a_client_certificate_is_shown_to_who_asks() {
    for version in [&version::TLS12, &version::TLS13] {
        let mut scene = Scene::trusting(SslMode::VerifyFull);
        let server = Server::with(&scene.localhost(), &[version], Some(&scene.authority));
        says(scene.meets_server(&server, "localhost"), StoreErrorKind::Unreachable, "client certificate");
        scene.shows(&Authority::new("others").issue(&Wanted::client("me")), 0o600);
        says(scene.meets_server(&server, "localhost"), StoreErrorKind::Unreachable, "refused our client certificate");
        scene.shows(&scene.authority.issue(&Wanted::client("me")), 0o600);
        assert!(scene.meets_server(&server, "localhost").unwrap().client);
        // Who does not ask does not see it.
        assert!(!scene.meets(&scene.localhost(), "localhost").unwrap().client);
    }
}

#[test]
fn client_certificates_and_keys_that_cannot_be_used() {
    let mut scene = Scene::trusting(SslMode::VerifyFull);
    let (me, other) = (scene.authority.issue(&Wanted::client("me")), scene.authority.issue(&Wanted::client("other")));
    scene.settings.certificate = Some(named(scene.path("not-there.crt")));
    scene.is_unfit("not-there.crt cannot be read");
    scene.shows(&me, 0o644);
    scene.is_unfit("its mode is 0644");
    scene.is_unfit("chmod 600");
    scene.shows(&me, 0o600);
    scene.file("client.key", &other.key);
    scene.is_unfit("is not the one to the certificate");
    let secret = "c4n4ry";
    for encrypted in [
        format!("-----BEGIN ENCRYPTED PRIVATE KEY-----\n{secret}\n-----END ENCRYPTED PRIVATE KEY-----\n"),
        format!("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,{secret}\n"),
    ] {
        scene.file("client.key", &encrypted);
        scene.is_unfit("is encrypted");
        scene.is_unfit("openssl pkey -in");
    }
    for broken in [format!("{secret}\n"), format!("-----BEGIN {secret}\n"), String::new()] {
        scene.file("client.key", &broken);
        scene.is_unfit("holds no key");
        assert!(!format!("{:?}", connector(&scene.settings).err()).contains(secret));
    }
    let strange = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    scene.file("client.key", strange);
    scene.is_unfit("is of a kind that is not spoken");
    scene.settings.key = Some(named(scene.path("not-there.key")));
    scene.is_unfit("not-there.key, is not there");
    scene.settings.key = Some(named(scene.directory.path().to_owned()));
    scene.is_unfit("is not a regular file");
    scene.settings.key = None;
    scene.is_unfit("no key is named");
    scene.settings.certificate = Some(named(scene.file("empty.crt", "")));
    scene.is_unfit("holds no certificate");
}

/// The files of a group's key: root may share it for reading, nobody else.
#[test]
fn a_key_that_a_group_may_read() {
    let mut scene = Scene::trusting(SslMode::VerifyFull);
    scene.shows(&scene.authority.issue(&Wanted::client("me")), 0o640);
    if is_roots(&scene.path("client.key")) {
        scene.meets(&scene.localhost(), "localhost").unwrap();
        scene.shows(&scene.authority.issue(&Wanted::client("me")), 0o660);
        scene.is_unfit("at most 0640");
    } else {
        scene.is_unfit("at most 0600");
    }
}

fn is_roots(path: &Path) -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(path).unwrap()) == 0
}

//! Handshakes: versions, client certificates, and servers that do not understand TLS.

use super::server::{Server, answering};
use super::{Scene, named, says};
use crate::support::authority::{Authority, Wanted};
use jobdoctor::store::tls::connector;
use jobdoctor::store::{SslMode, StoreErrorKind, TlsVersion};
use rustls::version;

#[test]
fn versions() {
    let with = |oldest, newest| {
        let mut scene = Scene::trusting(SslMode::VerifyFull);
        (scene.settings.oldest, scene.settings.newest) = (oldest, newest);
        scene
    };
    let (old, new) = (with(TlsVersion::V12, TlsVersion::V12), with(TlsVersion::V13, TlsVersion::V13));
    let server = |scene: &Scene, version| Server::with(&scene.localhost(), &[version], None);
    old.meets_server(&server(&old, &version::TLS12), "localhost").unwrap();
    new.meets_server(&server(&new, &version::TLS13), "localhost").unwrap();
    let words = "no version of TLS in common";
    says(old.meets_server(&server(&old, &version::TLS13), "localhost"), StoreErrorKind::Unreachable, words);
    says(new.meets_server(&server(&new, &version::TLS12), "localhost"), StoreErrorKind::Unreachable, words);
    let seen = old.meets(&old.localhost(), "localhost").unwrap();
    assert_eq!(seen.version, Some(rustls::ProtocolVersion::TLSv1_2));
    with(TlsVersion::V13, TlsVersion::V12).is_unfit("is newer than");
}

#[test]
fn the_name_is_told_or_not() {
    let mut scene = Scene::trusting(SslMode::VerifyFull);
    scene.settings.server_name_indication = false;
    assert_eq!(scene.meets(&scene.localhost(), "localhost").unwrap().name, None);
    scene.is_refused(&scene.localhost(), "elsewhere.example", "it names localhost");
}

#[test]
fn tls_from_the_first_byte_names_its_protocol() {
    let mut scene = Scene::trusting(SslMode::VerifyFull);
    assert_eq!(scene.meets(&scene.localhost(), "localhost").unwrap().protocol, None);
    scene.settings.direct = true;
    let seen = scene.meets(&scene.localhost(), "localhost").unwrap();
    assert_eq!(seen.protocol.as_deref(), Some(b"postgresql".as_slice()));
}

#[test]
fn servers_that_do_not_speak_tls() {
    let scene = Scene::new(SslMode::Require);
    for (answer, words) in [
        (b"N".as_slice(), "does not speak TLS"),
        (b"S", "hung up during the TLS handshake"),
        (b"SHTTP/1.1 400 Bad Request\r\n", "is not TLS"),
    ] {
        let (port, serving) = answering(answer);
        says(scene.connect(port, "localhost"), StoreErrorKind::Unreachable, words);
        serving.join().unwrap();
    }
    // What has nothing to do with TLS is not our business.
    let (port, serving) = answering(b"");
    scene.connect(port, "localhost").unwrap();
    serving.join().unwrap();
}

#[test]
fn a_name_that_is_none() {
    let scene = Scene::new(SslMode::Require);
    let server = Server::showing(&scene.localhost());
    let (port, serving) = server.serve();
    says(scene.connect(port, "fe80::1%eth0"), StoreErrorKind::Unreachable, "neither a host's name nor an address");
    assert_eq!(serving.join().unwrap(), None);
}

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
    scene.is_unfit("is of a kind that is not supported");
    scene.settings.key = Some(named(scene.path("not-there.key")));
    scene.is_unfit("not-there.key, is not there");
    scene.settings.key = Some(named(scene.directory.path().to_owned()));
    scene.is_unfit("is not a regular file");
    scene.settings.key = None;
    scene.is_unfit("no key is named");
    scene.settings.certificate = Some(named(scene.file("empty.crt", "")));
    scene.is_unfit("holds no certificate");
}

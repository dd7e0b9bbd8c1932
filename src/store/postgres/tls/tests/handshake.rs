//! What is offered in a handshake, and servers that do not know what to make of it.

use super::server::{Server, answering};
use super::{Scene, says};
use crate::store::StoreErrorKind;
use crate::store::conninfo::{SslMode, TlsVersion};
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

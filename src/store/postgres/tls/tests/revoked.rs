//! Lists of revoked certificates.

use super::{Scene, named};
use crate::store::conninfo::SslMode;

#[test]
fn revoked_certificates() {
    let mut scene = Scene::trusting(SslMode::VerifyCa);
    let (bad, good) = (scene.localhost(), scene.localhost());
    let (root, ours) = scene.authority.lists(&[&bad], 2900);
    scene.settings.revoked = Some(named(scene.file("both.pem", &(root.clone() + &ours))));
    scene.is_refused(&bad, "localhost", "has been revoked");
    scene.meets(&good, "localhost").unwrap();
    // The whole chain is looked at.
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

//! Real handshakes: a server on a port of its own that says yes to TLS as Postgres does, and the driver with our
//! connector.

mod handshake;
mod server;
mod trust;

use crate::support::authority::{Authority, Issued, Wanted, write};
use jobdoctor::store::tls::{connector, failure};
use jobdoctor::store::{Root, SslMode, StoreError, StoreErrorKind, TlsFile, TlsSettings, TlsVersion};
use postgres::Config;
use postgres::config::{SslMode as Driver, SslNegotiation};
use server::{Seen, Server};
use std::path::PathBuf;
use tempfile::TempDir;

/// Everything that one test needs: an authority, a place for files, and what the address says.
struct Scene {
    authority: Authority,
    directory: TempDir,
    settings: TlsSettings,
}

fn named(path: PathBuf) -> TlsFile {
    TlsFile { path, named: true }
}

impl Scene {
    /// All of libpq's defaults, a home with nothing in it, and an authority that is named only by `trusting`.
    fn new(mode: SslMode) -> Scene {
        let directory = TempDir::new().unwrap();
        let usual = |name: &str| Some(TlsFile { path: directory.path().join("home").join(name), named: false });
        let settings = TlsSettings {
            mode,
            root: usual("root.crt").map(Root::File),
            certificate: usual("postgresql.crt"),
            key: usual("postgresql.key"),
            revoked: usual("root.crl"),
            revoked_directory: None,
            server_name_indication: true,
            oldest: TlsVersion::V12,
            newest: TlsVersion::V13,
            direct: false,
        };
        Scene { authority: Authority::new("ours"), directory, settings }
    }

    fn trusting(mode: SslMode) -> Scene {
        let mut scene = Scene::new(mode);
        let root = scene.file("root.pem", &scene.authority.root());
        scene.settings.root = Some(Root::File(named(root)));
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        write(&self.path(name), text, 0o600)
    }

    fn localhost(&self) -> Issued {
        self.authority.issue(&Wanted::server(&["localhost"]))
    }

    fn shows(&mut self, issued: &Issued, mode: u32) {
        let certificate = write(&self.path("client.crt"), &issued.chain, 0o644);
        let key = write(&self.path("client.key"), &issued.key, mode);
        (self.settings.certificate, self.settings.key) = (Some(named(certificate)), Some(named(key)));
    }

    fn meets(&self, issued: &Issued, host: &str) -> Result<Seen, StoreError> {
        self.meets_server(&Server::showing(issued), host)
    }

    fn meets_server(&self, server: &Server, host: &str) -> Result<Seen, StoreError> {
        // If this fails, the server would wait for a client for ever.
        connector(&self.settings)?;
        let (port, serving) = server.serve();
        let connected = self.connect(port, host);
        let seen = serving.join().unwrap();
        connected.map(|()| seen.expect("a handshake at the server's end too"))
    }

    /// Ok if it comes as far as Postgres' own words, of which this server has none.
    fn connect(&self, port: u16, host: &str) -> Result<(), StoreError> {
        let mut config = Config::new();
        config.host(host).hostaddr([127, 0, 0, 1].into()).port(port).user("nobody").ssl_mode(Driver::Require);
        if self.settings.direct {
            config.ssl_negotiation(SslNegotiation::Direct);
        }
        let error = config.connect(connector(&self.settings)?).err().expect("a server without Postgres behind TLS");
        match failure(&error, host) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    #[track_caller]
    fn is_refused(&self, issued: &Issued, host: &str, words: &str) {
        says(self.meets(issued, host), StoreErrorKind::Unreachable, words);
    }

    #[track_caller]
    fn is_unfit(&self, words: &str) {
        says(connector(&self.settings).map(|_| ()), StoreErrorKind::Unfit, words);
    }
}

#[track_caller]
fn says<T: std::fmt::Debug>(result: Result<T, StoreError>, kind: StoreErrorKind, words: &str) {
    let error = result.expect_err("a refusal");
    assert_eq!(error.kind, kind, "{error:?}");
    let whole = format!("{} | {}", error.message, error.hint.as_deref().unwrap_or_default());
    assert!(whole.contains(words), "{whole:?} lacks {words:?}");
}

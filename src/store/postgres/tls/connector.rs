//! The TLS connector: a driver plug-in, built from the settings, that remembers whether a handshake has begun.

use super::files::{Identity, identity, unusable_identity};
use super::verifier::verifier;
use crate::store::conninfo::{TlsSettings, TlsVersion};
use crate::store::{StoreError, StoreErrorKind};
use ::postgres::Socket;
use ::postgres::tls::{MakeTlsConnect, TlsConnect};
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::{ClientConfig, SupportedProtocolVersion, version};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_postgres_rustls::MakeRustlsConnect;

type Rustls = <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect;

/// Makes a TLS connection out of a plain one.
#[derive(Clone)]
pub struct Tls {
    rustls: MakeRustlsConnect,
    has_begun: Arc<AtomicBool>,
}

pub struct Handshake {
    rustls: Rustls,
    has_begun: Arc<AtomicBool>,
}

impl Tls {
    /// A connector for one attempt, with a memory of its own.
    pub(in super::super) fn for_attempt(&self) -> Tls {
        Tls { rustls: self.rustls.clone(), has_begun: Arc::default() }
    }

    /// True once a server has accepted TLS, so that a handshake began.
    pub(in super::super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::SeqCst)
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;
    type TlsConnect = Handshake;
    type Error = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Self::Error> {
        let rustls = MakeTlsConnect::<Socket>::make_tls_connect(&mut self.rustls, host)?;
        Ok(Handshake { rustls, has_begun: Arc::clone(&self.has_begun) })
    }
}

impl TlsConnect<Socket> for Handshake {
    type Stream = <Rustls as TlsConnect<Socket>>::Stream;
    type Error = <Rustls as TlsConnect<Socket>>::Error;
    type Future = <Rustls as TlsConnect<Socket>>::Future;

    fn connect(self, stream: Socket) -> Self::Future {
        self.has_begun.store(true, Ordering::SeqCst);
        self.rustls.connect(stream)
    }
}

/// The ALPN protocol, which a server requires if TLS comes first.
const PROTOCOL: &[u8] = b"postgresql";

/// Builds a connector from the settings and their files.
pub fn connector(settings: &TlsSettings) -> Result<Tls, StoreError> {
    let rustls = MakeRustlsConnect::new(config(settings)?);
    Ok(Tls { rustls, has_begun: Arc::default() })
}

fn config(settings: &TlsSettings) -> Result<ClientConfig, StoreError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = verifier(settings, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions(settings)?)
        .map_err(|error| StoreError::new(StoreErrorKind::Other, format!("TLS cannot be set up: {error}")))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match identity(settings)? {
        None => builder.with_no_client_auth(),
        Some(Identity { chain, key, files }) => {
            builder.with_client_auth_cert(chain, key).map_err(|error| unusable_identity(&files, &error))?
        }
    };
    config.enable_sni = settings.server_name_indication;
    // As in libpq, every connection makes a full handshake.
    config.resumption = Resumption::disabled();
    if settings.direct {
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
    }
    Ok(config)
}

fn versions(settings: &TlsSettings) -> Result<Vec<&'static SupportedProtocolVersion>, StoreError> {
    let allowed = settings.oldest..=settings.newest;
    if allowed.is_empty() {
        let message = "ssl_min_protocol_version is newer than ssl_max_protocol_version";
        return Err(StoreError::new(StoreErrorKind::Unfit, message));
    }
    let known = [(TlsVersion::V13, &version::TLS13), (TlsVersion::V12, &version::TLS12)];
    Ok(known.into_iter().filter(|(version, _)| allowed.contains(version)).map(|(_, known)| known).collect())
}

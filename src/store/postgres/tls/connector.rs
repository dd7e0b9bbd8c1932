use super::client::{Identity, identity, unusable};
use super::verifier::verifier;
use crate::store::conninfo::{TlsSettings, TlsVersion};
use crate::store::{StoreError, StoreErrorKind};
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::{ClientConfig, SupportedProtocolVersion, version};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// What makes a TLS connection out of a plain one.
pub(in super::super) type Tls = MakeRustlsConnect;

/// The protocol that is asked for where TLS comes first: the server refuses to guess.
const PROTOCOL: &[u8] = b"postgresql";

/// A connector for these settings, with all files read.
///
/// # Errors
/// When one of them is missing or unfit, or the settings contradict each other.
pub(in super::super) fn connector(settings: &TlsSettings) -> Result<Tls, StoreError> {
    config(settings).map(MakeRustlsConnect::new)
}

/// What rustls is told.
pub(super) fn config(settings: &TlsSettings) -> Result<ClientConfig, StoreError> {
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
            builder.with_client_auth_cert(chain, key).map_err(|error| unusable(&files, &error))?
        }
    };
    config.enable_sni = settings.server_name_indication;
    // As with libpq, every connection proves itself anew; servers and poolers forget sessions anyway.
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

//! Checks a server's certificate. rustls verifies the chain and the signature of the handshake; the settings decide
//! which of its findings count.

use super::files::{Identity, identity, revocation_lists, roots, unusable_identity};
use crate::store::conninfo::{Root, SslMode, TlsFile, TlsSettings, TlsVersion};
use crate::store::{StoreError, StoreErrorKind};
use ::postgres::Socket;
use ::postgres::tls::{MakeTlsConnect, TlsConnect};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme, SupportedProtocolVersion, version,
};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_postgres_rustls::MakeRustlsConnect;

pub(super) fn verifier(
    settings: &TlsSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, StoreError> {
    let checks = checks(settings)?;
    let trust = match settings.root.as_ref().filter(|_| checks != Checks::Nothing) {
        None => None,
        Some(root) => {
            let (roots, revoked) = (roots(root)?, revocation_lists(settings)?);
            let pinned = if revoked.is_empty() { roots.named } else { Vec::new() };
            let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots.store), Arc::clone(provider))
                .with_crls(revoked)
                .enforce_revocation_expiration()
                .build()
                .map_err(|error| unfit(&error))?;
            Some(Trust { chain, pinned, checks_name: checks == Checks::Name })
        }
    };
    Ok(Arc::new(Verifier { provider: Arc::clone(provider), trust }))
}

/// How much of a server's certificate is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checks {
    /// A trusted authority signed it, and it names the host.
    Name,
    /// A trusted authority signed it, for any host.
    Authority,
    /// Nothing: an attacker in between can pose as the server.
    Nothing,
}

/// How much these settings check. As libpq: any mode checks if there are root certificates, and a `verify-` mode does
/// not connect without them.
fn checks(settings: &TlsSettings) -> Result<Checks, StoreError> {
    let has_root = match &settings.root {
        Some(Root::System) => true,
        Some(Root::File(file)) => exists(file, settings.mode)?,
        None => false,
    };
    match (settings.mode, has_root) {
        (SslMode::VerifyFull, true) => Ok(Checks::Name),
        (_, true) => Ok(Checks::Authority),
        (SslMode::VerifyCa | SslMode::VerifyFull, false) => Err(no_roots(settings)),
        (_, false) => Ok(Checks::Nothing),
    }
}

/// Whether the file exists. One that a setting names and that cannot be read must not count as missing: the connection
/// would go unchecked.
fn exists(file: &TlsFile, mode: SslMode) -> Result<bool, StoreError> {
    match std::fs::metadata(&file.path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) if file.named || mode >= SslMode::VerifyCa => {
            let message = format!("the root certificates in {} cannot be read: {error}", file.path.display());
            Err(StoreError::new(StoreErrorKind::Unfit, message))
        }
        Err(_) => Ok(false),
    }
}

fn no_roots(settings: &TlsSettings) -> StoreError {
    let mode = settings.mode.name();
    let message = match &settings.root {
        Some(Root::File(file)) => format!(
            "sslmode={mode} needs the certificate of an authority to trust, and there is no file {}",
            file.path.display()
        ),
        _ => format!("sslmode={mode} needs the certificate of an authority to trust, and no file is named"),
    };
    StoreError::new(StoreErrorKind::Unfit, message).hint(
        "sslrootcert=FILE names it; sslrootcert=system takes the authorities of the operating system; sslmode=require \
         encrypts and checks no certificate",
    )
}

fn unfit(error: &VerifierBuilderError) -> StoreError {
    let message = match error {
        VerifierBuilderError::InvalidCrl(why) => format!("a list of revoked certificates cannot be used: {why:?}"),
        other => format!("the root certificates cannot be used: {other}"),
    };
    StoreError::new(StoreErrorKind::Unfit, message)
        .hint("`openssl crl -text -in FILE` shows what is in a list; version 2 lists are understood")
}

/// Has the server prove that it holds its certificate's key, and checks the certificate against `trust`, if there is
/// any.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    trust: Option<Trust>,
}

/// Checks the chain up to a trusted authority and, in `verify-full`, the name.
#[derive(Debug)]
struct Trust {
    chain: Arc<WebPkiServerVerifier>,
    /// Certificates that are trusted by themselves. Empty if there are revocation lists: no list covers a self-signed
    /// certificate, and an unknown status is not trusted.
    pinned: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

impl Trust {
    /// Whether a refused certificate is a self-signed one that is itself among the roots, as `openssl req -x509` makes
    /// it and the Postgres manual shows. OpenSSL trusts it; rustls refuses it as an authority's, after it has checked
    /// the dates.
    fn is_pinned(&self, certificate: &CertificateDer<'_>, refusal: &Error) -> bool {
        let is_an_authority = match refusal {
            Error::InvalidCertificate(CertificateError::Other(why)) => why.to_string() == "CaUsedAsEndEntity",
            _ => false,
        };
        is_an_authority && self.pinned.iter().any(|pinned| pinned == certificate)
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trust) = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        match trust.chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // rustls checks the name last: a certificate that fails only there has passed every other check.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !trust.checks_name => Ok(ServerCertVerified::assertion()),
            Err(refusal) if trust.is_pinned(end_entity, &refusal) => {
                if trust.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

type Rustls = <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect;

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
        Some(Identity { chain, key, files: (of_chain, of_key) }) => {
            builder.with_client_auth_cert(chain, key).map_err(|error| unusable_identity(&of_chain, &of_key, &error))?
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

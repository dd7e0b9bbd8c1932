//! Who a server has to be. The chain of certificates and the signature of the handshake are rustls' business
//! throughout; what is decided here is which of its findings count.

use super::revoked::revoked;
use super::roots::roots;
use super::verified::{Verified, verifies};
use crate::store::conninfo::TlsSettings;
use crate::store::{StoreError, StoreErrorKind};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use std::sync::Arc;

/// The verifier that these settings ask for.
///
/// # Errors
/// When a file that it takes is missing or unfit.
pub(super) fn verifier(
    settings: &TlsSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, StoreError> {
    let verified = verifies(settings)?;
    let Some(root) = settings.root.as_ref().filter(|_| verified != Verified::Nothing) else {
        return Ok(Arc::new(Unverified { provider: Arc::clone(provider) }));
    };
    let (roots, revoked) = (roots(root)?, revoked(settings)?);
    let pinned = if revoked.is_empty() { roots.named } else { Vec::new() };
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots.store), Arc::clone(provider))
        .with_crls(revoked)
        .enforce_revocation_expiration()
        .build()
        .map_err(|error| unfit(&error))?;
    Ok(Arc::new(Verifier { chain, pinned, checks_name: verified == Verified::Name }))
}

fn unfit(error: &VerifierBuilderError) -> StoreError {
    let message = match error {
        VerifierBuilderError::InvalidCrl(why) => format!("a list of revoked certificates cannot be used: {why:?}"),
        other => format!("the root certificates cannot be used: {other}"),
    };
    StoreError::new(StoreErrorKind::Unfit, message)
        .hint("`openssl crl -text -in FILE` shows what is in a list; version 2 lists are understood")
}

/// Checks the chain up to a trusted authority and, in `verify-full`, the name.
#[derive(Debug)]
struct Verifier {
    chain: Arc<WebPkiServerVerifier>,
    /// Certificates that are trusted by themselves. Empty where lists of revoked ones are in force: such a list says
    /// nothing of a certificate that signed itself, and what is not known is not trusted.
    pinned: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

impl Verifier {
    /// A server's own self-signed certificate, which names it an authority too, is what `openssl req -x509` makes and
    /// what the Postgres manual shows. OpenSSL trusts it where it is itself among the roots. rustls refuses it for
    /// being an authority's, which it looks at only once the times were found to be right.
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
        match self.chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is looked at last: whoever fails on it alone has passed all else.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            Err(refusal) if self.is_pinned(end_entity, &refusal) => {
                if self.checks_name {
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
        self.chain.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}

/// Takes any certificate, and still has the server prove that it holds its key.
#[derive(Debug)]
struct Unverified {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
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

use super::pem;
use crate::store::conninfo::Root;
use crate::store::{StoreError, StoreErrorKind};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;

/// Whom to trust.
#[derive(Debug)]
pub(super) struct Roots {
    /// The authorities.
    pub(super) store: RootCertStore,
    /// The certificates of a file as they are: a server may show one of these very ones.
    pub(super) named: Vec<CertificateDer<'static>>,
}

/// Reads them.
///
/// # Errors
/// When there are none, or they cannot be read.
pub(super) fn roots(root: &Root) -> Result<Roots, StoreError> {
    match root {
        Root::System => system(),
        Root::File(file) => {
            let named: Vec<CertificateDer<'static>> = pem::sections(&file.path, "the root certificates")?;
            let store = store(named.clone());
            if store.is_empty() {
                let message = format!("{} holds no certificate that can be used", file.path.display());
                let hint = "sslrootcert names a PEM file with the certificates of the authorities to trust";
                return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(hint));
            }
            Ok(Roots { store, named })
        }
    }
}

/// What cannot be parsed is left out: that trusts less, never more. Systems carry some old oddities.
fn store(certificates: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    store
}

fn system() -> Result<Roots, StoreError> {
    let found = rustls_native_certs::load_native_certs();
    let store = store(found.certs);
    if store.is_empty() {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        let message = format!("sslrootcert=system: this system has no authorities to trust{why}");
        let hint = "install its package of authorities (ca-certificates), or name a file: sslrootcert=FILE. \
                    SSL_CERT_FILE and SSL_CERT_DIR name other places to look in";
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(hint));
    }
    Ok(Roots { store, named: Vec::new() })
}

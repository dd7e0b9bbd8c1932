//! The files that TLS settings name: root certificates, revocation lists, the client's certificate and key.

use crate::store::conninfo::{Root, TlsFile, TlsSettings, read_plain};
use crate::store::{StoreError, StoreErrorKind};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::{Error, InconsistentKeys, RootCertStore};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Roots {
    pub(super) store: RootCertStore,
    /// The certificates of a file as they are: a server may present one of them as its own.
    pub(super) named: Vec<CertificateDer<'static>>,
}

pub(super) fn roots(root: &Root) -> Result<Roots, StoreError> {
    match root {
        Root::System => system_roots(),
        Root::File(file) => {
            let named: Vec<CertificateDer<'static>> = sections(&file.path, "the root certificates")?;
            let store = parsable(named.clone());
            if store.is_empty() {
                let message = format!("{} holds no certificate that can be used", file.path.display());
                let hint = "sslrootcert names a PEM file with the certificates of the authorities to trust";
                return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(hint));
            }
            Ok(Roots { store, named })
        }
    }
}

/// Skips what cannot be parsed, which trusts less, never more: systems carry some odd old certificates.
fn parsable(certificates: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    store
}

fn system_roots() -> Result<Roots, StoreError> {
    let found = rustls_native_certs::load_native_certs();
    let store = parsable(found.certs);
    if store.is_empty() {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        let message = format!("sslrootcert=system: this system has no authorities to trust{why}");
        let hint = "install its package of authorities (ca-certificates), or name a file: sslrootcert=FILE. \
                    SSL_CERT_FILE and SSL_CERT_DIR name other places to look in";
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(hint));
    }
    Ok(Roots { store, named: Vec::new() })
}

type RevocationList = CertificateRevocationListDer<'static>;

/// The revocation lists; empty if no setting asks for any. The default list is read only where the roots come from a
/// file.
///
/// # Errors
/// When a list that a setting names does not exist, cannot be read or is empty: a revoked certificate would go
/// unnoticed.
pub(super) fn revocation_lists(settings: &TlsSettings) -> Result<Vec<RevocationList>, StoreError> {
    let mut lists = Vec::new();
    let has_root_file = matches!(settings.root, Some(Root::File(_)));
    if let Some(file) = settings.revoked.as_ref().filter(|file| file.named || (has_root_file && file.path.exists())) {
        let found: Vec<RevocationList> = sections(&file.path, "the list of revoked certificates")?;
        if found.is_empty() {
            return Err(no_list(&file.path, "sslcrl"));
        }
        lists.extend(found);
    }
    if let Some(directory) = &settings.revoked_directory {
        let found = lists_in(directory)?;
        if found.is_empty() {
            return Err(no_list(directory, "sslcrldir"));
        }
        lists.extend(found);
    }
    Ok(lists)
}

/// All lists in a directory, under any file name; other files are allowed.
fn lists_in(directory: &Path) -> Result<Vec<RevocationList>, StoreError> {
    let what = "the lists of revoked certificates";
    let entries = fs::read_dir(directory).map_err(|error| unreadable(directory, what, &error))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries {
        files.push(entry.map_err(|error| unreadable(directory, what, &error))?.path());
    }
    files.retain(|path| path.is_file());
    files.sort();
    let mut lists = Vec::new();
    for file in files {
        lists.extend(sections::<RevocationList>(&file, what)?);
    }
    Ok(lists)
}

fn no_list(path: &Path, key: &str) -> StoreError {
    let message = format!("{} holds no list of revoked certificates", path.display());
    let hint =
        format!("{key} takes lists in PEM form (BEGIN X509 CRL); `openssl crl -inform DER` turns others into it");
    StoreError::new(StoreErrorKind::Unfit, message).hint(hint)
}

/// The client certificate with its chain, and its key.
pub(super) struct Identity {
    /// The client certificate, then those that signed it.
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
    /// The files of certificate and key.
    pub(super) files: (PathBuf, PathBuf),
}

/// Reads the client certificate and key; `None` if no setting names a certificate and the default file does not exist.
pub(super) fn identity(settings: &TlsSettings) -> Result<Option<Identity>, StoreError> {
    let Some(file) = &settings.certificate else { return Ok(None) };
    if !exists(file)? {
        return Ok(None);
    }
    let chain: Vec<CertificateDer<'static>> = sections(&file.path, "the client certificate")?;
    if chain.is_empty() {
        let message = format!("{} holds no certificate", file.path.display());
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint("sslcert names a certificate in PEM form"));
    }
    let Some(key_file) = &settings.key else {
        let message = format!("there is a client certificate, {}, and no key is named for it", file.path.display());
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(KEY_HINT));
    };
    let key = private_key(&key_file.path, &file.path)?;
    Ok(Some(Identity { chain, key, files: (file.path.clone(), key_file.path.clone()) }))
}

const KEY_HINT: &str = "sslkey=FILE names the key; sslcertmode=disable sends no certificate";

/// Whether the file exists; only a file that a setting names must.
fn exists(file: &TlsFile) -> Result<bool, StoreError> {
    match fs::metadata(&file.path) {
        Ok(_) => Ok(true),
        Err(error) if file.named => Err(unreadable(&file.path, "the client certificate", &error)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(unreadable(&file.path, "the client certificate", &error)),
    }
}

/// Reads a private key that no other user can read. No error repeats its contents.
fn private_key(path: &Path, certificate: &Path) -> Result<PrivateKeyDer<'static>, StoreError> {
    let shown = path.display();
    let unfit = |message: String| StoreError::new(StoreErrorKind::Unfit, message);
    let file = match fs::metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let certificate = certificate.display();
            let message =
                format!("there is a client certificate, {certificate}, and the key to it, {shown}, is not there");
            return Err(unfit(message).hint(KEY_HINT));
        }
        Err(error) => return Err(unreadable(path, "the client's key", &error)),
    };
    if !file.is_file() {
        return Err(unfit(format!("the client's key, {shown}, is not a regular file")));
    }
    // A key of root may be readable for a group, as libpq allows; any other key for its owner only.
    let (others, most) = if file.uid() == 0 { (0o037, "0640") } else { (0o077, "0600") };
    if file.mode() & others != 0 {
        let mode = file.mode() & 0o7777;
        let message =
            format!("the client's key, {shown}, can be used by others: its mode is {mode:04o}, at most {most} will do");
        return Err(unfit(message).hint(format!("chmod 600 {shown}")));
    }
    let text = read_plain(path).map_err(|error| unreadable(path, "the client's key", &error))?;
    if is_encrypted(&text) {
        let message = format!("the client's key, {shown}, is encrypted, and jobdoctor cannot take its password");
        let hint = format!("(umask 077; openssl pkey -in {shown} -out {shown}.plain), and sslkey={shown}.plain");
        return Err(unfit(message).hint(hint));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| {
        let message = format!("{shown} holds no key that can be read");
        unfit(message).hint("sslkey names a private key in PEM form")
    })
}

/// Encrypted as a whole (PKCS#8), or in OpenSSL's older format with a header.
fn is_encrypted(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("DEK-Info:")
}

/// The error for a certificate and key that rustls does not accept.
pub(super) fn unusable_identity(certificate: &Path, key: &Path, error: &Error) -> StoreError {
    let (certificate, key) = (certificate.display(), key.display());
    let (message, hint) = match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => (
            format!("the key in {key} is not the one to the certificate in {certificate}"),
            "sslcert and sslkey must belong together".to_owned(),
        ),
        _ => (
            format!("the key in {key}, or the certificate in {certificate}, is of a kind that is not supported"),
            "keys can be RSA of at least 2048 bits, ECDSA on P-256 or P-384, or Ed25519".to_owned(),
        ),
    };
    StoreError::new(StoreErrorKind::Unfit, message).hint(hint)
}

/// All sections of one kind in a PEM file, perhaps none. `what` names the expected contents in errors.
fn sections<T: PemObject>(path: &Path, what: &str) -> Result<Vec<T>, StoreError> {
    let text = read_plain(path).map_err(|error| unreadable(path, what, &error))?;
    // The parser's own error may repeat a line of the file, which may be a key that was named by mistake.
    T::pem_slice_iter(&text).collect::<Result<_, _>>().map_err(|_| {
        let message = format!("{what} in {} cannot be read: the file is cut off, or no PEM file", path.display());
        StoreError::new(StoreErrorKind::Unfit, message)
    })
}

fn unreadable(path: &Path, what: &str, error: &std::io::Error) -> StoreError {
    StoreError::new(StoreErrorKind::Unfit, format!("{what} in {} cannot be read: {error}", path.display()))
}

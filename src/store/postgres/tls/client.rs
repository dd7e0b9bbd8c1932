use super::pem;
use crate::store::conninfo::{TlsFile, TlsSettings};
use crate::store::{StoreError, StoreErrorKind};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, InconsistentKeys};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What we show of ourselves: a certificate with its chain, and the key to it.
pub(super) struct Identity {
    /// The certificate first, then those that signed it.
    pub(super) chain: Vec<CertificateDer<'static>>,
    /// The key.
    pub(super) key: PrivateKeyDer<'static>,
    /// The files of both.
    pub(super) files: (PathBuf, PathBuf),
}

/// Reads it; none if there is no certificate and nobody named one.
///
/// # Errors
/// When a certificate was named and is not there, or has no key beside it that can be used.
pub(super) fn identity(settings: &TlsSettings) -> Result<Option<Identity>, StoreError> {
    let Some(file) = &settings.certificate else { return Ok(None) };
    if !is_there(file)? {
        return Ok(None);
    }
    let chain: Vec<CertificateDer<'static>> = pem::sections(&file.path, "the client certificate")?;
    if chain.is_empty() {
        let message = format!("{} holds no certificate", file.path.display());
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint("sslcert names a certificate in PEM form"));
    }
    let Some(key_file) = &settings.key else {
        let message = format!("there is a client certificate, {}, and no key is named for it", file.path.display());
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(TO_GO_ON));
    };
    let key = key(&key_file.path, &file.path)?;
    Ok(Some(Identity { chain, key, files: (file.path.clone(), key_file.path.clone()) }))
}

/// What to do about half an identity.
const TO_GO_ON: &str = "sslkey=FILE names the key; sslcertmode=disable leaves the certificate at home";

/// One that nobody named is looked for where it may well not be, even in a directory that is closed to us.
fn is_there(file: &TlsFile) -> Result<bool, StoreError> {
    match fs::metadata(&file.path) {
        Ok(_) => Ok(true),
        Err(error) if file.named => Err(pem::unreadable(&file.path, "the client certificate", &error)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(pem::unreadable(&file.path, "the client certificate", &error)),
    }
}

/// Reads a key, having made sure that nobody else can. No error repeats a word of it.
fn key(path: &Path, certificate: &Path) -> Result<PrivateKeyDer<'static>, StoreError> {
    let shown = path.display();
    let unfit = |message: String| StoreError::new(StoreErrorKind::Unfit, message);
    let file = match fs::metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let certificate = certificate.display();
            let message =
                format!("there is a client certificate, {certificate}, and the key to it, {shown}, is not there");
            return Err(unfit(message).hint(TO_GO_ON));
        }
        Err(error) => return Err(pem::unreadable(path, "the client's key", &error)),
    };
    if !file.is_file() {
        return Err(unfit(format!("the client's key, {shown}, is not a regular file")));
    }
    // Root's keys may be shared with a group that we are in; ours, and whoever else's we can read, with nobody.
    let (others, most) = if file.uid() == 0 { (0o037, "0640") } else { (0o077, "0600") };
    if file.mode() & others != 0 {
        let mode = file.mode() & 0o7777;
        let message =
            format!("the client's key, {shown}, can be used by others: its mode is {mode:04o}, at most {most} will do");
        return Err(unfit(message).hint(format!("chmod 600 {shown}")));
    }
    let text = fs::read(path).map_err(|error| pem::unreadable(path, "the client's key", &error))?;
    if is_encrypted(&text) {
        let message = format!("the client's key, {shown}, is encrypted, and there is no way to say its password");
        let hint = format!("(umask 077; openssl pkey -in {shown} -out {shown}.plain), and sslkey={shown}.plain");
        return Err(unfit(message).hint(hint));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| {
        let message = format!("{shown} holds no key that can be read");
        unfit(message).hint("sslkey names a private key in PEM form")
    })
}

/// Encrypted as a whole, or in OpenSSL's older way with a header before the key.
fn is_encrypted(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("DEK-Info:")
}

/// What it means if certificate and key cannot be used.
pub(super) fn unusable((certificate, key): &(PathBuf, PathBuf), error: &Error) -> StoreError {
    let (certificate, key) = (certificate.display(), key.display());
    let (message, hint) = match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => (
            format!("the key in {key} is not the one to the certificate in {certificate}"),
            "sslcert and sslkey must belong together".to_owned(),
        ),
        _ => (
            format!("the key in {key}, or the certificate in {certificate}, is of a kind that is not spoken here"),
            "keys can be RSA of at least 2048 bits, ECDSA on P-256 or P-384, or Ed25519".to_owned(),
        ),
    };
    StoreError::new(StoreErrorKind::Unfit, message).hint(hint)
}

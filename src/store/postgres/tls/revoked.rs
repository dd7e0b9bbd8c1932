use super::pem;
use crate::store::conninfo::{Root, TlsSettings};
use crate::store::{StoreError, StoreErrorKind};
use rustls::pki_types::CertificateRevocationListDer;
use std::path::{Path, PathBuf};

type List = CertificateRevocationListDer<'static>;

/// The lists of revoked certificates; empty if none are asked for. One that nobody named is looked for only beside a
/// file of root certificates.
///
/// # Errors
/// When what was named is not there, cannot be read, or holds no list: then nobody would be found revoked.
pub(super) fn revoked(settings: &TlsSettings) -> Result<Vec<List>, StoreError> {
    let mut lists = Vec::new();
    let beside_a_file = matches!(settings.root, Some(Root::File(_)));
    if let Some(file) = settings.revoked.as_ref().filter(|file| file.named || (beside_a_file && file.path.exists())) {
        let found: Vec<List> = pem::sections(&file.path, "the list of revoked certificates")?;
        if found.is_empty() {
            return Err(empty(&file.path, "sslcrl"));
        }
        lists.extend(found);
    }
    if let Some(directory) = &settings.revoked_directory {
        let found = in_directory(directory)?;
        if found.is_empty() {
            return Err(empty(directory, "sslcrldir"));
        }
        lists.extend(found);
    }
    Ok(lists)
}

/// All lists in a directory, whatever their files are called: OpenSSL finds them by a hash in the name, and there may
/// be other files.
fn in_directory(directory: &Path) -> Result<Vec<List>, StoreError> {
    let what = "the lists of revoked certificates";
    let entries = std::fs::read_dir(directory).map_err(|error| pem::unreadable(directory, what, &error))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries {
        files.push(entry.map_err(|error| pem::unreadable(directory, what, &error))?.path());
    }
    files.retain(|path| path.is_file());
    files.sort();
    let mut lists = Vec::new();
    for file in files {
        lists.extend(pem::sections::<List>(&file, what)?);
    }
    Ok(lists)
}

fn empty(path: &Path, key: &str) -> StoreError {
    let message = format!("{} holds no list of revoked certificates", path.display());
    let hint =
        format!("{key} takes lists in PEM form (BEGIN X509 CRL); `openssl crl -inform DER` turns others into it");
    StoreError::new(StoreErrorKind::Unfit, message).hint(hint)
}

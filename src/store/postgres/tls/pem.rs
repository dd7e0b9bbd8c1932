use crate::store::{StoreError, StoreErrorKind};
use rustls::pki_types::pem::PemObject;
use std::path::Path;

/// All sections of one kind in a PEM file; there may be none. `what` is what the file was to hold.
///
/// # Errors
/// When it cannot be read or is broken.
pub(super) fn sections<T: PemObject>(path: &Path, what: &str) -> Result<Vec<T>, StoreError> {
    let text = std::fs::read(path).map_err(|error| unreadable(path, what, &error))?;
    // A parser's own words may repeat a line of the file, and the file may be a key that was named by mistake.
    T::pem_slice_iter(&text).collect::<Result<_, _>>().map_err(|_| {
        let message = format!("{what} in {} cannot be read: the file is cut off, or no PEM file", path.display());
        StoreError::new(StoreErrorKind::Unfit, message)
    })
}

/// A file of ours that cannot be opened.
pub(super) fn unreadable(path: &Path, what: &str, error: &std::io::Error) -> StoreError {
    StoreError::new(StoreErrorKind::Unfit, format!("{what} in {} cannot be read: {error}", path.display()))
}

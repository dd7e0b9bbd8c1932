use crate::store::conninfo::{Root, SslMode, TlsFile, TlsSettings};
use crate::store::{StoreError, StoreErrorKind};
use std::io::ErrorKind;

/// How much of a server's certificate is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verified {
    /// That a trusted authority signed it, and that it names the host.
    Name,
    /// That a trusted authority signed it, for whichever host.
    Authority,
    /// Nothing: whoever is on the way can be the server.
    Nothing,
}

/// How much is checked with these settings. libpq checks wherever there are root certificates, whatever the mode; and
/// where a mode says that it checks and there are none, it does not connect.
///
/// # Errors
/// When there is nothing to check with, and the mode says to check.
pub(super) fn verifies(settings: &TlsSettings) -> Result<Verified, StoreError> {
    let has_root = match &settings.root {
        Some(Root::System) => true,
        Some(Root::File(file)) => is_there(file, settings.mode)?,
        None => false,
    };
    match (settings.mode, has_root) {
        (SslMode::VerifyFull, true) => Ok(Verified::Name),
        (_, true) => Ok(Verified::Authority),
        (SslMode::VerifyCa | SslMode::VerifyFull, false) => Err(nothing_to_check_with(settings)),
        (_, false) => Ok(Verified::Nothing),
    }
}

/// A file that was named and cannot be looked at must not pass for one that is not there: the connection would go
/// unchecked.
fn is_there(file: &TlsFile, mode: SslMode) -> Result<bool, StoreError> {
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

fn nothing_to_check_with(settings: &TlsSettings) -> StoreError {
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
         encrypts and checks nobody",
    )
}

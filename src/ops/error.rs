use crate::journal::JournalError;
use crate::policy::ScopeError;
use crate::spec::{ResolveError, SpecError};
use crate::store::StoreError;
use std::fmt;
use std::io;

/// Why a use case could not be carried out.
#[derive(Debug)]
pub enum OpsError {
    /// The store is at fault.
    Store(StoreError),
    /// A preset, a mapping or the way it fits the tables is at fault.
    Spec(SpecError),
    /// What was asked for makes no sense here.
    Usage {
        /// What is wrong.
        message: String,
        /// What to say instead.
        hint: String,
    },
    /// A file that was named cannot be used.
    File {
        /// Which, and why.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The temporary file of a long list could not be written or read.
    Spool(io::Error),
    /// A journal cannot be read.
    Journal(JournalError),
}

impl OpsError {
    /// A usage error.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> OpsError {
        OpsError::Usage { message: message.into(), hint: hint.into() }
    }

    /// The same with advice, for an error that has none yet.
    #[must_use]
    pub fn hint(mut self, advice: impl Into<String>) -> OpsError {
        if let OpsError::File { hint, .. } = &mut self {
            hint.get_or_insert_with(|| advice.into());
        }
        self
    }
}

impl fmt::Display for OpsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpsError::Store(error) => error.fmt(f),
            OpsError::Spec(error) => error.fmt(f),
            OpsError::Usage { message, .. } | OpsError::File { message, .. } => f.write_str(message),
            OpsError::Journal(error) => error.fmt(f),
            OpsError::Spool(error) => write!(f, "the temporary file of a long list failed: {error}"),
        }
    }
}

impl std::error::Error for OpsError {}

impl From<StoreError> for OpsError {
    fn from(error: StoreError) -> Self {
        OpsError::Store(error)
    }
}

impl From<JournalError> for OpsError {
    fn from(error: JournalError) -> Self {
        OpsError::Journal(error)
    }
}

impl From<SpecError> for OpsError {
    fn from(error: SpecError) -> Self {
        OpsError::Spec(error)
    }
}

impl From<io::Error> for OpsError {
    fn from(error: io::Error) -> Self {
        OpsError::Spool(error)
    }
}

impl From<ScopeError> for OpsError {
    fn from(error: ScopeError) -> Self {
        OpsError::usage(error.0, "patterns know * ? [abc] and {a,b}; quote them for the shell")
    }
}

impl From<ResolveError<StoreError>> for OpsError {
    fn from(error: ResolveError<StoreError>) -> Self {
        match error {
            ResolveError::Spec(error) => OpsError::Spec(error),
            ResolveError::Ask(error) => OpsError::Store(error),
        }
    }
}

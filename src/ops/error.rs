//! Why a use case could not be carried out.

use crate::history::JournalError;
use crate::output::Request;
use crate::policy::ScopeError;
use crate::preset::{Jobs, ResolveError, SpecError};
use crate::store::StoreError;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A preset or mapping is wrong, or does not fit the tables.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The request makes no sense, or this queue cannot serve it.
    #[error("{message}")]
    Usage { message: String, hint: String },
    /// A file that was named cannot be used.
    #[error("{message}")]
    File { message: String, hint: Option<String> },
    /// The temporary file of a long list could not be written.
    #[error("the temporary file of a long list cannot be written: {0}")]
    ListFile(#[from] io::Error),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl OpsError {
    /// A request that this queue cannot serve.
    pub(super) fn unsupported(jobs: &Jobs, request: &Request) -> OpsError {
        let (message, hint) = request.unsupported(&jobs.queue.preset);
        OpsError::Usage { message, hint }
    }

    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> OpsError {
        OpsError::Usage { message: message.into(), hint: hint.into() }
    }

    /// The error with advice, if it is about a file and has none yet.
    #[must_use]
    pub fn hint(mut self, advice: impl Into<String>) -> OpsError {
        if let OpsError::File { hint, .. } = &mut self {
            hint.get_or_insert_with(|| advice.into());
        }
        self
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

//! Errors that end the program, each with its exit code.

use super::{Exit, masked};
use crate::history::JournalError;
use crate::ops::OpsError;
use crate::output::format::inert;
use crate::output::{ErrorDocument, remedy};
use crate::preset::{SpecError, TableInError};
use crate::store::{AddressError, StoreError, StoreErrorKind};
use std::io::ErrorKind::PermissionDenied;

#[derive(Debug, Clone)]
pub struct CliError {
    pub exit: Exit,
    /// What went wrong, and where.
    pub message: String,
    pub hints: Vec<String>,
    /// A table whose mapping could be drafted.
    pub lookalike: Option<String>,
}

impl CliError {
    pub fn new(exit: Exit, message: impl Into<String>) -> CliError {
        CliError { exit, message: message.into(), hints: Vec::new(), lookalike: None }
    }

    pub fn usage(message: impl Into<String>) -> CliError {
        CliError::new(Exit::Usage, message)
    }

    /// The error document. A message may quote a password, which is hidden.
    pub fn document(&self) -> ErrorDocument {
        ErrorDocument {
            schema: "jobdoctor.error/v1",
            code: self.exit.code(),
            kind: self.exit.name().to_owned(),
            message: masked(&self.message),
            hints: self.hints.iter().map(|hint| masked(hint)).collect(),
        }
    }

    /// The error after a signal, if one came: the signal is why the program ends.
    pub fn after(self, signal: Option<i32>) -> CliError {
        match (signal, self.exit) {
            (None, _) => self,
            (Some(signal), Exit::Signal(_)) => CliError::new(Exit::Signal(signal), "interrupted; nothing was written"),
            (Some(signal), _) => CliError { exit: Exit::Signal(signal), ..self },
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hints.push(hint.into());
        self
    }

    pub fn hints(mut self, hints: impl IntoIterator<Item = String>) -> CliError {
        self.hints.extend(hints);
        self
    }
}

/// Turns an error of a file or stream, whose contexts name the operation, into one that ends the program.
pub(super) trait OrEnd<T> {
    /// The value, or an error that ends with this code and names every cause.
    fn or_end(self, exit: Exit) -> Result<T, CliError>;
}

impl<T> OrEnd<T> for anyhow::Result<T> {
    fn or_end(self, exit: Exit) -> Result<T, CliError> {
        self.map_err(|error| CliError::new(exit, format!("{error:#}")))
    }
}

pub(super) fn exit_of(kind: StoreErrorKind) -> Exit {
    match kind {
        StoreErrorKind::Missing => Exit::NoInput,
        StoreErrorKind::Unreachable | StoreErrorKind::Lost => Exit::Unavailable,
        StoreErrorKind::Busy | StoreErrorKind::SweepLockHeld | StoreErrorKind::TimedOut | StoreErrorKind::Conflict => {
            Exit::TryAgain
        }
        StoreErrorKind::Refused => Exit::Refused,
        StoreErrorKind::Unknown => Exit::Unknown,
        StoreErrorKind::Denied => Exit::NoPermission,
        StoreErrorKind::Unfit | StoreErrorKind::RowData => Exit::Config,
        // A caught signal decides instead.
        StoreErrorKind::Interrupted => Exit::Signal(signal_hook::consts::SIGINT),
        StoreErrorKind::Other => Exit::Internal,
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        // A message from a server or a trigger must not forge a line of ours.
        let hint = error.hint.as_deref().map(|hint| inert(hint).into_owned());
        let parts: Vec<String> = hint.into_iter().chain(error.remedy.map(|r| remedy(r).to_owned())).collect();
        CliError::new(exit_of(error.kind), inert(&error.to_string()))
            .hints((!parts.is_empty()).then(|| parts.join("; ")))
    }
}

impl From<SpecError> for CliError {
    fn from(error: SpecError) -> Self {
        let file = error.at.built_in().map(|preset| format!("`jobdoctor presets show {preset}` prints that file"));
        let hints = error.remedy.map(|r| remedy(r).to_owned()).into_iter().chain(file).collect();
        let message = error.to_string();
        let lookalike =
            if let Some(TableInError::Lookalike(table)) = error.table.map(|table| *table) { Some(table) } else { None };
        CliError { exit: Exit::Config, message, hints, lookalike }
    }
}

impl From<AddressError> for CliError {
    fn from(error: AddressError) -> Self {
        CliError::new(if error.in_a_file { Exit::Config } else { Exit::Usage }, error.message)
    }
}

impl From<OpsError> for CliError {
    fn from(error: OpsError) -> Self {
        match error {
            OpsError::Store(error) => error.into(),
            OpsError::Spec(error) => error.into(),
            OpsError::Usage { message, hint } => CliError::usage(message).hint(hint),
            OpsError::File { message, hint } => CliError::new(Exit::Config, message).hints(hint),
            OpsError::Journal(error) => {
                let exit = match &error {
                    JournalError::Io { error, .. } if error.kind() == PermissionDenied => Exit::NoPermission,
                    _ => Exit::Config,
                };
                CliError::new(exit, error.to_string()).hint(error.hint())
            }
            OpsError::ListFile(_) => CliError::new(Exit::Internal, error.to_string()),
        }
    }
}

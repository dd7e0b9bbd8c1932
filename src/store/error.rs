//! Errors of a store.

use crate::model::Remedy;
use crate::preset::Jobs;

/// The kinds of error that an operator acts on differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The file does not exist, or is not a database.
    Missing,
    Unreachable,
    Lost,
    /// Another session holds a lock; trying again may help.
    Busy,
    /// Another run holds the sweep lock; trying again in a moment helps.
    SweepLockHeld,
    /// The time limit ran out; trying again may help.
    TimedOut,
    Interrupted,
    /// A deadlock or a serialization failure; trying again helps.
    Conflict,
    /// Authentication failed, or a privilege is missing.
    Denied,
    /// Whether the write was committed is unknown.
    Unknown,
    /// A guard that the operator can override refused; nothing was written.
    Refused,
    /// Tables or columns are not what the preset says, or a setting of the connection is unusable.
    Unfit,
    /// A row's data is the reason: a constraint, a check, a trigger, an overflow.
    RowData,
    /// Any other error of the database.
    Other,
}

/// An error of a store, without secrets.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}{}", in_brackets(code.as_deref()))]
pub struct StoreError {
    pub kind: StoreErrorKind,
    pub message: String,
    pub hint: Option<String>,
    /// What to try with an option or a command of jobdoctor.
    pub remedy: Option<Remedy>,
    /// The SQLSTATE, or SQLite's extended result code.
    pub code: Option<String>,
    pub constraint: Option<String>,
}

impl StoreError {
    /// True if it is about the whole database or connection, and not about what one statement asks for.
    pub fn spoils_the_snapshot(&self) -> bool {
        use StoreErrorKind::{Interrupted, Lost, Missing, Unreachable};
        matches!(self.kind, Interrupted | Lost | Missing | Unreachable)
    }

    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> StoreError {
        StoreError { kind, message: message.into(), hint: None, remedy: None, code: None, constraint: None }
    }

    pub(super) fn interrupted(doing: &str) -> StoreError {
        StoreError::new(StoreErrorKind::Interrupted, format!("interrupted while {doing}"))
    }

    /// The error of a writer whose batch a second signal rolled back.
    pub(super) fn rolled_back() -> StoreError {
        StoreError::new(StoreErrorKind::Interrupted, "interrupted; the batch in hand was rolled back")
    }

    /// Whether the database refuses a statement or its values; any other error ends the snapshot.
    pub fn is_refusal(&self) -> bool {
        use StoreErrorKind::{Denied, Other, RowData, Unfit};
        matches!(self.kind, Denied | Unfit | RowData | Other)
    }

    /// Adds to the error of a statement that reads which keys of the preset it may be about: the database does not say.
    pub(super) fn of_expressions(self, jobs: &Jobs) -> StoreError {
        // A check is a statement of its own.
        let keys: Vec<&str> =
            jobs.computed.iter().map(String::as_str).filter(|key| !key.starts_with("check.")).collect();
        if !matches!(self.kind, StoreErrorKind::RowData | StoreErrorKind::Unfit) || keys.is_empty() {
            return self;
        }
        let databases = self.hint.as_ref().map(|hint| format!(". The database says: {hint}")).unwrap_or_default();
        let hint = format!(
            "one of these of preset {} may fail: {}. Each must be of the type that its declaration asks for (Postgres: a cast, as in \
             `(j.meta ->> 'beat')::bigint`), and give NULL instead of failing where a row holds no such value{databases}",
            jobs.queue.preset,
            keys.join(", ")
        );
        self.hint(hint)
    }

    /// Sets the hint, in place of any other.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> StoreError {
        (self.hint, self.remedy) = (Some(hint.into()), None);
        self
    }

    /// Adds a remedy to the hint.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> StoreError {
        self.remedy = Some(remedy);
        self
    }
}

fn in_brackets(code: Option<&str>) -> String {
    code.map(|code| format!(" ({code})")).unwrap_or_default()
}

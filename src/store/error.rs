/// What went wrong with a store, in the kinds that an operator acts on differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such file, or it is not a database.
    Missing,
    /// The server cannot be reached.
    Unreachable,
    /// The connection was lost on the way.
    Lost,
    /// Another session holds what is needed; trying again may help.
    Busy,
    /// Another run holds the sweep lock; trying again in a moment helps.
    SweepLockHeld,
    /// The time limit ran out; trying again may help.
    TimedOut,
    /// The operator interrupted it.
    Interrupted,
    /// Two transactions got into each other's way and the database chose ours to end; trying again helps.
    Conflict,
    /// Authentication or privileges.
    Denied,
    /// Whether it was written is not known.
    Unknown,
    /// A guard that the operator can lift is in the way; nothing was written.
    Refused,
    /// Tables or columns are not what the preset says, or the connection is not one this program can use.
    Unfit,
    /// A row's own data is in the way: a constraint, a check, a trigger, an overflow.
    RowData,
    /// Anything else that the database said.
    Other,
}

/// An error of a store. It never holds a secret.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}{}", in_brackets(code.as_deref()))]
pub struct StoreError {
    /// What kind of trouble it is.
    pub kind: StoreErrorKind,
    /// What happened, for people.
    pub message: String,
    /// What to try, if anything is known to help.
    pub hint: Option<String>,
    /// The SQLSTATE, or SQLite's extended result code.
    pub code: Option<String>,
    /// The constraint that was in the way.
    pub constraint: Option<String>,
}

impl StoreError {
    /// An error of that kind.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> StoreError {
        StoreError { kind, message: message.into(), hint: None, code: None, constraint: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> StoreError {
        self.hint = Some(hint.into());
        self
    }
}

fn in_brackets(code: Option<&str>) -> String {
    code.map(|code| format!(" ({code})")).unwrap_or_default()
}

/// Why an address cannot be used. Says nothing of its contents, because they may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AddressError {
    /// What is wrong, and what to do about it.
    pub message: String,
    /// True if what was typed is fine and a file that it leads to is not.
    pub in_a_file: bool,
}

impl AddressError {
    /// Something is wrong with the address itself.
    pub(crate) fn new(message: impl Into<String>) -> AddressError {
        AddressError { message: message.into(), in_a_file: false }
    }

    /// Something is wrong with a file.
    pub(super) fn in_a_file(message: impl Into<String>) -> AddressError {
        AddressError { message: message.into(), in_a_file: true }
    }
}

/// A sentence beside a report, for stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Something an operator must know before going on.
    Warn(String),
    /// What the run did or would do.
    Note(String),
    /// The command to type next.
    Hint(String),
}

/// The ids that were named and name no job.
pub fn no_such_job(table: &str, ids: &[String]) -> String {
    format!("no such job in {table}: {}", ids.join(", "))
}

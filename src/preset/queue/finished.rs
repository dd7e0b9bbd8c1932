use super::{StateValue, TimeColumn};
use crate::preset::template::Template;

/// What the tables keep of jobs that have ended well.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// When their last run began and ended.
    Kept(Box<Runs>),
    /// Not that; the text says why: "it deletes jobs that have ended well".
    Untold(String),
}

/// Where the runs of jobs that have ended well are told.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The states of such a job; empty where `filter` alone tells, or where the state is a place.
    pub states: Vec<StateValue>,
    /// What else makes a row one of them.
    pub filter: Option<Template>,
    /// When its last run began.
    pub started: TimeColumn,
    /// When that ended.
    pub at: TimeColumn,
}

use super::{Column, TimeColumn};
use crate::preset::template::Template;
use std::time::Duration;

/// Rules that tell trouble.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The instant after which the job is of no use.
    pub deadline: Option<TimeColumn>,
    /// Whether somebody asked for the job to be cancelled.
    pub cancel_requested: Option<CancelRequested>,
    /// The longest it may run.
    pub max_runtime: Option<MaxRuntime>,
}

/// How a request to cancel is told.
#[derive(Debug, Clone, PartialEq)]
pub enum CancelRequested {
    /// A column that is NULL or false unless it was requested.
    Column(Column),
    /// A boolean expression.
    Sql(Template),
}

/// The longest a job may run.
#[derive(Debug, Clone, PartialEq)]
pub enum MaxRuntime {
    /// The same for all.
    Span(Duration),
    /// Seconds on the row.
    Column(Column),
}

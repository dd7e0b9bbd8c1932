use super::columns;
use super::format::{Cell, Table, Tone};
use super::unsupported::Field;
use schemars::JsonSchema;
use serde::Serialize;
use std::io;

/// Stuck and unknown jobs of one host, owner, kind, queue or state.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct JobGroup {
    /// The host, owner, kind, queue or state; null for jobs that name none, and for `rest`.
    pub name: Option<String>,
    /// True for the jobs of all groups beyond the ten thousand that are counted apart.
    pub rest: bool,
    /// Stuck ones.
    pub stuck: u64,
    /// Unknown ones.
    pub unknown: u64,
    /// The longest silence among the stuck ones.
    pub oldest_silence_seconds: Option<f64>,
    /// At most three of its owners, the first by name; of an owner its kinds.
    pub examples: Vec<String>,
    /// True if there are more of them.
    pub has_more_examples: bool,
}

impl JobGroup {
    /// The columns of `csv`.
    pub(super) const COLUMNS: &'static str =
        "name rest stuck unknown oldest_silence_seconds examples has_more_examples";

    fn examples(&self) -> String {
        let more = if self.has_more_examples { ", ..." } else { "" };
        format!("{}{more}", self.examples.join(", "))
    }
}

/// Groups, a row each.
///
/// # Errors
/// Never: all of it is in memory.
pub(super) fn groups<'g>(by: Field, groups: impl Iterator<Item = &'g JobGroup>) -> io::Result<Table> {
    let examples = if by == Field::Owner { "kinds" } else { "owners" };
    columns::table(
        &[
            (columns::names(by.name(), 0, 12), &|group: &&JobGroup| match &group.name {
                Some(name) => name.as_str().into(),
                None if group.rest => Cell::new("(all others)", Tone::Dim),
                None => Cell::new("(none)", Tone::Warn),
            }),
            (columns::right("stuck", 0), &|group| group.stuck.to_string().into()),
            (columns::right("unknown", 1), &|group| group.unknown.to_string().into()),
            (columns::right("silent", 0), &|group| columns::duration(group.oldest_silence_seconds)),
            (columns::column(examples, 2, Some(12)), &|group| columns::text(Some(&group.examples()))),
        ],
        groups.map(Ok),
    )
}

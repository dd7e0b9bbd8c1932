//! Which jobs the library failed because their worker died, and how its own retry brings one back: `[interrupted]`.

use super::OwnerDoc;
use super::actions::ActionDoc;
use crate::model::AttemptsChange;
use crate::preset::field::{Fragment, Written, complete_when_read, named};
use crate::preset::queue::Skip;

/// `[interrupted]`. What it does not say is as in `[claim]` and `[owner]`; with a `from` of its own it says all.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(remote = "Self", default)]
pub(crate) struct InterruptedDoc {
    /// Why the library fails no job for its worker's sake, or why no row tells.
    pub(crate) never: Option<String>,
    pub(crate) states: Vec<Written>,
    pub(crate) from: Option<Fragment>,
    pub(super) key: Vec<Written>,
    pub(super) state: Option<Written>,
    #[serde(rename = "where")]
    pub(crate) filter: Option<Fragment>,
    /// When the library failed it.
    pub(crate) since: Option<Written>,
    pub(super) queue: Option<Written>,
    pub(super) kind: Option<Written>,
    pub(super) payload: Option<Written>,
    pub(super) last_error: Option<Written>,
    pub(super) precondition: Vec<Written>,
    pub(super) owner: Option<OwnerDoc>,
    /// How often the job was lost before this time.
    pub(super) stalls: Option<Written>,
    /// A query that counts the jobs that ended, well or not, since an instant.
    pub(crate) ended: Option<Fragment>,
    /// The library's own command, with `{ids}` or, for one job a line, `{id}`; and `{schema}`.
    pub(crate) command: Option<String>,
    pub(crate) retry: Option<ActionDoc>,
    #[serde(rename = "skip", deserialize_with = "named")]
    pub(super) skips: Vec<(String, Skip<Fragment>)>,
    #[serde(rename = "caution", deserialize_with = "named")]
    pub(crate) cautions: Vec<(String, String)>,
}

complete_when_read!(InterruptedDoc);

impl InterruptedDoc {
    fn complete(&mut self) -> Result<(), &'static str> {
        if let Some(retry) = &mut self.retry {
            // The lost run was counted when the library failed the job.
            retry.attempts.get_or_insert(AttemptsChange::Keep);
        }
        let is_refused = self.retry.as_ref().is_some_and(|retry| retry.refused.is_some());
        match (&self.never, &self.filter, &self.since, &self.retry) {
            (Some(_), None, None, None) => Ok(()),
            (Some(_), ..) => Err("`never` says that there are none"),
            (None, Some(_), Some(_), Some(_)) if is_refused != self.command.is_some() => {
                Err("a retry that is `refused` needs the library's own `command`, and no other one does")
            }
            (None, Some(_), Some(_), Some(_)) if self.from.is_some() == self.key.is_empty() => {
                Err("`from` and `key` go together")
            }
            (None, Some(_), Some(_), Some(_)) | (None, None, None, None) => Ok(()),
            _ => Err("needs `where`, `since` and `retry`, or `never`"),
        }
    }
}

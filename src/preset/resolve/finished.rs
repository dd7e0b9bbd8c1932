use super::Binder;
use super::fragments::Within;
use crate::preset::SpecError;
use crate::preset::document::FinishedDoc;
use crate::preset::queue::{ClaimSpec, Finished, Runs, StateSource};

impl Binder<'_> {
    /// Where run times are told. Without both instants they are not, which is no error: nothing but statistics needs them.
    pub(super) fn finished(&self, claim: &ClaimSpec) -> Result<Finished, SpecError> {
        let name = &self.document.name;
        let doc = match &self.document.finished {
            Some(FinishedDoc::Kept(doc)) => doc,
            Some(FinishedDoc::Untold(why)) => return Ok(Finished::Untold(format!("preset {name}: {why}"))),
            None => {
                return Ok(Finished::Untold(format!(
                    "preset {name} does not say where the end of a run is kept ([finished] in a mapping)"
                )));
            }
        };
        let table = || self.tables.get(&self.lock_table).map_or(self.lock_table.as_str(), |table| table.name.as_str());
        let lacks = |column: &str| Ok(Finished::Untold(format!("table {} has no column {column}", table())));
        let Some(end) = self.optional_time(&Some(doc.at.clone()), &self.lock)? else { return lacks(&doc.at.text) };
        let started = match &doc.started {
            Some(began) => match self.optional_time(&Some(began.clone()), &self.lock)? {
                Some(started) => started,
                None => return lacks(&began.text),
            },
            None => match (&claim.claimed_at, &self.document.claim.claimed_at) {
                (Some(claimed_at), _) => claimed_at.clone(),
                (None, Some(written)) => return lacks(&written.text),
                (None, None) => {
                    return Ok(Finished::Untold(format!("preset {name} does not say when a run began")));
                }
            },
        };
        let states = match &claim.state {
            StateSource::Column(_) => doc.states.clone(),
            StateSource::Place(_) => Vec::new(),
        };
        let filter =
            doc.filter.as_ref().map(|(written, sql)| self.expand(written, sql, Within::Snapshot)).transpose()?;
        if states.is_empty() && filter.is_none() {
            return Err(doc
                .at
                .error("needs `where`: here a row's place is its state, which tells only jobs in flight"));
        }
        Ok(Finished::Kept(Box::new(Runs { states, filter, started, at: end })))
    }
}

use super::sql::{physical, sql, sql_of_text};
use super::{
    AdviceProfile, AttemptsProfile, CheckProfile, ClaimProfile, FinishedProfile, OwnerProfile, Profile, RulesProfile,
    SkipProfile, WakeUp, actions, liveness, tables,
};
use crate::model::age;
use crate::preset::document::{ClaimFrom, Document, FinishedDoc, MaxRuntimeDoc, NotifyDoc};
use crate::preset::fields::Written;
use crate::preset::node::Node;
use crate::preset::{Preset, SpecError};

impl Preset {
    /// Reads a document whose engine leaves are picked and whose variant is laid over it.
    pub(super) fn profile(&self, node: Node) -> Result<Profile, SpecError> {
        // Some value stands for each option; where a page would show it, the option is named instead.
        let document = Document::of(&self.document, &self.name, self.filled(node.clone())?)?;
        Ok(Profile {
            schema: document.schema.clone(),
            tables: tables::tables(&document),
            claim: claim(&document),
            states: document.states.clone(),
            times: liveness::times(&node),
            owner: owner(&document),
            liveness: liveness::liveness(&document, &node),
            rules: rules(&document, &node),
            attempts: AttemptsProfile {
                column: written(&document, &document.attempts.column),
                max: liveness::max(&node).map(|max| sql_of_text(&document, &max)),
                stalls: document.attempts.stalls.as_ref().map(|stalls| sql_of_text(&document, &stalls.text)),
                counted: document.attempts.counted,
                exhausted: document.attempts.exhausted,
                max_counts: document.attempts.max_counts,
            },
            finished: document.finished.as_ref().map(|finished| self::finished(&document, finished)),
            actions: actions::actions(&document),
            waiting: actions::waiting(&document),
            skips: document
                .skips
                .iter()
                .map(|skip| SkipProfile {
                    name: skip.name.clone(),
                    actions: skip.actions.clone(),
                    condition: sql(&document, &skip.condition.1),
                    reason: skip.reason.clone(),
                })
                .collect(),
            checks: document
                .checks
                .iter()
                .map(|check| CheckProfile {
                    name: check.name.clone(),
                    sql: sql(&document, &check.sql.1),
                    finds: check.finds.clone(),
                    remedy: check.remedy.clone(),
                })
                .collect(),
            wake_ups: document
                .notify
                .iter()
                .map(|notify| match notify {
                    NotifyDoc::Channel { channel, payload } => {
                        WakeUp::Channel { channel: sql(&document, &channel.1), payload: sql(&document, &payload.1) }
                    }
                    NotifyDoc::Sql((_, statement)) => WakeUp::Sql(sql(&document, statement)),
                })
                .collect(),
            cautions: document.cautions.clone(),
            fencing: document.fencing,
            advice: document
                .advice
                .as_ref()
                .map(|advice| AdviceProfile { text: advice.text.clone(), sql: advice.sql.clone() }),
            words: document.words,
        })
    }
}

fn claim(document: &Document) -> ClaimProfile {
    let claim = &document.claim;
    ClaimProfile {
        table: physical(document, &tables::claims(document).0).to_owned(),
        from: match &claim.from {
            ClaimFrom::Table(_) => None,
            ClaimFrom::From(_, from) => Some(sql(document, from)),
        },
        key: claim.key.iter().map(|key| tables::bare(document, &key.text)).collect(),
        // A literal says what the place is called; there is no column then.
        state: written(document, &claim.state).filter(|state| !state.starts_with('\'')),
        filter: claim.filter.as_ref().map(|(_, filter)| sql(document, filter)),
        queue: written(document, &claim.queue),
        kind: written(document, &claim.kind),
        claimed_at: written(document, &claim.claimed_at),
        progress: claim.progress.iter().map(|written| tables::bare(document, &written.text)).collect(),
        guard: claim.guard.as_ref().map(|(_, guard)| sql(document, guard)),
    }
}

fn owner(document: &Document) -> OwnerProfile {
    let owner = &document.owner;
    OwnerProfile {
        id: written(document, &owner.id),
        name: written(document, &owner.name),
        host: written(document, &owner.host),
        table: owner.table.as_ref().map(|table| physical(document, &table.text).to_owned()),
        heartbeat: written(document, &owner.heartbeat),
        started: written(document, &owner.started),
        missing: owner.missing,
        unset: owner.unset,
    }
}

fn rules(document: &Document, root: &Node) -> RulesProfile {
    let rules = &document.rules;
    RulesProfile {
        deadline: written(document, &rules.deadline),
        cancel_requested: written(document, &rules.cancel_requested),
        max_runtime: rules.max_runtime.as_ref().map(|max| match (liveness::max_runtime(root), max) {
            (Some(option), _) => option,
            (None, MaxRuntimeDoc::Span(span)) => age(*span),
            (None, MaxRuntimeDoc::Column(column)) => column.text.clone(),
        }),
    }
}

fn finished(document: &Document, finished: &FinishedDoc) -> FinishedProfile {
    match finished {
        FinishedDoc::Untold(why) => FinishedProfile::Untold(why.clone()),
        FinishedDoc::Kept(doc) => FinishedProfile::Kept {
            started: written(document, &doc.started).or_else(|| written(document, &document.claim.claimed_at)),
            at: tables::bare(document, &doc.at.text),
            filter: doc.filter.as_ref().map(|(_, filter)| sql(document, filter)),
            states: doc.states.iter().map(|state| state.stored.to_string()).collect(),
        },
    }
}

fn written(document: &Document, written: &Option<Written>) -> Option<String> {
    written.as_ref().map(|written| tables::bare(document, &written.text))
}

//! Pure code: properties that hold for every input, not only for the ones somebody thought of, and examples.

mod alerts;
mod brake;
mod candidates;
pub mod claims;
mod conninfo;
mod csv;
mod delay;
mod diagnoses;
mod duration;
mod edges;
mod encoding;
mod evidence;
mod facts;
mod gauges;
mod globs;
mod id_lists;
mod ident;
mod ids;
mod inert;
mod instants;
mod judge;
mod layout;
mod live_owners;
mod passfile;
mod plan;
mod plugin;
mod prefilter;
mod prometheus;
pub mod queue;
mod service;
mod table;
mod thresholds;
mod tones;
mod unknown;
mod values;

/// A claim of the reference schema that is silent in every way, to be changed by the tests that start from it.
fn queue_claim() -> jobdoctor::model::Claim {
    use jobdoctor::model::{Cell, Claim, EvidenceRow, Key, LockSign, Owner, OwnerRow, Precondition, Reading, Sign};
    let sign = |seconds| Sign { at: Reading::At(claims::ago(seconds)), silent_after: None, lock: LockSign::Absent };
    Claim {
        key: Key(vec![Cell::Integer(1)]),
        state: "RUNNING".to_owned(),
        queue: None,
        kind: None,
        owner: Some(Owner {
            id: "web1:1".to_owned(),
            name: "web1:1".to_owned(),
            host: Some("web1".to_owned()),
            host_spelling: Default::default(),
        }),
        owner_row: OwnerRow::NotAsked,
        claimed_at: Reading::At(claims::ago(700)),
        heartbeat: Reading::At(claims::ago(660)),
        signs: vec![sign(600), sign(660), sign(700)],
        attempts: Cell::Integer(0),
        max_attempts: Cell::Null,
        stalls: None,
        deadline: Reading::Absent,
        cancel_requested: false,
        max_runtime: None,
        skips: Vec::new(),
        extra: Vec::new(),
        progress: None,
        precondition: Precondition(String::new()),
        evidence_row: EvidenceRow::None,
    }
}

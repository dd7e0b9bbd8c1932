//! Pure code: properties that hold for every input, not only for the ones somebody thought of, and examples.

mod brake;
mod candidates;
pub mod claims;
mod csv;
mod delay;
mod diagnoses;
mod dialects;
mod duration;
mod encoding;
mod evidence;
mod gauges;
mod globs;
mod id_lists;
mod ident;
mod ids;
mod inert;
mod instants;
mod judge;
mod layout;
mod lex;
mod live_owners;
mod plan;
mod prefilter;
pub mod queue;
mod table;
mod tones;
mod unknown;
mod values;
mod zones;

use crate::support::dice::fresh_seed;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

/// Tries a property so many times; with PROPTEST_CASES=25600 a hundred times as often. The seed is another one in each run, and
/// shown where a test fails, with the command that repeats it.
#[allow(clippy::print_stderr, reason = "the test harness shows it beside the panic")]
pub(crate) fn tries(times: u32) -> ProptestConfig {
    let of_the_environment = ProptestConfig::default();
    let seed = match of_the_environment.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => fresh_seed(),
    };
    let cases = of_the_environment.cases;
    let test = std::thread::current().name().unwrap_or("property::").to_owned();
    eprintln!("PROPTEST_RNG_SEED={seed} PROPTEST_CASES={cases} cargo test --test tests -- --exact {test}");
    ProptestConfig {
        cases: times * cases / 256,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..of_the_environment
    }
}

/// A claim of the reference schema that is silent in every way, to be changed by the tests that start from it.
pub(crate) fn queue_claim() -> jobdoctor::model::Claim {
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
        vetoed: false,
        astray: Vec::new(),
        evidence_row: EvidenceRow::None,
    }
}

//! The pure parts in isolation: judging, drafting, and turning jobs into lines. `cargo bench --bench pure`.

#![forbid(unsafe_code)]

use anyhow::{Context, Result, anyhow};
use criterion::{Criterion, Throughput};
use jobdoctor::model::{
    Cell, Claim, Engine, EvidenceRow, HostSpelling, Key, LockSign, Owner, OwnerRow, Precondition, Reading, Sign,
    Timestamp,
};
use jobdoctor::output::format::{Page, Screen};
use jobdoctor::output::{Causes, Job, Row};
use jobdoctor::policy::{Policy, draft, judge};
use jobdoctor::preset::{Catalog, Jobs, LiveColumn, LiveSchema, LiveTable, Place, resolve};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::hint::black_box;

/// Claims that each measurement goes through.
const CLAIMS: u64 = 1_000;
/// The time of the snapshot, in seconds since 1970.
const NOW: i64 = 1_750_000_000;
/// The columns of the reference schema that are texts; the others are integers.
const TEXTS: &str = "queue kind status owner_id lease_token error_code error_detail";
const INTEGERS: &str = "id run_at claimed_at heartbeat_at lease_expires_at attempts max_attempts stalls \
                        max_runtime_seconds deadline_at cancel_requested_at finished_at";

fn main() -> Result<()> {
    let (spec, policy, now) = (reference_queue()?, Policy::default(), ago(0).context("no such time")?);
    let claims: Vec<Claim> = (0..CLAIMS).map(|n| claim(i64::try_from(n).unwrap_or_default())).collect();
    let judged: Vec<_> = claims.iter().map(|claim| (claim, judge(&spec, claim, &policy, now))).collect();
    let jobs: Vec<Job> = judged
        .iter()
        .map(|(claim, judgement)| {
            Job::of(&spec, claim, &policy, judgement, draft(&spec, claim, judgement, &policy).step())
        })
        .collect();
    let screen = Screen { width: Some(120), ..Screen::default() };

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("pure");
    group.throughput(Throughput::Elements(CLAIMS));
    group.bench_function("judge", |bencher| {
        bencher.iter(|| claims.iter().for_each(|claim| drop(black_box(judge(&spec, claim, &policy, now)))));
    });
    group.bench_function("draft", |bencher| {
        bencher.iter(|| judged.iter().for_each(|(claim, seen)| drop(black_box(draft(&spec, claim, seen, &policy)))));
    });
    group.bench_function("job to JSON line", |bencher| {
        bencher.iter(|| jobs.iter().for_each(|job| drop(black_box(serde_json::to_vec(job)))));
    });
    // The page of `stale` on a terminal, with every job in it.
    group.bench_function("job to table row", |bencher| {
        bencher.iter(|| {
            let rows = jobs.iter().map(|job| Row { job, why: "lease ran out".into(), mark: "" }).collect();
            let mut page = Page::default();
            Causes { list: &[], count: 0, rows, alone: CLAIMS }.fill(&mut page, &screen);
            black_box(page)
        });
    });
    group.finish();
    criterion.final_summary();
    Ok(())
}

/// The preset `lease` on the reference schema, resolved without a database.
fn reference_queue() -> Result<Jobs> {
    let column = |name: &str, type_name: &str| LiveColumn {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        readable: true,
        writable: true,
        ..LiveColumn::default()
    };
    let texts = TEXTS.split_whitespace().map(|name| column(name, "text"));
    let integers = INTEGERS.split_whitespace().map(|name| column(name, "integer"));
    let table = LiveTable {
        schema: "main".to_owned(),
        name: "jobs".to_owned(),
        visible: true,
        columns: texts.chain(integers).collect(),
        ..LiveTable::default()
    };
    let live = LiveSchema { engine: Engine::Sqlite, tables: vec![table], role: None, enums: BTreeMap::new() };
    let mut never = |_: &str| -> Result<bool, Infallible> { Ok(false) };
    let catalog = Catalog::built_in();
    resolve(catalog.find("lease")?, &live, &Place::default(), &[], &mut never)
        .map(|views| Jobs::clone(&views.claims))
        .map_err(|error| anyhow!("{error:?}"))
}

/// A stuck job, silent for an hour and more.
fn claim(n: i64) -> Claim {
    let [lease, heartbeat, claimed] =
        [3_600, 3_660, 4_200].map(|seconds| ago(seconds + n).map_or(Reading::Absent, Reading::At));
    let sign = |at: &Reading| Sign { at: at.clone(), silent_after: None, lock: LockSign::Absent };
    let host = format!("web{}", n % 5);
    let owner = format!("{host}:{}", 4_000 + n % 20);
    Claim {
        key: Key(vec![Cell::Integer(n)]),
        state: "RUNNING".to_owned(),
        queue: Some("mail".to_owned()),
        kind: Some("SendMail".to_owned()),
        owner: Some(Owner { id: owner.clone(), name: owner, host: Some(host), host_spelling: HostSpelling::default() }),
        owner_row: OwnerRow::NotAsked,
        signs: vec![sign(&lease), sign(&heartbeat), sign(&claimed)],
        claimed_at: claimed,
        heartbeat,
        attempts: Cell::Integer(n % 3),
        max_attempts: Cell::Integer(5),
        stalls: Some(0),
        deadline: Reading::Absent,
        cancel_requested: false,
        max_runtime: None,
        skips: Vec::new(),
        extra: Vec::new(),
        progress: None,
        vetoed: false,
        astray: Vec::new(),
        precondition: Precondition(String::new()),
        evidence_row: EvidenceRow::None,
    }
}

fn ago(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_micros((NOW - seconds) * 1_000_000)
}

//! Evidence by different writers: units, clocks, and a row that contradicts what is inferred about its owner.

use super::claims::{ago, now};
use super::queue::{lease, resolved, table};
use crate::support::doctor::mapping;
use jobdoctor::model::{Claim, LockSign, OwnerRow, Precondition, Reading, Sign, Timestamp};
use jobdoctor::output::sentence;
use jobdoctor::policy::{
    EarlierSnapshot, LiveOwners, Living, Policy, Restart, RestartScope, Rule, Verdict, judge, key_print, seen,
};
use jobdoctor::preset::{Jobs, LiveTable};
use std::sync::{Arc, OnceLock};

/// A lease on the row, and a heartbeat and a start on the owner's.
fn owned() -> &'static Jobs {
    static OWNED: OnceLock<Jobs> = OnceLock::new();
    OWNED.get_or_init(|| {
        let text = r#"
            format = 1
            name = "owned"
            time     = { default = "epoch us" }
            states   = { waiting = ["new"], in_flight = ["working"], failed = ["dead"] }
            attempts = { column = "tries", max = 5, counted = "at reclaim" }
            [claim]
            table      = "q"
            key        = "id"
            state      = "status"
            claimed_at = "started"
            liveness   = [{ by = "lease", column = "lease" }, { by = "owner", silent_after = "2m" }]
            [owner]
            id        = "worker"
            table     = "workers"
            match     = { name = "worker" }
            heartbeat = "beat"
            started   = "up_at"
            missing   = "dead"
            [action]
            requeue = { to = "new", clear = ["worker", "started"] }
            fail    = { to = "dead" }
        "#;
        let integers = |names: &[&'static str]| names.iter().map(|name| (*name, "integer")).collect::<Vec<_>>();
        let mut jobs = integers(&["id", "started", "lease", "tries"]);
        jobs.extend([("status", "text"), ("worker", "text")]);
        let mut workers = integers(&["beat", "up_at"]);
        workers.push(("name", "text"));
        resolved(
            &mapping(text),
            vec![table("q", &jobs), LiveTable { unique: vec![vec!["name".to_owned()]], ..table("workers", &workers) }],
        )
    })
}

fn claim(claimed_at: Timestamp, started: Timestamp, lease: Reading, beat: Timestamp) -> Claim {
    let sign = |at: Reading| Sign { at, silent_after: None, lock: LockSign::Absent };
    Claim {
        state: "working".to_owned(),
        owner_row: OwnerRow::Present { heartbeat: Reading::Absent, started: Reading::At(started) },
        claimed_at: Reading::At(claimed_at),
        heartbeat: Reading::At(beat),
        signs: vec![sign(lease), sign(Reading::At(beat))],
        ..super::queue_claim()
    }
}

fn after(at: Timestamp, micros: i64) -> Timestamp {
    Timestamp::from_micros(at.micros() + micros).expect("in range")
}

fn is_dead_of(rule: Rule, verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Stuck(reasons) if reasons.iter().any(|reason| reason.rule == rule))
}

/// A worker registers and claims its first job at once, by columns of different precision or by two clocks.
#[test]
fn an_owner_that_started_with_its_first_claim_has_not_restarted() {
    for (later, restarted) in [(-1, false), (1, false), (999_999, false), (60_999_999, false), (61_000_000, true)] {
        let claimed_at = ago(600);
        let claim = claim(claimed_at, after(claimed_at, later), Reading::Absent, ago(1));
        let verdict = judge(owned(), &claim, &Policy::default(), now()).verdict;
        assert_eq!(is_dead_of(Rule::OwnerRestarted, &verdict), restarted, "started {later} µs after the claim");
        assert_eq!(verdict == Verdict::Healthy, !restarted, "the heartbeat of the new process outranks no restart");
    }
}

/// The same claim without what shows life on its row is dead: a judge that did not look there would be caught.
#[test]
fn what_lives_on_the_row_outranks_its_owners_restart() {
    let held = |lock, lease| {
        let mut claim = claim(ago(600), ago(100), lease, ago(1));
        claim.signs[0].lock = lock;
        judge(owned(), &claim, &Policy::default(), now()).verdict
    };
    for (verdict, life) in [
        (held(LockSign::Absent, Reading::At(ago(-60))), "but its lease runs"),
        (held(LockSign::Held, Reading::Absent), "but a session holds its lock"),
    ] {
        let Verdict::Unknown(why) = verdict else { panic!("{verdict:?}") };
        assert!(sentence(&why[0]).contains(&format!("another process under the same name, {life}")), "{why:?}");
    }
    assert!(is_dead_of(Rule::OwnerRestarted, &held(LockSign::Absent, Reading::Absent)));
}

#[test]
fn what_lives_on_the_row_outranks_a_list_without_its_owner() {
    let live_owners = Arc::new(LiveOwners::parse("web9").expect("a list"));
    let policy = Policy { living: Some(Living { live_owners, made_at: now() }), ..Policy::default() };
    for (ended, beat, is_dead) in [(-60, 600, false), (600, 250, false), (600, 600, true)] {
        let mut claim = super::queue_claim();
        (claim.signs[0].at, claim.signs[1].at) = (Reading::At(ago(ended)), Reading::At(ago(beat)));
        claim.heartbeat = claim.signs[1].at.clone();
        let verdict = judge(lease(), &claim, &policy, now()).verdict;
        assert_eq!(is_dead_of(Rule::LiveOwnerList, &verdict), is_dead, "{ended} and {beat}: {verdict:?}");
        assert!(is_dead || matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
    }
}

/// Where claims do not say when they were made, what was in flight before the sweep waited tells which ones are older.
#[test]
fn a_claim_that_came_while_the_sweep_waited_is_later() {
    let mut spec = lease().clone();
    spec.claim.claimed_at = None;
    let claim = super::queue_claim();
    let other = Claim { precondition: Precondition("another claim".to_owned()), ..claim.clone() };
    let judged = |seen_before: Option<&Claim>| {
        let seen = seen_before.map(|before| (key_print(before), seen(None, before, ago(10))));
        let first = Some(Arc::new(EarlierSnapshot { taken_at: ago(10), seen: seen.into_iter().collect() }));
        let restart = Restart { scope: RestartScope::AllOwners, before: None, began: ago(10), first };
        judge(&spec, &claim, &Policy { restart: Some(restart), ..Policy::default() }, now()).verdict
    };
    assert!(is_dead_of(Rule::Restart, &judged(Some(&claim))));
    assert!(matches!(judged(None), Verdict::Unknown(_)), "it was not in flight");
    assert!(matches!(judged(Some(&other)), Verdict::Unknown(_)), "another claim of the job was");
}

fn restart(began: Timestamp) -> Policy {
    let restart = Restart { scope: RestartScope::AllOwners, before: None, began, first: None };
    Policy { restart: Some(restart), ..Policy::default() }
}

/// A claim may be a new worker's where nothing that can be read says when it was made.
#[test]
fn a_restart_kills_no_claim_without_a_time_that_can_be_read() {
    let unfit = Reading::Unfit { raw: "9e999".to_owned(), why: "is infinite".to_owned() };
    for at in [Reading::Absent, unfit, Reading::At(ago(-10_000)), Reading::At(Timestamp::EPOCH)] {
        let claim = Claim { claimed_at: at.clone(), ..super::queue_claim() };
        let verdict = judge(lease(), &claim, &restart(now()), now()).verdict;
        assert!(matches!(verdict, Verdict::Unknown(_)), "{at:?}: {verdict:?}");
    }
    let early = judge(lease(), &super::queue_claim(), &restart(now()), now()).verdict;
    assert!(is_dead_of(Rule::Restart, &early), "a judge that took NULL for an early time would be caught: {early:?}");
}

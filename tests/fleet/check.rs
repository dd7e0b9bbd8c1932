//! What must be true when a fleet has passed.

use super::Scene;
use super::copies::moved;
use super::workers::{Log, owner_sql};
use crate::support::cli::{Ran, until};
use crate::support::shop::Shop;

/// What is not as it must be; nothing, if all is well.
pub(super) fn wrongs(shop: &Shop, scene: Scene, log: &Log, ended: &[Ran]) -> Vec<String> {
    let mut wrongs = of_the_database(shop, scene, log);
    let told: Vec<Result<u64, String>> = ended.iter().map(moved).collect();
    wrongs.extend(told.iter().filter_map(|told| told.as_ref().err().cloned()));
    let sum: u64 = told.iter().flatten().sum();
    if sum != u64::from(scene.dead) {
        wrongs.push(format!("{} jobs died, and {sum} are told to be moved: {told:?}", scene.dead));
    }
    wrongs
}

/// The same without what the copies say.
pub(super) fn of_the_database(shop: &Shop, scene: Scene, log: &Log) -> Vec<String> {
    let mut wrongs = Vec::new();
    let Scene { dead, living } = scene;
    let mut expect = |what: &str, query: String, expected: &[String]| {
        let rows = shop.rows(&query);
        if rows != expected {
            wrongs.push(format!("{what}: {rows:?}, not {expected:?}"));
        }
    };
    expect(
        "each death is one attempt and one stall",
        format!(
            "SELECT status, attempts, stalls, count(*) FROM jobs WHERE id <= {dead} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        ),
        &[format!("QUEUED 1 1 {dead}")],
    );
    expect(
        "attempts in all",
        "SELECT sum(attempts), sum(stalls), count(*) FROM jobs".to_owned(),
        &[format!("{dead} {dead} {}", dead + living)],
    );
    let owner = owner_sql("id");
    expect(
        "a living job was touched",
        format!(
            "SELECT id, status FROM jobs WHERE id > {dead} AND NOT (attempts = 0 AND stalls = 0 AND error_detail IS NULL AND (
                status = 'RUNNING' AND owner_id = {owner} AND lease_token = 'token'
                OR status = 'SUCCEEDED' AND owner_id IS NULL AND lease_token IS NULL)) LIMIT 5"
        ),
        &[],
    );
    let finished: Vec<String> = log.finished.iter().map(u32::to_string).collect();
    expect(
        "who is done stays done",
        "SELECT id FROM jobs WHERE status = 'SUCCEEDED' ORDER BY id".to_owned(),
        &finished,
    );
    if shop.is_postgres() {
        // The server counts a moment later.
        let gone = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'jobdoctor/%'
            AND datname = current_database()";
        until("all copies are gone", || shop.rows(gone) == ["0"]);
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        expect("deadlocks", deadlocks.to_owned(), &["0".to_owned()]);
    } else {
        expect("the file is whole", "PRAGMA integrity_check".to_owned(), &["ok".to_owned()]);
    }
    if !log.lost.is_empty() {
        wrongs.push(format!("workers alive have lost {:?}", log.lost));
    }
    wrongs
}

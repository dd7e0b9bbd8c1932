//! The SQL that one would type by hand, in the words of each engine.

use crate::place::Engine;

/// A job that holds a lease which has run out.
fn stuck(engine: Engine) -> String {
    format!("status IN ('CLAIMED', 'RUNNING') AND lease_expires_at < {}", now(engine))
}

fn now(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "unixepoch()",
        Engine::Postgres => "now()",
    }
}

/// The 50 longest silent.
pub fn list(engine: Engine) -> String {
    format!(
        "SELECT id, queue, kind, owner_id, heartbeat_at, claimed_at, attempts, lease_expires_at FROM jobs WHERE {} \
         ORDER BY heartbeat_at LIMIT 50",
        stuck(engine)
    )
}

/// The 50 longest silent, how many are stuck and in flight, and how many each owner had and until when.
pub fn list_and_counts(engine: Engine) -> String {
    let stuck = stuck(engine);
    format!(
        "{}; SELECT count(*) FROM jobs WHERE {stuck}; \
         SELECT count(*) FROM jobs WHERE status IN ('CLAIMED', 'RUNNING'); \
         SELECT owner_id, count(*), max(heartbeat_at) FROM jobs WHERE {stuck} GROUP BY owner_id",
        list(engine)
    )
}

/// All stuck jobs, with the columns of `stale -o csv`.
pub fn all_columns(engine: Engine) -> String {
    let (host, claimed, seen, silence, lease, lapsed) = match engine {
        Engine::Sqlite => (
            "substr(owner_id, 1, instr(owner_id, ':') - 1)",
            "strftime('%Y-%m-%dT%H:%M:%SZ', claimed_at, 'unixepoch')",
            "strftime('%Y-%m-%dT%H:%M:%SZ', heartbeat_at, 'unixepoch')",
            "unixepoch() - heartbeat_at",
            "strftime('%Y-%m-%dT%H:%M:%SZ', lease_expires_at, 'unixepoch')",
            "(unixepoch() - lease_expires_at)",
        ),
        Engine::Postgres => (
            "split_part(owner_id, ':', 1)",
            "claimed_at",
            "heartbeat_at",
            "extract(epoch FROM now() - heartbeat_at)",
            "lease_expires_at",
            "extract(epoch FROM now() - lease_expires_at)::bigint",
        ),
    };
    format!(
        "SELECT id, queue, kind, status AS state, owner_id AS owner, {host} AS host, {claimed} AS claimed_at, \
         {seen} AS last_seen_at, {silence} AS silence_seconds, {lease} AS lease_expires_at, attempts, max_attempts, \
         'stuck' AS verdict, 'lease' AS liveness, 'lease_expired' AS rule, \
         'lease ran out ' || {lapsed} || 's ago' AS detail, 'requeue' AS action, stalls \
         FROM jobs WHERE {} ORDER BY heartbeat_at",
        stuck(engine)
    )
}

/// Requeues all stuck jobs, with what a reclaim writes.
pub fn requeue(engine: Engine) -> String {
    format!(
        "UPDATE jobs SET status = 'QUEUED', attempts = attempts + 1, stalls = stalls + 1, owner_id = NULL, \
         lease_token = NULL, claimed_at = NULL, heartbeat_at = NULL, lease_expires_at = NULL, run_at = {}, \
         error_detail = 'worker presumed dead' WHERE {}",
        now(engine),
        stuck(engine)
    )
}

/// A heartbeat of one job.
pub fn heartbeat(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "UPDATE jobs SET heartbeat_at = unixepoch() WHERE id = ?1 AND status = 'RUNNING'",
        Engine::Postgres => "UPDATE jobs SET heartbeat_at = now() WHERE id = $1 AND status = 'RUNNING'",
    }
}

/// The ids of healthy jobs.
pub fn healthy(engine: Engine) -> String {
    format!("SELECT id FROM jobs WHERE status = 'RUNNING' AND lease_expires_at > {} ORDER BY id LIMIT 400", now(engine))
}

/// Fills an empty table with `rows` jobs. `claims` of them are in flight, spread over the table: every `nth` of these is
/// healthy, or, with `rarely_stuck`, stuck. The others have finished.
pub fn fill(engine: Engine, rows: u64, claims: u64, nth: u64, rarely_stuck: bool) -> String {
    let slot = rows / claims.max(1);
    let seconds = |ago: &str| match engine {
        Engine::Sqlite => format!("unixepoch() - ({ago})"),
        Engine::Postgres => format!("now() - ({ago}) * interval '1 second'"),
    };
    let (numbers, source) = match engine {
        Engine::Sqlite => (
            format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) "),
            "n".to_owned(),
        ),
        Engine::Postgres => (String::new(), format!("generate_series(1::bigint, {rows}) AS n(i)")),
    };
    let [claim, odd] = [format!("(i % {slot} = 0 AND i / {slot} <= {claims})"), format!("i / {slot} % {nth} = 0")];
    let is_healthy = if rarely_stuck { format!("NOT ({odd})") } else { odd };
    let [stuck, healthy] = ["NOT ", ""].map(|not| format!("{claim} AND {not}({is_healthy})"));
    // Seconds since the heartbeat of a stuck job: one hour to eleven.
    let silent = "3600 + i / 7 * 7919 % 36000";
    format!(
        "{numbers}INSERT INTO jobs (id, queue, kind, payload, priority, status, run_at, owner_id, lease_token, claimed_at, \
           heartbeat_at, lease_expires_at, attempts, error_code, error_detail, created_at, finished_at) \
         SELECT i, CASE i % 3 WHEN 0 THEN 'mail' WHEN 1 THEN 'reports' ELSE 'default' END, \
           CASE i % 4 WHEN 0 THEN 'SendMail' WHEN 1 THEN 'BuildReport' WHEN 2 THEN 'Resize' ELSE 'Sync' END, \
           '{{\"user\": ' || i || ', \"template\": \"welcome\", \"locale\": \"en\"}}', i % 5, \
           CASE WHEN {claim} THEN 'RUNNING' WHEN i % 100 = 7 THEN 'FAILED' ELSE 'SUCCEEDED' END, \
           {created}, \
           CASE WHEN {stuck} THEN 'web' || (i / 3 % 5) || ':' || (4000 + i / 3 % 20) \
                WHEN {healthy} THEN 'app' || (i / 3 % 5) || ':' || (5000 + i / 3 % 20) END, \
           CASE WHEN {claim} THEN 'token-' || i END, \
           CASE WHEN {stuck} THEN {stuck_claimed} WHEN {healthy} THEN {just_now} ELSE {done} END, \
           CASE WHEN {stuck} THEN {stuck_beat} WHEN {healthy} THEN {just_now} ELSE {done} END, \
           CASE WHEN {stuck} THEN {stuck_lease} WHEN {healthy} THEN {tomorrow} END, \
           CASE WHEN {claim} THEN i / 3 % 3 ELSE 0 END, \
           CASE WHEN NOT ({claim}) AND i % 100 = 7 THEN 'timeout' END, \
           CASE WHEN NOT ({claim}) AND i % 100 = 7 THEN 'the remote host did not answer in 30 s' END, \
           {created}, CASE WHEN NOT ({claim}) THEN {done} END \
         FROM {source}",
        created = seconds("90000 + i % 500000"),
        done = seconds("86400 + i % 500000"),
        stuck_claimed = seconds(&format!("600 + {silent}")),
        stuck_beat = seconds(silent),
        stuck_lease = seconds(&format!("{silent} - 60")),
        just_now = seconds("0"),
        tomorrow = seconds("-86400"),
    )
}

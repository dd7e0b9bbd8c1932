//! The queues that the tests look at. Ages lie half a unit away from where their words would change, so that a slow
//! machine reads the same.

use crate::support::cli::Doctor;

/// The reference schema, as an application may have made it.
pub const JOBS: &str = "CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, queue TEXT, kind TEXT, status TEXT NOT NULL, run_at INTEGER, owner_id TEXT,
    lease_token TEXT, claimed_at INTEGER, heartbeat_at INTEGER, lease_expires_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER DEFAULT 5, stalls INTEGER NOT NULL DEFAULT 0,
    max_runtime_seconds INTEGER, deadline_at INTEGER, cancel_requested_at INTEGER, error_code TEXT,
    error_detail TEXT, finished_at INTEGER);
    CREATE INDEX jobs_lease ON jobs (status, lease_expires_at);";

/// An incident: 1 to 5 are dead in different ways, 6 is alive, 7 makes no sense, 8 is in trouble though its owner
/// lives, 9 and 10 are nobody's.
pub const INCIDENT: &str = "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at,
        lease_expires_at, attempts, cancel_requested_at, deadline_at)
    VALUES
        (1, 'media', 'ResizeVideo', 'RUNNING', 'media1:2207', 'a', 20400, 18660, 18600, 1, NULL, NULL),
        (2, 'mail', 'SendReminder', 'RUNNING', 'web2:911', 'b', 8100, 7860, 7800, 4, NULL, NULL),
        (3, 'mail', 'SendInvoice', 'CLAIMED', 'web2:912', 'c', 7800, NULL, 7740, 0, NULL, NULL),
        (4, 'reports', 'MonthlyReport', 'RUNNING', 'web2:912', 'd', 7740, 7680, 7620, 1, 60, NULL),
        (5, 'mail', 'SendInvoice', 'RUNNING', NULL, NULL, 275400, NULL, NULL, 0, NULL, NULL),
        (6, 'mail', 'SendInvoice', 'RUNNING', 'web1:4211', 'f', 7200, 3900, -37260, 0, NULL, NULL),
        (7, 'reports', 'MonthlyReport', 'RUNNING', 'web1:4212', 'g', 7200, -275460, -275520, 0, NULL, NULL),
        (8, 'media', 'ResizeVideo', 'RUNNING', 'web10:7', 'h', 11100, 3960, -37260, 0, NULL, 4200),
        (9, 'mail', 'SendInvoice', 'QUEUED', NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL),
        (10, 'mail', 'SendInvoice', 'SUCCEEDED', NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
    UPDATE jobs SET claimed_at = unixepoch() - 30 - claimed_at, heartbeat_at = unixepoch() - 30 - heartbeat_at,
        lease_expires_at = unixepoch() - 30 - lease_expires_at,
        cancel_requested_at = unixepoch() - 30 - cancel_requested_at, deadline_at = unixepoch() - 30 - deadline_at;";

pub fn incident() -> Doctor {
    let doctor = Doctor::new();
    doctor.sql(&format!("{JOBS}{INCIDENT}"));
    doctor
}

pub fn calm() -> Doctor {
    let doctor = incident();
    doctor.sql("DELETE FROM jobs WHERE id NOT IN (6, 9, 10)");
    doctor
}

/// A working directory with so many dead jobs, and nothing else.
pub fn orphans(n: u32) -> Doctor {
    let doctor = Doctor::new();
    doctor.sql(&format!(
        "PRAGMA journal_mode = wal; {JOBS}
            WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {n})
            INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, lease_expires_at)
            SELECT id, 'mail', 'SendInvoice', 'RUNNING', 'web1:' || (id % 7), hex(randomblob(8)),
                unixepoch() - 8000 - id, unixepoch() - 7000 - id FROM n;"
    ));
    doctor
}

/// A working directory with a table that does not say who holds a job.
pub fn simple() -> Doctor {
    let doctor = Doctor::new();
    doctor.sql(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT, kind TEXT, status TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER, last_error TEXT);
        INSERT INTO jobs VALUES (1, 'mail', 'SendInvoice', 'running', 0, 3, NULL),
            (2, 'mail', 'SendInvoice', 'running', 2, 3, 'timed out'),
            (3, 'mail', 'SendInvoice', 'queued', 0, 3, NULL);",
    );
    doctor
}

/// A home-made queue whose heartbeats are its workers', in epoch milliseconds: 1 is held by a dead worker, 2 by a live
/// one, 3 by one that has no row, 4 by a dead one on its last try.
pub fn orders() -> Doctor {
    let doctor = Doctor::new();
    doctor.sql_in(
        "orders.db",
        "CREATE TABLE order_queue (id INTEGER PRIMARY KEY, status TEXT NOT NULL, worker TEXT, started INTEGER,
            tries INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE worker_pings (name TEXT PRIMARY KEY, seen_at INTEGER);
        WITH t(now) AS (SELECT (unixepoch() - 30) * 1000)
        INSERT INTO worker_pings SELECT 'packer-1', now - 7800000 FROM t UNION ALL SELECT 'packer-2', now FROM t;
        WITH t(now) AS (SELECT (unixepoch() - 30) * 1000)
        INSERT INTO order_queue
        SELECT 1, 'working', 'packer-1', now - 7860000, 0 FROM t UNION ALL
        SELECT 2, 'working', 'packer-2', now - 7860000, 0 FROM t UNION ALL
        SELECT 3, 'working', 'packer-3', now - 12000000, 1 FROM t UNION ALL
        SELECT 4, 'working', 'packer-1', now - 7920000, 4 FROM t UNION ALL
        SELECT 5, 'new', NULL, NULL, 0 FROM t;",
    );
    std::fs::write(doctor.path("config.toml"), ORDERS_MAPPING).unwrap();
    doctor
}

const ORDERS_MAPPING: &str = r#"[mapping.orders]
time     = { default = { sqlite = "epoch ms", postgres = "native" } }
states   = { waiting = ["new"], in_flight = ["working"], failed = ["dead"] }
attempts = { column = "tries", max = 5, counted = "at reclaim" }

[mapping.orders.claim]
table      = "order_queue"
key        = "id"
state      = "status"
claimed_at = "started"
liveness   = [{ by = "owner", silent_after = "2m" }, { by = "age", column = "started", silent_after = "30m" }]

[mapping.orders.owner]
id        = "worker"
table     = "worker_pings"
match     = { name = "worker" }
heartbeat = "seen_at"
missing   = "dead"
unset     = "next"

[mapping.orders.action]
requeue = { to = "new", clear = ["worker", "started"] }
fail    = { to = "dead" }
"#;

pub const STATE: &str = "SELECT id, status, owner_id, attempts FROM jobs ORDER BY id";

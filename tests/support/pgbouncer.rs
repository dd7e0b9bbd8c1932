//! PgBouncer in transaction mode in front of the private cluster: on a unix socket in a directory of its own, and gone when
//! its owner is, or the test process.

use super::postgres::{self, TestDatabase, USER};
use ::postgres::{Client, NoTls};
use postgres::{as_user, connect, directory, guard};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The users whom the pooler asks for a password, how, and that password. The cluster asks nobody.
pub const GUARDED: [(&str, &str, &str); 2] = [("guarded", "scram-sha-256", "right"), ("digested", "md5", "right")];

/// Sessions of the server for each database. A test may hold a snapshot and a writer open beside what it does next; with fewer
/// it would wait for itself, and with more its doctors would not have to share.
pub const SERVERS: usize = 3;

pub struct Pooler {
    socket: PathBuf,
    _pooler: Child,
    /// Dropped, it closes the pipe that the guard reads from.
    _guard: Child,
}

/// The one in front of the cluster that all tests share.
pub fn pooler() -> &'static Pooler {
    static POOLER: OnceLock<Pooler> = OnceLock::new();
    POOLER.get_or_init(|| Pooler::new("*", &[]))
}

impl Pooler {
    /// One that knows a single database, or `*` for any, with these settings besides: a later one counts.
    pub fn new(database: &str, settings: &[&str]) -> Pooler {
        let (directory, user) = directory("jobdoctor-pgb-");
        let server = postgres::socket();
        let ini = [
            "[databases]".to_owned(),
            format!("{database} = host={}", server.display()),
            "[pgbouncer]".to_owned(),
            format!("unix_socket_dir = {}", directory.display()),
            "listen_port = 5432".to_owned(),
            "auth_type = hba".to_owned(),
            format!("auth_file = {}", directory.join("users").display()),
            format!("auth_hba_file = {}", directory.join("hba").display()),
            format!("admin_users = {USER}"),
            "pool_mode = transaction".to_owned(),
            format!("default_pool_size = {SERVERS}"),
            // What a session leaves behind stays, and what a startup packet asks for beyond the usual is refused.
            "server_reset_query_always = 0".to_owned(),
            "ignore_startup_parameters =".to_owned(),
            // Each test has a database, and the server's connections have an end.
            "server_idle_timeout = 2".to_owned(),
            // A test that waits for itself says so, and not after two minutes.
            "query_wait_timeout = 20".to_owned(),
            "server_login_retry = 1".to_owned(),
        ];
        let ini = ini.iter().map(String::as_str).chain(settings.iter().copied()).collect::<Vec<_>>().join("\n");
        let mut users = format!("\"{USER}\" \"\"\n");
        let mut hba = String::new();
        for (name, method, password) in GUARDED {
            users.push_str(&format!("\"{name}\" \"{password}\"\n"));
            hba.push_str(&format!("local all {name} {method}\n"));
        }
        hba.push_str("local all all trust\n");
        for (name, text) in [("ini", &ini), ("users", &users), ("hba", &hba)] {
            fs::write(directory.join(name), text).expect("write what the pooler reads");
        }
        let log = fs::File::create(directory.join("log")).expect("a log file");
        let pooler = as_user(Command::new(program()), user)
            .arg(directory.join("ini"))
            .current_dir(&directory)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("the log file again"))
            .stderr(log)
            .spawn()
            .expect("start pgbouncer");
        // Not QUIT: PgBouncer 1.18 does nothing of its own about it, and what a shell starts in the background ignores it.
        let guard = guard(pooler.id(), "TERM", &directory);
        let pooler = Pooler { socket: directory, _pooler: pooler, _guard: guard };
        pooler.wait();
        pooler
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    pub fn client(&self, database: &TestDatabase) -> Client {
        connect(&self.socket, database.name())
    }

    /// What the runs so far have left behind in that database and in the sessions that the pooler keeps for it. Nothing
    /// may be under way.
    pub fn left_behind(&self, database: &TestDatabase) -> Vec<String> {
        // The server hears of a client that is gone a moment later.
        self.left_behind_after(Duration::from_secs(300), database)
    }

    /// The same, where transactions are given that long to end.
    pub fn left_behind_after(&self, patience: Duration, database: &TestDatabase) -> Vec<String> {
        let mut watcher = database.client();
        let patience = Instant::now() + patience;
        while !column(&mut watcher, OPEN).is_empty() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut left = [OPEN, LOCKS].map(|sql| column(&mut watcher, sql)).concat();
        if !left.is_empty() {
            // Those sessions are lent out, and asking for all would be to wait.
            return left;
        }
        // All of them at once, so that no two are the same one.
        let mut clients: Vec<Client> = (0..SERVERS).map(|_| self.client(database)).collect();
        for client in &mut clients {
            client.batch_execute("BEGIN").expect("begin through the pooler");
            left.extend(column(client, IN_A_SESSION));
        }
        clients.iter_mut().for_each(|client| client.batch_execute("ROLLBACK").expect("end through the pooler"));
        left
    }

    /// Not through a database: that would make a connection to the server, which a test may not have expected.
    fn wait(&self) {
        let until = Instant::now() + Duration::from_secs(300);
        let console = format!("host={} user={USER} dbname=pgbouncer", self.socket.display());
        while Client::connect(&console, NoTls).is_err() {
            let log = fs::read_to_string(self.socket.join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "pgbouncer did not start: {log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

const OPEN: &str = "
    SELECT 'open transaction: ' || query FROM pg_stat_activity
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'";

/// Locks that last as long as their session.
const LOCKS: &str = "
    SELECT 'advisory lock ' || objid FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// What only the session itself can see. Some settings are the pooler's: it makes them anew for each client.
const IN_A_SESSION: &str = "
    SELECT 'prepared statement: ' || statement FROM pg_prepared_statements
    UNION ALL SELECT 'cursor ' || name FROM pg_cursors WHERE is_holdable
    UNION ALL SELECT 'channel ' || channel FROM pg_listening_channels() AS channel
    UNION ALL SELECT 'temporary tables' WHERE pg_my_temp_schema() <> 0
    UNION ALL SELECT 'setting ' || name || '=' || setting FROM pg_settings
    WHERE source = 'session' AND name NOT IN ('application_name', 'client_encoding', 'DateStyle', 'TimeZone',
        'standard_conforming_strings', 'transaction_isolation', 'transaction_read_only', 'transaction_deferrable')";

/// By the simple protocol: a statement that the driver prepared would be one that was left behind.
fn column(client: &mut Client, sql: &str) -> Vec<String> {
    let messages = client.simple_query(sql).expect("ask a session");
    let value = |message: &::postgres::SimpleQueryMessage| match message {
        ::postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    messages.iter().filter_map(value).collect()
}

/// Debian has it where only root's PATH leads.
fn program() -> PathBuf {
    let script = "PATH=\"$PATH:/usr/local/sbin:/usr/sbin\" command -v pgbouncer";
    let said = Command::new("sh").args(["-c", script]).output().expect("run sh");
    let found = Some(PathBuf::from(String::from_utf8_lossy(&said.stdout).trim())).filter(|path| path.is_file());
    found.expect(
        "no pgbouncer in PATH or /usr/sbin: run tests/run, which installs it, or install the package `pgbouncer`",
    )
}

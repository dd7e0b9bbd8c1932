//! A directory with what a block needs, and a shell in it.

use super::block::text_of;
use super::statements::{postgres, statements};
use crate::incident::fleet::Fleet;
use crate::incident::script::{frozen, outage};
use crate::support::at_work::UP_FOR_DAYS;
use crate::support::postgres::{USER, fresh};
use crate::support::pty::{On, OnTerminal, plain};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The jobs of the database that blocks with the word `postgres` find: one stuck, one alive.
const JOBS: &str = "
    INSERT INTO jobs (kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at) VALUES
    ('SendInvoice', 'RUNNING', 'web2:911', 'a', now() - interval '15 min', now() - interval '14 min', now() - interval '13 min'),
    ('SendInvoice', 'RUNNING', 'web1:4211', 'b', now() - interval '1 min', now(), now() + interval '1 min')";

/// The jobs of the table that docs/mapping.md makes a mapping for: two of a dead worker, one of them on its last attempt, and one
/// that is alive.
const ORDERS: &str = "
    INSERT INTO order_queue (task, status, worker, started, pinged, tries) VALUES
    ('pack', 'working', 'w1', unixepoch() - 1100, unixepoch() - 1000, 0),
    ('ship', 'working', 'w2', unixepoch() - 900, unixepoch() - 5, 0),
    ('bill', 'working', 'w1', unixepoch() - 1060, unixepoch() - 1000, 4),
    ('pack', 'new', NULL, NULL, NULL, 0)";

/// Two jobs of a dead worker, and one of a live one.
const SHOP: &str = "
    INSERT INTO jobs (queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at) VALUES
    ('mail', 'SendInvoice', 'RUNNING', 'web2:911', 'a', unixepoch() - 900, unixepoch() - 840, unixepoch() - 780),
    ('mail', 'SendReminder', 'RUNNING', 'web2:912', 'b', unixepoch() - 960, unixepoch() - 841, unixepoch() - 781),
    ('mail', 'SendInvoice', 'RUNNING', 'web1:4211', 'c', unixepoch() - 60, unixepoch() - 1, unixepoch() + 59)";

/// The jobs of the scheduler's table: one that is well for each that is not.
const SCHEDULED: &str = "
    INSERT INTO scheduled_jobs (state, topic, worker, updated_at, approved_at, deadline_at) VALUES
    ('PENDING', 'mail', NULL, unixepoch() - 30, NULL, NULL),
    ('PENDING', 'mail', NULL, unixepoch() - 180, NULL, NULL),
    ('PENDING', 'mail', NULL, unixepoch() - 200, NULL, unixepoch() - 60),
    ('APPROVAL_REQUIRED', 'refund', NULL, unixepoch() - 90000, NULL, NULL),
    ('APPROVAL_REQUIRED', 'refund', NULL, unixepoch() - 90000, unixepoch() - 240, NULL),
    ('SCHEDULED', 'mail', NULL, unixepoch() - 400, NULL, NULL),
    ('DISPATCHED', 'mail', 'w1', unixepoch() - 10, NULL, NULL),
    ('DISPATCHED', 'mail', 'w2', unixepoch() - 600, NULL, NULL),
    ('RUNNING', 'report', 'w1', unixepoch() - 600, NULL, NULL),
    ('RUNNING', 'report', 'w2', unixepoch() - 1200, NULL, NULL),
    ('SCHEDULED', 'mail', NULL, unixepoch() - 400, NULL, unixepoch() - 50),
    ('APPROVAL_REQUIRED', 'refund', NULL, unixepoch() - 90000, NULL, unixepoch() - 40)";

pub(super) struct Bench {
    directory: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
    /// Workers that take what is given back.
    fleet: Fleet,
}

/// Who runs the tests, and where.
static WHO: LazyLock<String> = LazyLock::new(|| {
    let said = Command::new("sh").args(["-c", "echo \"$(id -un)@$(uname -n)\""]).output().expect("run sh").stdout;
    String::from_utf8_lossy(&said).trim().to_owned()
});

/// Jobs that are due and that no worker takes.
const STILL: &str = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 699)
    INSERT INTO jobs (queue, kind, run_at, created_at)
    SELECT 'mail', 'SendInvoice', unixepoch() - 10800 + 10 * i, unixepoch() - 10800 + 10 * i FROM n";

impl Bench {
    pub(super) fn new() -> Bench {
        Bench {
            directory: tempfile::tempdir().expect("a temporary directory"),
            variables: Vec::new(),
            fleet: Fleet::default(),
        }
    }

    /// With what the words behind a block's language ask for; one that is not known is the block's fault.
    pub(super) fn with(words: &[String]) -> Result<Bench, String> {
        let mut bench = Bench::new();
        for word in words {
            match word.as_str() {
                "empty" => {}
                "demo" => bench.must("jobdoctor demo"),
                "config" => {
                    let table = format!("{};{ORDERS}", text_of("sql shop"));
                    bench.config(&text_of("toml config"), "shop.db", &table);
                }
                "target" => bench.config("[target.shop]\ndb = \"postgres://jobdoctor@db/shop\"\n", "shop.db", ""),
                "shop" => bench.database("shop.db", &format!("{};{ORDERS}", text_of("sql shop"))),
                "scheduler" => {
                    let table = format!("{}{SCHEDULED}", text_of("sql scheduler"));
                    bench.config(&text_of("toml scheduler"), "scheduler.db", &table);
                }
                // Three targets: one with stuck jobs, one without, and one that is not there.
                "many" => {
                    ["mail.db", "shop.db"].iter().for_each(|file| bench.must(&format!("jobdoctor init --db {file}")));
                    let target = |name| format!("[target.{name}]\ndb = \"{name}.db\"\n");
                    bench.config(&["mail", "media", "shop"].map(target).concat(), "shop.db", SHOP);
                }
                "postgres" => bench.postgres(JOBS),
                "incident" => {
                    bench.incident(&frozen());
                    let app = bench.app();
                    bench.fleet.start_in_its_place(&statements("sql worker postgres"), || postgres(&app));
                }
                "still" => {
                    bench.must("jobdoctor init --db queue.db -q");
                    bench.database("queue.db", STILL);
                    bench.variable("JOBDOCTOR_DB", "queue.db");
                }
                "wrong" => bench.incident(&frozen()),
                "pods" => {
                    bench.incident(&frozen());
                    bench.program("kubectl", "for host in 5 6 70 8 9; do echo pod/host-$host; done");
                }
                "outage" => bench.incident(&outage()),
                "then" | "wrapper" | "unattended" => {}
                other => return Err(format!("nobody knows what `{other}` needs")),
            }
        }
        Ok(bench)
    }

    pub(super) fn work(&self) -> std::path::PathBuf {
        let work = self.directory.path().join("work");
        std::fs::create_dir_all(&work).expect("the working directory");
        work
    }

    /// The config file, and what stands in a database that it names.
    fn config(&self, text: &str, file: &str, sql: &str) {
        let config = self.directory.path().join("config/jobdoctor");
        std::fs::create_dir_all(&config).expect("the config directory");
        std::fs::write(config.join("config.toml"), text).expect("the config file");
        self.database(file, sql);
    }

    pub(super) fn config_file(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("config/jobdoctor/config.toml")).expect("the config file")
    }

    fn database(&self, file: &str, sql: &str) {
        let database = rusqlite::Connection::open(self.work().join(file)).expect("a database");
        database.execute_batch(sql).expect("its tables");
    }

    pub(super) fn variable(&mut self, name: &'static str, value: &str) {
        self.variables.push((name, value.to_owned()));
    }

    /// A program that this machine need not have.
    pub(super) fn program(&self, name: &str, script: &str) {
        let bin = self.directory.path().join("bin");
        std::fs::create_dir_all(&bin).expect("a directory for programs");
        std::fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).expect("the program");
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).expect("make it run");
    }

    pub(super) fn worker(&self) {
        self.program("my-worker", "exit 0");
    }

    /// The incident that is told in tests/incident.
    fn incident(&mut self, jobs: &str) {
        self.postgres(jobs);
        self.variable("JOBDOCTOR_DB", "postgres:///app");
    }

    /// A database that is really called `app`, as on the page, with these jobs, and a role that is really called `oncall`.
    fn postgres(&mut self, jobs: &str) {
        let fresh = fresh();
        let mut client = fresh.client();
        let role = "DO $$ BEGIN CREATE ROLE oncall LOGIN SUPERUSER; EXCEPTION WHEN duplicate_object THEN NULL; END $$";
        client.batch_execute(role).expect("the role");
        client.batch_execute("DROP DATABASE IF EXISTS app WITH (FORCE)").expect("no earlier database");
        client.batch_execute("CREATE DATABASE app").expect("the database");
        self.variables.push(("PGHOST", fresh.socket().display().to_string()));
        self.variables.push(("PGUSER", USER.to_owned()));
        self.must("jobdoctor init --db postgres:///app");
        let mut app = postgres::Client::connect(&self.app(), postgres::NoTls).expect("connect to app");
        app.batch_execute(UP_FOR_DAYS).expect("a server that has been up for days");
        app.batch_execute(jobs).expect("the jobs");
    }

    fn app(&self) -> String {
        let host = self.variables.iter().find(|(name, _)| *name == "PGHOST").expect("a server");
        format!("host={} user={USER} dbname=app", host.1)
    }

    /// What bash makes of a script, both streams in one.
    pub(super) fn run(&self, script: &str) -> Output {
        self.bash(script).output().expect("run bash")
    }

    /// What a person sees of a script on a terminal of 100 columns, and how it ended.
    pub(super) fn show(&self, script: &str) -> Result<String, String> {
        let mut bash = self.bash(&format!("exec </dev/null\n{script}"));
        bash.env_remove("COLUMNS").env("TERM", "xterm").env("NO_COLOR", "1");
        let (end, written) = OnTerminal::of(bash, (100, 50), On::Both).end();
        // Progress is drawn over.
        let seen = |line: &str| plain(line.rsplit("\x1b[2K").next().unwrap_or_default()) + "\n";
        let said = self.as_on_page(written.replace('\r', "").lines().map(seen).collect());
        if end == Ok(0) { Ok(said) } else { Err(format!("{script}\nended with {end:?}:\n{said}")) }
    }

    fn bash(&self, script: &str) -> Command {
        #[expect(clippy::disallowed_methods, reason = "bash, jq and hostname are wherever the machine has them")]
        let path = std::env::var("PATH").expect("PATH");
        let binary = Path::new(env!("CARGO_BIN_EXE_jobdoctor")).parent().expect("the directory of the program");
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c"])
            .arg(format!("exec 2>&1\n{script}"))
            .current_dir(self.work())
            .env_clear()
            .env("PATH", format!("{}:{}:{path}", self.directory.path().join("bin").display(), binary.display()))
            .env("HOME", self.directory.path())
            .env("XDG_CONFIG_HOME", self.directory.path().join("config"))
            .env("COLUMNS", "100")
            .envs(self.variables.iter().map(|(name, value)| (*name, value.as_str())));
        bash
    }

    fn as_on_page(&self, said: String) -> String {
        let said = said.replace(&*WHO, "ana@ops1");
        // On a page, the config file is where a unit finds it by itself.
        let config = self.directory.path().join("config/jobdoctor/config.toml");
        let said = said.replace(&format!(" --config {}", config.display()), "");
        // The directory of a socket is another one each time, and that of a server is where a page says that it is.
        match self.variables.iter().find(|(name, _)| *name == "PGHOST") {
            Some((_, socket)) => said.replace(socket, "/var/run/postgresql"),
            None => said,
        }
    }

    pub(super) fn say(&self, script: &str) -> Result<String, String> {
        let output = self.run(script);
        let said = self.as_on_page(String::from_utf8_lossy(&output.stdout).into_owned());
        if output.status.success() { Ok(said) } else { Err(format!("{script}\nended with {}:\n{said}", output.status)) }
    }

    fn must(&self, script: &str) {
        self.say(script).unwrap_or_else(|error| panic!("{error}"));
    }
}

//! A place in which an example does what it says: the files that it names are there, and so are the databases.

use crate::cli::scene::{INCIDENT, JOBS, orders};
use crate::support::cli::Doctor;
use crate::support::postgres::{TestDatabase, fresh};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The databases of examples, all of which are one of the tests' own.
const SERVERS: [&str; 4] =
    ["postgres://ops@db/app", "postgres://owner@db/app", "postgres://ops@db.internal/app", "postgres:///app"];

/// What else is called otherwise here.
const HERE: [(&str, &str); 5] = [
    ("/var/lib/prometheus/node-exporter/", "./"),
    ("/etc/bash_completion.d/jobdoctor", "jobdoctor.bash"),
    ("man -l -", "cat"),
    // Those that are named are there already.
    ("init --db queue.db", "init --db new.db"),
    ("20261121181057-a1b2c3", "{run}"),
];

pub struct Sandbox {
    doctor: Doctor,
    server: Option<TestDatabase>,
}

impl Sandbox {
    pub fn for_line(line: &str) -> Sandbox {
        let doctor = Doctor::new();
        let of_server = SERVERS.iter().any(|server| line.contains(server));
        let server = of_server.then(fresh);
        let more = "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, lease_expires_at)
            SELECT id + 41, queue, kind, status, owner_id, lease_token, claimed_at, lease_expires_at FROM jobs WHERE id < 3;";
        doctor.sql(&format!("{JOBS}{INCIDENT}{more}"));
        doctor.sql_in("mail.db", &format!("{JOBS}{INCIDENT}"));
        let mapped = orders();
        doctor.sql(
            "CREATE TABLE order_queue (id INTEGER PRIMARY KEY, status TEXT NOT NULL, worker TEXT, started INTEGER,
                 tries INTEGER NOT NULL DEFAULT 0);
             CREATE TABLE worker_pings (name TEXT PRIMARY KEY, seen_at INTEGER);",
        );
        let mapping = fs::read_to_string(mapped.path("config.toml")).unwrap();
        let (queue, mail) = (doctor.path("queue.db"), doctor.path("mail.db"));
        let targets = format!("[target.shop]\ndb = '{}'\n[target.mail]\ndb = '{}'\n", queue.display(), mail.display());
        fs::create_dir_all(doctor.home(".config/jobdoctor")).unwrap();
        fs::write(doctor.home(".config/jobdoctor/config.toml"), format!("{targets}{mapping}")).unwrap();
        fs::write(doctor.path("ids.txt"), "42\n43\n").unwrap();
        fs::write(doctor.path("alive.txt"), "web1\nweb10\n").unwrap();
        fs::create_dir(doctor.path("bin")).unwrap();
        let sandbox = Sandbox { doctor, server };
        sandbox.program("kubectl", "echo pod/web1; echo pod/web10");
        if let Some(server) = &sandbox.server {
            sandbox.doctor.run(&["init", "--db", &server.url()]).exits(0);
        }
        if line.contains("--plan plan.json") {
            sandbox.doctor.on_queue(&["reclaim", "--save-plan", "plan.json"]).exits(0);
        }
        sandbox
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.doctor.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn here(&self, line: &str) -> String {
        let mut said = line.to_owned();
        if let Some(server) = &self.server {
            said = SERVERS.iter().fold(said, |said, url| said.replace(url, &format!("'{}'", server.url())));
        }
        said = HERE.iter().fold(said, |said, (there, here)| said.replace(there, here));
        if ["{run}", "history 20261121", "history last", "undo last"].iter().any(|run| said.contains(run)) {
            let run = self.doctor.on_queue(&["reclaim", "--apply", "--json"]).exits(0).json();
            let run = run["run_id"].as_str().unwrap().to_owned();
            said = said.replace("{run}", &run).replace("history 20261121", &format!("history {}", &run[..8]));
        }
        said
    }

    /// What bash makes of it. Where no database is named, it is the one here.
    pub fn run(&self, line: &str) -> Output {
        let line = self.here(line);
        let mut command = self.bash(&format!("set -o pipefail\n{line}"));
        if !line.contains("--target") && !line.contains("--all-targets") {
            command.env("JOBDOCTOR_DB", self.doctor.path("queue.db"));
        }
        command.output().unwrap()
    }

    pub fn words(&self, line: &str) -> Vec<String> {
        let script = format!("jobdoctor() {{ printf '%s\\0' jobdoctor \"$@\"; }}\n{line}");
        let said = String::from_utf8(self.bash(&script).output().unwrap().stdout).unwrap();
        said.split_terminator('\0').map(str::to_owned).collect()
    }

    fn bash(&self, script: &str) -> Command {
        #[expect(clippy::disallowed_methods, reason = "bash, jq and hostname are wherever the machine has them")]
        let path = std::env::var("PATH").unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_jobdoctor")).parent().unwrap();
        let path = format!("{}:{}:{path}", self.doctor.path("bin").display(), program.display());
        let mut command = Command::new("bash");
        command.arg("-c").arg(script).env_clear().env("HOME", self.doctor.home("")).env("PATH", path);
        command.current_dir(self.doctor.path("")).stdin(Stdio::null());
        command
    }
}

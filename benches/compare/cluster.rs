//! A private Postgres server: on a Unix socket in a temporary directory, and gone when the harness is, however it ends.

use crate::place::{Engine, Place};
use anyhow::{Context, Result, bail};
use postgres::{Client, NoTls};
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The superuser of the cluster.
const USER: &str = "doctor";

/// The usual settings, with memory for the tables and no checkpoint or vacuum in the middle of a measurement.
const SETTINGS: [&str; 6] = [
    "listen_addresses=",
    "autovacuum=off",
    "shared_buffers=1GB",
    "max_wal_size=16GB",
    "checkpoint_timeout=1h",
    "wal_level=minimal",
];

/// A server with its data.
pub struct Cluster {
    /// The directory of its socket.
    pub socket: PathBuf,
    binaries: PathBuf,
    server: Child,
    /// A shell that reads from a pipe; when the pipe closes, it stops the server by its id and removes the directory.
    guard: Child,
}

impl Cluster {
    /// Makes a cluster in that directory and starts its server.
    ///
    /// # Errors
    /// When there is no Postgres here, or it does not start.
    pub fn start(parent: &Path) -> Result<Cluster> {
        let socket = tempfile::Builder::new().prefix("bench-pg-").tempdir_in(parent)?.keep();
        let user = server_user(&socket)?;
        if let Some((uid, gid)) = user {
            chown(&socket, Some(uid), Some(gid))?;
        }
        let (data, binaries) = (socket.join("data"), binaries()?);
        let mut initdb = as_user(Command::new(binaries.join("initdb")), user);
        initdb.arg("-D").arg(&data).args(["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"]).current_dir(&socket);
        crate::timing::printed(initdb)?;
        let log = fs::File::create(socket.join("log"))?;
        let mut server = as_user(Command::new(binaries.join("postgres")), user);
        server.arg("-D").arg(&data).arg("-k").arg(&socket).current_dir(&socket).process_group(0);
        SETTINGS.iter().chain(&["max_wal_senders=0"]).for_each(|setting| {
            server.args(["-c", setting]);
        });
        let server = server.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        let guard = guard(server.id(), &socket)?;
        let cluster = Cluster { socket, binaries, server, guard };
        let until = Instant::now() + Duration::from_secs(30);
        while cluster.client("postgres").is_err() {
            if Instant::now() > until {
                bail!("Postgres did not start: {}", fs::read_to_string(cluster.socket.join("log"))?);
            }
            sleep(Duration::from_millis(20));
        }
        Ok(cluster)
    }

    /// A database of that name, which need not exist yet.
    pub fn place(&self, database: &str) -> Place {
        self.place_through(&self.socket, database)
    }

    /// The same database through the socket in another directory.
    pub fn place_through(&self, directory: &Path, database: &str) -> Place {
        let db = format!("host={} user={USER} dbname={database}", directory.display());
        Place { engine: Engine::Postgres, db, shell: self.binaries.join("psql") }
    }

    /// A connection to that database.
    ///
    /// # Errors
    /// When the server refuses it.
    pub fn client(&self, database: &str) -> Result<Client> {
        Ok(Client::connect(&self.place(database).db, NoTls)?)
    }

    /// Runs a statement of administration.
    ///
    /// # Errors
    /// When the server refuses it.
    pub fn administer(&self, sql: &str) -> Result<()> {
        self.client("postgres")?.batch_execute(sql).with_context(|| sql.to_owned())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.server.wait();
        let _ = self.guard.wait();
    }
}

fn guard(server: u32, directory: &Path) -> Result<Child> {
    let script = "read _; kill -QUIT \"$1\" 2>/dev/null; sleep 0.2; rm -rf \"$2\"; sleep 1; rm -rf \"$2\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "guard"]).arg(server.to_string()).arg(directory).current_dir("/").process_group(0);
    Ok(shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

/// Where the server's programs are, newest version first.
fn binaries() -> Result<PathBuf> {
    let mut places: Vec<PathBuf> = match fs::read_dir("/usr/lib/postgresql") {
        Ok(versions) => versions.flatten().map(|version| version.path().join("bin")).collect(),
        Err(_) => Vec::new(),
    };
    places.sort();
    places.reverse();
    places.extend(["/usr/local/pgsql/bin", "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"].map(PathBuf::from));
    let complete = |bin: &PathBuf| bin.join("initdb").exists() && bin.join("postgres").exists();
    places.into_iter().find(complete).context("no Postgres server programs: install the package `postgresql`")
}

/// The user and group the server runs as: Postgres refuses to run as root. `None` is the current user.
fn server_user(directory: &Path) -> Result<Option<(u32, u32)>> {
    if fs::metadata(directory)?.uid() != 0 {
        return Ok(None);
    }
    let number = |flag: &str, user: &str| {
        let said = Command::new("id").args([flag, user]).stderr(Stdio::null()).output().ok()?;
        String::from_utf8_lossy(&said.stdout).trim().parse::<u32>().ok()
    };
    let found = ["postgres", "nobody"].into_iter().find_map(|user| Some((number("-u", user)?, number("-g", user)?)));
    Ok(Some(found.context("running as root, and there is no user `postgres` to run the server as")?))
}

fn as_user(mut command: Command, user: Option<(u32, u32)>) -> Command {
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

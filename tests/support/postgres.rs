//! A private Postgres cluster, one for the whole test process: in a temporary directory, on a unix socket alone, and gone
//! when the process is, however it ends.

use super::shm;
use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub const USER: &str = "doctor";

pub struct TestDatabase {
    name: String,
    socket: PathBuf,
    /// The session that made it, for its end.
    maker: Mutex<Client>,
}

/// Its memory is for the next one. A test may have stopped its server.
impl Drop for TestDatabase {
    fn drop(&mut self) {
        let maker = self.maker.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = maker.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

pub fn fresh() -> TestDatabase {
    fresh_on(socket())
}

/// Makes one in no encoding, which holds any bytes.
pub fn without_encoding() -> TestDatabase {
    fresh_with(socket(), "ENCODING 'SQL_ASCII' TEMPLATE template0")
}

fn fresh_on(socket: &Path) -> TestDatabase {
    fresh_with(socket, "")
}

fn fresh_with(socket: &Path, options: &str) -> TestDatabase {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("t{}", COUNT.fetch_add(1, Ordering::SeqCst));
    let mut maker = connect(socket, "postgres");
    maker.batch_execute(&format!("CREATE DATABASE {name} {options}")).expect("create a database for the test");
    TestDatabase { name, socket: socket.to_owned(), maker: Mutex::new(maker) }
}

impl TestDatabase {
    /// Makes a copy of it, once the server has noticed who is no longer there.
    pub fn copy(&self) -> TestDatabase {
        let sessions = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = $1";
        self.client_elsewhere().query_one(sessions, &[&self.name]).expect("end the sessions");
        fresh_with(&self.socket, &format!("TEMPLATE {}", self.name))
    }

    pub fn url(&self) -> String {
        self.url_through(&self.socket)
    }

    /// The same through another directory that holds a socket: a proxy's.
    pub fn url_through(&self, socket: &Path) -> String {
        format!("host={} user={USER} dbname={}", socket.display(), self.name)
    }

    pub fn client(&self) -> Client {
        connect(&self.socket, &self.name)
    }

    /// A connection of the test's own to another database of the server.
    pub fn client_elsewhere(&self) -> Client {
        connect(&self.socket, "postgres")
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

pub(super) fn socket() -> &'static Path {
    &cluster().socket
}

pub(super) fn connect(socket: &Path, database: &str) -> Client {
    connect_at(socket, 5432, database)
}

fn connect_at(socket: &Path, port: u16, database: &str) -> Client {
    Client::connect(&conninfo(socket, port, database), NoTls).expect("connect to the test server")
}

fn conninfo(socket: &Path, port: u16, database: &str) -> String {
    format!("host={} port={port} user={USER} dbname={database} application_name=test", socket.display())
}

pub struct Cluster {
    /// The directory of its socket, its log and its data.
    pub socket: PathBuf,
    port: u16,
    settings: Vec<String>,
    user: ServerUser,
    server: Child,
    /// The guard reads from a pipe that closes when we die, and then cleans up.
    guard: Child,
}

fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(5432, &[], |_| {}))
}

impl Cluster {
    /// Starts one at that port with these settings on top of the usual ones, once `prepare` has seen its data directory. What
    /// is put in there belongs to the server.
    pub fn start(port: u16, settings: &[&str], prepare: impl FnOnce(&Path)) -> Cluster {
        assert!(!super::labs::without_server(), "a test that needs a server is not for --quick");
        let (directory, user) = directory("jobdoctor-pg-");
        let data = directory.join("data");
        make(&data, user);
        prepare(&data);
        for entry in fs::read_dir(&data).expect("the data directory") {
            give(&entry.expect("a file of the server").path(), user);
        }
        let port_setting = format!("port={port}");
        let usual = [
            "fsync=off",
            "synchronous_commit=off",
            "full_page_writes=off",
            "max_connections=400",
            "max_wal_size=128MB",
            &port_setting,
        ];
        let settings = [&usual, settings].concat();
        let server = serve(&data, &directory, user, &settings);
        let guard = guard(server.id(), AT_ONCE, &directory);
        wait_at(&directory, port);
        let settings = settings.into_iter().map(str::to_owned).collect();
        Cluster { socket: directory, port, settings, user, server, guard }
    }

    /// A database of its own for one test. The cluster must be at the usual port.
    pub fn fresh(&self) -> TestDatabase {
        fresh_on(&self.socket)
    }

    /// Ends the server in one of its own ways, and waits for its end: `INT` is fast, `QUIT` is immediate.
    pub fn stop(&mut self, how: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.server.id()).expect("a pid")).expect("a pid");
        kill_process(pid, how).expect("the server is there");
        self.server.wait().expect("its end");
    }

    /// Starts it again on the same data, once it has ended.
    pub fn start_again(&mut self) {
        let settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        self.server = serve(&self.socket.join("data"), &self.socket, self.user, &settings);
        // Its guard would one day stop whoever has its number by then.
        self.guard.kill().expect("the guard is there");
        self.guard.wait().expect("its end");
        self.guard = guard(self.server.id(), AT_ONCE, &self.socket);
        wait_at(&self.socket, self.port);
    }

    pub fn client(&self) -> Client {
        connect_at(&self.socket, self.port, "postgres")
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.socket.join("log")).unwrap_or_default()
    }
}

fn give(path: &Path, user: ServerUser) {
    chown(path, user.map(|(uid, _)| uid), user.map(|(_, gid)| gid)).expect("give a file to the server");
}

/// A directory that belongs to whom the server runs as, and to nobody else.
pub(super) fn directory(prefix: &str) -> (PathBuf, ServerUser) {
    let directory = shm::directory(prefix).keep();
    let user = server_user(&directory);
    give(&directory, user);
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).expect("close the directory");
    (directory, user)
}

pub(super) fn make(data: &Path, user: ServerUser) {
    let made = as_user(Command::new(binaries().join("initdb")), user)
        .arg("-D")
        .arg(data)
        .args(["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        .current_dir(data.parent().expect("a directory around the data"))
        .output()
        .expect("run initdb");
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
}

/// Starts a server on a socket in that directory, where its log is too.
pub(super) fn serve(data: &Path, directory: &Path, user: ServerUser, settings: &[&str]) -> Child {
    let log = fs::File::create(directory.join("log")).expect("a log file");
    let mut server = as_user(Command::new(binaries().join("postgres")), user);
    server.arg("-D").arg(data).arg("-k").arg(directory).current_dir(directory);
    for setting in ["listen_addresses=", "autovacuum=off", "shared_buffers=64MB"].iter().chain(settings) {
        server.args(["-c", setting]);
    }
    server
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("the log file again"))
        .stderr(log)
        .spawn()
        .expect("start postgres")
}

/// The signal at which Postgres ends at once.
pub(super) const AT_ONCE: &str = "QUIT";

/// A shell that waits for us to die, by whatever cause, and then stops the server by its id, with that signal, and removes its
/// directory.
pub(super) fn guard(server: u32, how: &str, directory: &Path) -> Child {
    let script = "read _; kill -\"$3\" \"$1\" 2>/dev/null; sleep 0.2; rm -rf \"$2\"; sleep 1; rm -rf \"$2\"";
    Command::new("sh")
        .args(["-c", script, "guard"])
        .arg(server.to_string())
        .arg(directory)
        .arg(how)
        .process_group(0)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the guard")
}

/// Waits until the server at the usual port lets somebody in.
pub(super) fn wait(directory: &Path) {
    wait_at(directory, 5432);
}

fn wait_at(directory: &Path, port: u16) {
    let until = Instant::now() + Duration::from_secs(300);
    let conninfo = conninfo(directory, port, "postgres");
    while Client::connect(&conninfo, NoTls).is_err() {
        let log = || fs::read_to_string(directory.join("log")).unwrap_or_default();
        assert!(Instant::now() < until, "the test server did not start: {}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where programs of Postgres may be installed, the newest version first.
pub fn installed() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        places.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    places.sort();
    places.reverse();
    places.extend(["/usr/local/pgsql/bin", "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"].map(PathBuf::from));
    places
}

/// Where the server's programs are. Never skipped silently: a suite without Postgres proves half of nothing.
pub fn binaries() -> PathBuf {
    let mut places = installed();
    let found = Command::new("sh").args(["-c", "command -v initdb"]).output().expect("run sh");
    if let Some(bin) = Path::new(String::from_utf8_lossy(&found.stdout).trim()).parent() {
        places.insert(0, bin.to_owned());
    }
    let complete = |bin: &PathBuf| bin.join("initdb").exists() && bin.join("postgres").exists();
    places.into_iter().find(complete).expect(
        "no Postgres server programs (initdb, postgres) in PATH or /usr/lib/postgresql/*/bin: run tests/run, which \
         installs them, or install the package `postgresql`",
    )
}

/// Whom a server runs as: a user and a group, or whoever we are.
pub(super) type ServerUser = Option<(u32, u32)>;

/// Postgres refuses to run as root; then it runs as somebody else.
fn server_user(directory: &Path) -> ServerUser {
    if fs::metadata(directory).expect("the directory").uid() != 0 {
        return None;
    }
    let number = |flag: &str, user: &str| {
        let said = Command::new("id").args([flag, user]).stderr(Stdio::null()).output().ok()?;
        String::from_utf8_lossy(&said.stdout).trim().parse::<u32>().ok()
    };
    let user = ["postgres", "nobody"].into_iter().find_map(|user| Some((number("-u", user)?, number("-g", user)?)));
    Some(user.expect("running as root, and there is neither a user `postgres` nor `nobody` to run the server as"))
}

pub(super) fn as_user(mut command: Command, user: ServerUser) -> Command {
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

//! A private Postgres cluster, one for the whole test process: in a temporary directory, on a unix socket alone, and gone
//! when the process is, however it ends.

use postgres::{Client, NoTls};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The superuser of the cluster.
pub const USER: &str = "doctor";

/// A database of its own for one test.
pub struct TestDatabase {
    name: String,
}

/// Makes one.
pub fn fresh() -> TestDatabase {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("t{}", COUNT.fetch_add(1, Ordering::SeqCst));
    let cluster = cluster();
    let mut client = connect(&cluster.socket, "postgres");
    client.batch_execute(&format!("CREATE DATABASE {name}")).expect("create a database for the test");
    TestDatabase { name }
}

impl TestDatabase {
    /// Its address, in the form that operators type.
    pub fn url(&self) -> String {
        self.url_through(&cluster().socket)
    }

    /// The same through another directory that holds a socket: a proxy's.
    pub fn url_through(&self, socket: &Path) -> String {
        format!("host={} user={USER} dbname={}", socket.display(), self.name)
    }

    /// A connection of the test's own.
    pub fn client(&self) -> Client {
        connect(&cluster().socket, &self.name)
    }

    /// The directory of the server's socket.
    pub fn socket(&self) -> &'static Path {
        &cluster().socket
    }
}

fn connect(socket: &Path, database: &str) -> Client {
    let conninfo = format!("host={} user={USER} dbname={database} application_name=test", socket.display());
    Client::connect(&conninfo, NoTls).expect("connect to the test server")
}

struct Cluster {
    socket: PathBuf,
    _server: Child,
    /// The guard reads from a pipe that closes when we die, and then cleans up.
    _guard: Child,
}

fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(start)
}

fn start() -> Cluster {
    let bin = binaries();
    let directory = tempfile::Builder::new().prefix("jobdoctor-pg-").tempdir().expect("a temporary directory").keep();
    let user = server_user(&directory);
    chown(&directory, user.map(|(uid, _)| uid), user.map(|(_, gid)| gid)).expect("give the directory to the server");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).expect("close the directory");
    let data = directory.join("data");
    let made = as_user(Command::new(bin.join("initdb")), user)
        .arg("-D")
        .arg(&data)
        .args(["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        .current_dir(&directory)
        .output()
        .expect("run initdb");
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let log = fs::File::create(directory.join("log")).expect("a log file");
    let mut server = as_user(Command::new(bin.join("postgres")), user);
    server.arg("-D").arg(&data).arg("-k").arg(&directory).current_dir(&directory);
    for setting in [
        "listen_addresses=",
        "fsync=off",
        "synchronous_commit=off",
        "full_page_writes=off",
        "max_connections=200",
        "autovacuum=off",
        "shared_buffers=64MB",
    ] {
        server.args(["-c", setting]);
    }
    let server = server
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("the log file again"))
        .stderr(log)
        .spawn()
        .expect("start postgres");
    let guard = guard(server.id(), &directory);
    wait(&directory);
    Cluster { socket: directory, _server: server, _guard: guard }
}

/// A shell that waits for us to die, by whatever cause, and then stops the server by its id and removes its directory.
fn guard(server: u32, directory: &Path) -> Child {
    let script = "read _; kill -QUIT \"$1\" 2>/dev/null; sleep 0.2; rm -rf \"$2\"; sleep 1; rm -rf \"$2\"";
    Command::new("sh")
        .args(["-c", script, "guard"])
        .arg(server.to_string())
        .arg(directory)
        .process_group(0)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the guard")
}

fn wait(directory: &Path) {
    let until = Instant::now() + Duration::from_secs(30);
    let conninfo = format!("host={} user={USER} dbname=postgres", directory.display());
    while Client::connect(&conninfo, NoTls).is_err() {
        let log = || fs::read_to_string(directory.join("log")).unwrap_or_default();
        assert!(Instant::now() < until, "the test server did not start: {}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where the server's programs are. Never skipped silently: a suite without Postgres proves half of nothing.
fn binaries() -> PathBuf {
    let mut places: Vec<PathBuf> = Vec::new();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        places.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    // Newest first.
    places.sort();
    places.reverse();
    for directory in ["/usr/local/pgsql/bin", "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"] {
        places.push(PathBuf::from(directory));
    }
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

/// Postgres refuses to run as root; then it runs as somebody else.
fn server_user(directory: &Path) -> Option<(u32, u32)> {
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

fn as_user(mut command: Command, user: Option<(u32, u32)>) -> Command {
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

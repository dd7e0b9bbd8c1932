//! What the applications of the live tests run in: made once, and kept among the build's own files.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

const TRIES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug, Clone, Copy)]
pub(super) enum Runtime {
    /// Python from that version on, with what the application's `requirements.txt` says; where there is none, what
    /// `fixtures/live/python.sh` makes.
    Python(u32, u32),
    /// The Node and the packages of `fixtures/live/node`; which package the application shall load.
    Node(&'static str),
    /// The same, with the SQLite driver of `fixtures/live/node`.
    NodeSqlite(&'static str),
    /// The system's own Ruby, with these libraries.
    Ruby(&'static [&'static str]),
    /// The system's own PHP, with these of its packages.
    Php(&'static [&'static str]),
    /// The system's own Java, with these of its libraries. It compiles the application each time it runs it.
    Java(&'static [&'static str]),
    /// None: cargo compiles the application's `app.rs` to a program called NAME-live, after its directory.
    Cargo,
}

/// The program that runs scripts, and what it needs in its environment.
#[derive(Debug, Clone)]
pub(super) struct Interpreter {
    program: PathBuf,
    environment: Vec<(&'static str, String)>,
}

impl Interpreter {
    /// Runs a script; what was compiled from one runs by itself.
    pub(super) fn script(&self, script: &Path) -> Command {
        let mut command = self.command();
        if script.extension().is_none_or(|extension| extension != "rs") {
            command.arg(script);
        }
        command
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The interpreter for an application; `None`, after saying so loudly, where it cannot be had.
pub(super) fn interpreter(application: &Path, runtime: Runtime) -> Option<Interpreter> {
    type Made = Arc<OnceLock<Result<Interpreter, String>>>;
    static MADE: Mutex<Option<HashMap<PathBuf, Made>>> = Mutex::new(None);
    let directory = match runtime {
        Runtime::Node(_) | Runtime::NodeSqlite(_) => application.with_file_name("node"),
        _ => application.to_owned(),
    };
    let made = {
        let mut all = MADE.lock().expect("the environments");
        let all = all.get_or_insert_default();
        Arc::clone(all.entry(directory.clone()).or_default())
    };
    let name = application.file_name().expect("its name").to_string_lossy();
    let made = made.get_or_init(|| prepare(&directory, runtime)).clone();
    let made = match runtime {
        Runtime::NodeSqlite(_) => made.and_then(|node| sqlite_driver(&node).map(|()| node)),
        _ => made,
    };
    match made {
        Ok(mut interpreter) => {
            if let Runtime::Node(package) | Runtime::NodeSqlite(package) = runtime {
                interpreter.environment.push(("LIVE_PACKAGE", package.to_owned()));
            }
            Some(interpreter)
        }
        Err(why) => {
            println!("\n!!! LIVE TEST NOT RUN: {name}: {why}\n");
            mark(&format!("NOT RUN: {name}: {}", why.lines().next().unwrap_or_default()));
            None
        }
    }
}

/// Leaves a line in the file that `tests/run` looks at afterwards.
pub(super) fn mark(line: &str) {
    #[expect(clippy::disallowed_methods, reason = "the marker is between tests/run and this test")]
    let Some(path) = std::env::var_os("JOBDOCTOR_LIVE_MARKER") else { return };
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| writeln!(file, "{line}")).expect("write the marker");
}

fn prepare(source: &Path, runtime: Runtime) -> Result<Interpreter, String> {
    let name = source.file_name().ok_or("a directory without a name")?.to_string_lossy();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("live-{name}"));
    match runtime {
        Runtime::Python(major, minor) => python(source, &place, (major, minor)),
        Runtime::Node(_) | Runtime::NodeSqlite(_) => node(source, &place),
        Runtime::Ruby(libraries) => ruby(libraries),
        Runtime::Php(packages) => php(packages),
        Runtime::Java(libraries) => java(libraries),
        Runtime::Cargo => cargo(source, &place, &name),
    }
}

fn cargo(source: &Path, place: &Path, name: &str) -> Result<Interpreter, String> {
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--locked", "--manifest-path"]).arg(source.join("Cargo.toml"));
    runs_within(build.arg("--target-dir").arg(place), PATIENCE * 6)?;
    Ok(Interpreter { program: place.join("debug").join(format!("{name}-live")), environment: Vec::new() })
}

fn python(source: &Path, place: &Path, oldest: (u32, u32)) -> Result<Interpreter, String> {
    let requirements = source.join("requirements.txt");
    let [in_venv, unpacked] = ["bin/python", "python"].map(|program| place.join(program));
    let program = || if in_venv.exists() { in_venv.clone() } else { unpacked.clone() };
    once(
        place,
        &[&requirements],
        || runs(Command::new(program()).args(["-c", "pass"])),
        || match any_python(oldest) {
            Ok(base) => {
                runs(Command::new(base).args(["-m", "venv"]).arg(place))?;
                let mut pip = Command::new(&in_venv);
                pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r"]);
                runs(pip.arg(&requirements))
            }
            Err(why) => {
                let last_resort = source.with_file_name("python.sh");
                let unpacked = runs(Command::new("bash").arg(last_resort).arg(place).arg(&requirements));
                unpacked.map_err(|error| format!("{why}, and none could be unpacked: {error}"))
            }
        },
    )?;
    // The fixtures stay as they are.
    Ok(Interpreter { program: program(), environment: vec![("PYTHONDONTWRITEBYTECODE", "1".to_owned())] })
}

/// A Python from that version on that can make environments.
fn any_python((major, minor): (u32, u32)) -> Result<&'static str, String> {
    let test = format!("import sys, venv, ensurepip; sys.exit(sys.version_info < ({major}, {minor}))");
    let names = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "/usr/bin/python3"];
    let fits = |name: &&str| runs(Command::new(name).args(["-c", &test])).is_ok();
    let none = || format!("no Python from {major}.{minor} on with venv and ensurepip");
    names.into_iter().find(fits).ok_or_else(none)
}

/// With a Node of its own among the packages, where there is one for this machine; else the system's, if it is new.
fn node(source: &Path, place: &Path) -> Result<Interpreter, String> {
    let files = ["package.json", "package-lock.json"].map(|file| source.join(file));
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let bundled = place.join(format!("node_modules/node-linux-{machine}/bin/node"));
    let test = "const [major, minor] = process.versions.node.split('.').map(Number); \
                process.exit(major > 22 || (major === 22 && minor >= 18) ? 0 : 1)";
    let fits = |node: &Path| runs(Command::new(node).args(["-e", test]));
    let any = || fits(&bundled).or_else(|_| fits(Path::new("node"))).map_err(|_| "no Node from 22.18 on".to_owned());
    once(place, &[&files[0], &files[1]], any, || {
        fs::create_dir_all(place).map_err(|error| error.to_string())?;
        for file in &files {
            fs::copy(file, place.join(file.file_name().unwrap_or_default())).map_err(|error| error.to_string())?;
        }
        // Only the SQLite driver needs a script of its own to be run: see below.
        let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
        runs(Command::new("npm").args(arguments).current_dir(place))
    })?;
    let program = if fits(&bundled).is_ok() { bundled } else { PathBuf::from("node") };
    let modules = place.join("node_modules").to_string_lossy().into_owned();
    Ok(Interpreter { program, environment: vec![("NODE_PATH", modules)] })
}

/// Its binary is fetched, or compiled with the headers that the bundled Node brings: the one package in C++ here, so that the
/// others do without a compiler.
fn sqlite_driver(node: &Interpreter) -> Result<(), String> {
    static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
    let loads = || runs(node.command().args(["-e", "require('better-sqlite3')(':memory:')"]));
    let build = || {
        let modules = node.environment.iter().find(|(name, _)| *name == "NODE_PATH");
        let (_, modules) = modules.ok_or("no packages")?;
        let script =
            "home=${0%/bin/node}; [ \"$home\" = node ] || export PATH=\"$home/bin:$PATH\" npm_config_nodedir=\"$home\"
                      exec npm rebuild better-sqlite3";
        runs(Command::new("sh").args(["-c", script]).arg(&node.program).current_dir(modules))?;
        loads()
    };
    BUILT.get_or_init(|| loads().or_else(|_| build())).clone()
}

fn ruby(libraries: &[&str]) -> Result<Interpreter, String> {
    // Another Ruby that comes first in the path would not know what the system's packages brought.
    let requires = |program: &&str| {
        let arguments = libraries.iter().map(|library| format!("-r{library}"));
        runs(Command::new(program).args(arguments).args(["-e", ""])).is_ok()
    };
    let program = ["ruby", "/usr/bin/ruby"].into_iter().find(requires);
    let program = program.ok_or_else(|| format!("no Ruby with {}", libraries.join(", ")))?;
    Ok(Interpreter { program: PathBuf::from(program), environment: Vec::new() })
}

fn php(packages: &[&str]) -> Result<Interpreter, String> {
    let requires: String = packages.iter().map(|package| format!("require '{package}/autoload.php';")).collect();
    let program = PathBuf::from("/usr/bin/php");
    runs(
        Command::new(&program)
            .args(["-r", &format!("{requires} new PDO('sqlite::memory:'); exit((int) !extension_loaded('pgsql'));")]),
    )?;
    Ok(Interpreter { program, environment: Vec::new() })
}

fn java(libraries: &[&str]) -> Result<Interpreter, String> {
    let jars: Vec<String> = libraries.iter().map(|library| format!("/usr/share/java/{library}.jar")).collect();
    if let Some(jar) = jars.iter().find(|jar| !Path::new(jar).exists()) {
        return Err(format!("no {jar}"));
    }
    let program = PathBuf::from("java");
    // Only a JDK has the compiler.
    runs(Command::new(&program).args(["--add-modules", "jdk.compiler", "--version"]))?;
    Ok(Interpreter { program, environment: vec![("CLASSPATH", jars.join(":"))] })
}

/// Installs into a place, unless that was done before from the same files and what came out still works.
fn once(
    place: &Path,
    files: &[&Path],
    works: impl Fn() -> Result<(), String>,
    install: impl Fn() -> Result<(), String>,
) -> Result<(), String> {
    let mut wanted = String::new();
    for file in files {
        wanted += &fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let stamp = place.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) && works().is_ok() {
        return Ok(());
    }
    let mut why = String::new();
    for _ in 0..TRIES {
        // What an earlier try left behind may be why it failed.
        let _ = fs::remove_dir_all(place);
        match install().and_then(|()| works()) {
            Ok(()) => return fs::write(&stamp, &wanted).map_err(|error| error.to_string()),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Runs a command for as long as we have patience.
fn runs(command: &mut Command) -> Result<(), String> {
    runs_within(command, PATIENCE)
}

fn runs_within(command: &mut Command, patience: Duration) -> Result<(), String> {
    let name = format!("{command:?}");
    let errors = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let stderr = errors.reopen().map_err(|error| error.to_string())?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let until = Instant::now() + patience;
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                let said = fs::read_to_string(errors.path()).unwrap_or_default();
                return Err(format!("{name}: {status}\n{}", said.trim()));
            }
            None if Instant::now() > until => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{name}: not done within {} s", patience.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

//! The Python environment that the applications of the live tests run in, made once and kept among the build's own files.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const TRIES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(120);

/// Its interpreter; `None`, after saying so loudly, where it cannot be made: the test counts as not run then.
pub(super) fn python(application: &Path) -> Option<&'static Path> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match PYTHON.get_or_init(|| prepare(&application.join("requirements.txt"))) {
        Ok(python) => Some(python),
        Err(why) => {
            println!("\n!!! LIVE TEST NOT RUN: {why}\n");
            mark(&format!("NOT RUN: {}", why.lines().next().unwrap_or_default()));
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

fn prepare(requirements: &Path) -> Result<PathBuf, String> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live-python");
    let python = directory.join("bin/python");
    let wanted = fs::read_to_string(requirements).map_err(|error| error.to_string())?;
    let stamp = directory.join("installed");
    let is_there = fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted);
    if is_there && runs(Command::new(&python).args(["-c", "import procrastinate, psycopg"])).is_ok() {
        return Ok(python);
    }
    let base = interpreter()?;
    let mut why = String::new();
    for _ in 0..TRIES {
        // What an earlier try left behind may be why it failed.
        let _ = fs::remove_dir_all(&directory);
        let installed = runs(Command::new(base).args(["-m", "venv"]).arg(&directory)).and_then(|()| {
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r"]);
            runs(pip.arg(requirements))
        });
        match installed {
            Ok(()) => {
                fs::write(&stamp, &wanted).map_err(|error| error.to_string())?;
                return Ok(python);
            }
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// A Python from 3.10 on that can make environments.
fn interpreter() -> Result<&'static str, String> {
    const TEST: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    let names = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "/usr/bin/python3"];
    let fits = |name: &&str| runs(Command::new(name).args(["-c", TEST])).is_ok();
    names.into_iter().find(fits).ok_or_else(|| "no Python from 3.10 on with venv and ensurepip".to_owned())
}

/// Runs a command for as long as we have patience.
fn runs(command: &mut Command) -> Result<(), String> {
    let name = format!("{command:?}");
    let errors = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let stderr = errors.reopen().map_err(|error| error.to_string())?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let until = Instant::now() + PATIENCE;
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
                return Err(format!("{name}: not done within {} s", PATIENCE.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

//! `on_run`: hands the summary of a run to a program of the operator's.

use crate::cli::Context;
use crate::model::age;
use crate::output::Reclaim;
use close_fds::set_fds_cloexec_threadsafe;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take.
const LONGEST: Duration = Duration::from_secs(10);
/// How often it is asked for its end.
const NOTICE: Duration = Duration::from_millis(20);
/// What it gets of this environment.
const VARIABLES: [&str; 3] = ["HOME", "LANG", "PATH"];

/// Runs the program with the document, which should have no lists of jobs any more, on its standard input. It gets no other
/// descriptor and no shell, and its process group does not outlive it. What becomes of it does not change how the run ends.
pub(super) fn report(command: &[String], document: &Reclaim, context: &Context) {
    if let [program, arguments @ ..] = command
        && let Err(why) = run(program, arguments, document, context)
    {
        context.ui.warn(&format!("on_run: {program} {why}; the run itself is not affected"));
    }
}

fn run(program: &str, arguments: &[String], document: &Reclaim, context: &Context) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot be run: {error}");
    let text = serde_json::to_vec(document).map_err(|error| cannot(error.into()))?;
    // Whoever started this program may have left some open.
    set_fds_cloexec_threadsafe(3, &[]);
    let variables = VARIABLES.iter().filter_map(|name| Some((name, context.environment.get(name)?)));
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(variables)
        .env("JOBDOCTOR_RUN_ID", document.head.run_id.as_deref().unwrap_or_default())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(cannot)?;
    let (pid, began) = (Pid::from_child(&child), Instant::now());
    if let Some(mut stdin) = child.stdin.take() {
        // It may read nothing, and a pipe holds little.
        std::thread::spawn(move || stdin.write_all(&text));
    }
    let has_ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // A signal that comes now, or the end of the time of `--best-effort`, ends it; one that ended the run does not.
    let (was_raised, mut is_over) = (context.interrupt.is_raised(), false);
    while !is_over && waitid(WaitId::Pid(pid), has_ended).is_ok_and(|ended| ended.is_none()) {
        std::thread::sleep(NOTICE);
        is_over = began.elapsed() > LONGEST || (context.interrupt.is_raised() && !was_raised);
    }
    // Until it is waited for, no other group has its number.
    let _ = kill_process_group(pid, Signal::KILL);
    let status = child.wait().map_err(cannot)?;
    match status.success() {
        true => Ok(()),
        false if is_over => Err(format!("was ended after {}", age(began.elapsed()))),
        false => Err(format!("ended with {status}")),
    }
}

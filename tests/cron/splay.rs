//! `--splay`: a wait before anything is opened, which ends by a signal; a restart sweep looks once before it.

use crate::cli::scene::{incident, simple};
use crate::support::cli::Doctor;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_signal_ends_it_and_nothing_was_opened() {
    for (signal, number) in [(Signal::TERM, 15), (Signal::INT, 2)] {
        let doctor = Doctor::new();
        // Whoever opens the config file ends with 78.
        fs::create_dir_all(doctor.home(".config/jobdoctor")).expect("a directory");
        fs::write(doctor.home(".config/jobdoctor/config.toml"), "nonsense").expect("a config file");
        let mut command = doctor.command(&["sweep", "--apply", "--db", "no-such.db", "--splay", "1h", "-v"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("its stderr"));
        let mut said = String::new();
        stderr.read_line(&mut said).expect("it says how long");
        assert!(said.starts_with("beginning in ") && said.ends_with(" (--splay)\n"), "{said}");
        kill_process(Pid::from_child(&child), signal).expect("the signal");
        let patience = Instant::now() + Duration::from_secs(300);
        while child.try_wait().expect("it is asked").is_none() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(2));
        }
        // One that does not listen is not left behind for an hour.
        let _ = child.kill();
        assert_eq!(child.wait().expect("it ends").signal(), Some(number));
        said.clear();
        stderr.read_line(&mut said).expect("why");
        assert_eq!(said, "error: interrupted; nothing was written\n");
    }
}

#[test]
fn it_is_over_in_time() {
    let doctor = incident();
    let ran = doctor.on_queue(&["sweep", "--apply", "--splay", "1s", "-o", "none"]).exits(0);
    assert_eq!(ran.stderr, "requeued 3 jobs, failed 1 job, cancelled 1 job\n", "and without -v nothing is said of it");
    for (value, why) in [("61m", "the longest is 1h"), ("0s", "0s"), ("5", "no unit")] {
        doctor.on_queue(&["sweep", "--splay", value]).exits(2).says(why);
    }
}

/// The table does not say when a job was claimed: one that a new worker claims meanwhile is told by the first snapshot.
#[test]
fn a_restart_sweep_leaves_alone_what_was_claimed_while_it_waited() {
    let doctor = simple();
    let words = ["sweep", "--restart", "--all-owners", "--preset", "simple", "--db", "queue.db", "--splay", "6s"];
    let mut command = doctor.command(&[&words[..], &["--apply", "-v"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut said = BufReader::new(child.stderr.take().expect("its stderr")).lines().map(|line| line.expect("a line"));
    assert!(said.any(|line| line.contains("(--splay)")), "it has looked, and waits");
    doctor.sql("UPDATE jobs SET status = 'running' WHERE id = 3");
    said.for_each(drop);
    assert!(child.wait().expect("it ends").success());
    assert_eq!(doctor.rows("SELECT id, status FROM jobs"), ["1 queued", "2 failed", "3 running"]);
}

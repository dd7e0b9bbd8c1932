//! `--splay`: a wait before anything is opened, which ends by a signal.

use crate::cli::scene::incident;
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
        let patience = Instant::now() + Duration::from_secs(20);
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
    let ran = doctor.run(&["sweep", "--apply", "--db", "queue.db", "--splay", "1s", "-o", "none"]).exits(0);
    assert_eq!(ran.stderr, "recovered 5 orphaned jobs\n", "and without -v nothing is said of it");
    for (value, why) in [("61m", "the longest is 1h"), ("0s", "0s"), ("5", "no unit")] {
        let ran = doctor.run(&["sweep", "--db", "queue.db", "--splay", value]).exits(2);
        assert!(ran.stderr.contains(why), "{ran:#?}");
    }
}

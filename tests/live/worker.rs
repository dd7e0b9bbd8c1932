//! A worker process of a real library: it tells on stdout what happens to it, one line each.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(super) struct Worker {
    name: &'static str,
    child: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
    log: Arc<Mutex<Vec<u8>>>,
}

impl Worker {
    pub(super) fn start(name: &'static str, command: &mut Command) -> Worker {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("start worker {name}: {error}"));
        let (sender, lines) = channel();
        let stdout = child.stdout.take().expect("its stdout");
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Nobody listens any more once the test is over.
                let _ = sender.send(line);
            }
        });
        // A full pipe would stop the worker.
        let mut stderr = child.stderr.take().expect("its stderr");
        let log = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut some) {
                written.lock().expect("the log").extend_from_slice(&some[..count]);
            }
        });
        Worker { name, child, lines, heard: Vec::new(), log }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until that many lines with this first word have been said, and gives their second words, sorted.
    pub(super) fn wait_for(&mut self, word: &str, count: usize, within: Duration) -> Vec<String> {
        let until = Instant::now() + within;
        loop {
            let mut found: Vec<String> = (self.heard.iter())
                .filter_map(|line| line.strip_prefix(word))
                .filter(|rest| rest.is_empty() || rest.starts_with(' '))
                .map(|rest| rest.trim_start().to_owned())
                .collect();
            if found.len() >= count {
                found.sort();
                return found;
            }
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.heard.push(line),
                Err(_) => panic!(
                    "worker {}: {} of {count} times `{word}` within {within:?}; it said {:?} and {}\n{}",
                    self.name,
                    found.len(),
                    self.heard,
                    match self.child.try_wait() {
                        Ok(Some(status)) => format!("ended: {status}"),
                        _ => "still runs".to_owned(),
                    },
                    String::from_utf8_lossy(&self.log.lock().expect("the log")),
                ),
            }
        }
    }

    /// Kills it at once, as the kernel does when memory runs out: it gets no chance to give its jobs back.
    pub(super) fn kill(mut self) {
        self.end();
    }

    /// Stops it, as a debugger or a suspended machine does: it holds all it held, and notices nothing of the time.
    pub(super) fn stop(&self) {
        self.signal(Signal::STOP);
    }

    pub(super) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("signal the worker");
    }

    fn end(&mut self) {
        // One that has ended already cannot be killed again.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Nor may its children outlive the test.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

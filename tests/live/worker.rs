//! A worker process of a real library: it tells on stdout what happens to it, one line each.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

pub(super) struct Worker {
    name: &'static str,
    child: Child,
    lines: Receiver<String>,
    /// Lines that were read while another was waited for.
    heard: Vec<String>,
}

impl Worker {
    pub(super) fn start(name: &'static str, command: &mut Command) -> Worker {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
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
        // A full pipe would stop the worker; its log is of no interest unless it ends by itself.
        let mut stderr = child.stderr.take().expect("its stderr");
        std::thread::spawn(move || {
            let mut log = Vec::new();
            let _ = stderr.read_to_end(&mut log);
        });
        Worker { name, child, lines, heard: Vec::new() }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until that many lines with this first word have been said, and gives their second words, sorted.
    pub(super) fn wait_for(&mut self, word: &str, count: usize, within: Duration) -> Vec<String> {
        let until = Instant::now() + within;
        loop {
            let mut found: Vec<String> = (self.heard.iter())
                .filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '))
                .map(str::to_owned)
                .collect();
            if found.len() >= count {
                found.sort();
                return found;
            }
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.heard.push(line),
                Err(_) => panic!(
                    "worker {}: {} of {count} times `{word}` within {within:?}; it said {:?} and {}",
                    self.name,
                    found.len(),
                    self.heard,
                    match self.child.try_wait() {
                        Ok(Some(status)) => format!("ended: {status}"),
                        _ => "still runs".to_owned(),
                    }
                ),
            }
        }
    }

    /// Kills it at once, as the kernel does when memory runs out: it gets no chance to give its jobs back.
    pub(super) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // One that has ended already cannot be killed again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

//! A terminal for the program to be seen on, of any size, and what a person reads on it.

use super::cli::Doctor;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Which of the program's streams are the terminal; the others go nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Both,
    /// Only stderr, as behind a redirection.
    Stderr,
}

pub struct OnTerminal {
    child: Child,
    main: OwnedFd,
    side: Option<OwnedFd>,
    seen: Arc<Mutex<Vec<u8>>>,
    reads: Option<JoinHandle<()>>,
}

impl OnTerminal {
    /// Starts it on one of so many columns and rows.
    pub fn start(doctor: &Doctor, arguments: &[&str], size: (u16, u16), on: On) -> OnTerminal {
        let mut command = doctor.command(arguments);
        if !command.get_envs().any(|(name, _)| name == "TERM") {
            command.env("TERM", "xterm");
        }
        OnTerminal::of(command, size, on)
    }

    pub fn of(mut command: Command, size: (u16, u16), on: On) -> OnTerminal {
        // A server that another test starts at this instant must not keep the terminal open.
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&main).unwrap();
        unlockpt(&main).unwrap();
        let name = ptsname(&main, Vec::new()).unwrap();
        let side = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        resize(&main, size);
        let stream = || Stdio::from(side.try_clone().unwrap());
        command.env_remove("COLUMNS").stdin(stream()).stderr(stream());
        command.stdout(if on == On::Both { stream() } else { Stdio::null() });
        let child = command.spawn().unwrap();
        let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (mut reader, writes) = (File::from(main.try_clone().unwrap()), seen.clone());
        let reads = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Once nobody has the other side open any more, reading fails.
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                writes.lock().unwrap().extend(&bytes[..n]);
            }
        });
        drop(command);
        OnTerminal { child, main, side: Some(side), seen, reads: Some(reads) }
    }

    pub fn types(&self, line: &str) {
        File::from(self.main.try_clone().unwrap()).write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub fn resize(&self, size: (u16, u16)) {
        resize(&self.main, size);
    }

    pub fn type_in(&self, text: &str) {
        File::from(self.main.try_clone().unwrap()).write_all(text.as_bytes()).unwrap();
    }

    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// The last whole picture, line by line, without colours; empty before there is one.
    pub fn picture(&self) -> Vec<String> {
        let written = self.written();
        let Some((whole, _)) = written.rsplit_once("\x1b[J") else { return Vec::new() };
        let picture = whole.rsplit("\x1b[H").next().unwrap_or_default();
        let mut lines: Vec<String> =
            picture.split("\r\n").map(|line| plain(line.strip_suffix("\x1b[K").unwrap_or(line))).collect();
        // Each line ends in a break, so that nothing stands behind the last.
        assert_eq!(lines.pop().as_deref(), Some(""), "{written:?}");
        lines
    }

    /// Waits for a picture of which that is the case, and gives it.
    #[track_caller]
    pub fn until(&self, what: &str, is: impl Fn(&[String]) -> bool) -> Vec<String> {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let picture = self.picture();
            if is(&picture) {
                return picture;
            }
            assert!(Instant::now() < patience, "waited in vain until {what}: {picture:#?}\n{:?}", self.written());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for its end: the code or signal, and everything that was written.
    pub fn end(mut self) -> (Result<i32, i32>, String) {
        let patience = Instant::now() + Duration::from_secs(120);
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(Instant::now() < patience, "it does not end: {:?}", self.written()),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        drop(self.side.take());
        self.reads.take().unwrap().join().unwrap();
        let end = status.code().ok_or_else(|| status.signal().unwrap());
        (end, String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned())
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn resize(main: &OwnedFd, (columns, rows): (u16, u16)) {
    let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(main, size).unwrap();
}

pub fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, sequence)) = rest.split_once("\x1b[") {
        out.push_str(before);
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0);
        rest = sequence.get(end + 1..).unwrap_or_default();
    }
    out + rest
}

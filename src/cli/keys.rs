//! Keys that are pressed while a picture is on the terminal.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use std::io::stdin;
use std::time::Duration;

/// What a key asks for. No key writes to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Quit,
    Up,
    Down,
    Enter,
}

/// The keyboard, read key by key until this is dropped; nothing where stdin is no terminal of ours.
pub struct Keys {
    before: Option<Termios>,
    /// What was read behind a key.
    rest: Vec<u8>,
}

impl Keys {
    /// Turns off line editing and echo; signals from the keyboard stay.
    pub fn begin() -> Keys {
        // A process in the background would be stopped; without a controlling terminal there is none.
        let is_ours = tcgetpgrp(stdin()).map_or(true, |group| group == getpgrp());
        let before = is_ours.then(|| tcgetattr(stdin()).ok()).flatten();
        if let Some(before) = &before {
            let mut raw = before.clone();
            raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            let _ = tcsetattr(stdin(), OptionalActions::Now, &raw);
        }
        Keys { before, rest: Vec::new() }
    }

    /// True if keys can be pressed.
    pub fn are_read(&self) -> bool {
        self.before.is_some()
    }

    pub fn wait(&mut self, time: Duration) -> Option<Key> {
        if self.before.is_none() {
            std::thread::sleep(time);
            return None;
        }
        if self.rest.is_empty() {
            let stdin = stdin();
            let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
            // A signal ends it early, which the caller notices.
            if !poll(&mut ready, Timespec::try_from(time).ok().as_ref()).is_ok_and(|ready| ready > 0) {
                return None;
            }
            let mut bytes = [0; 64];
            match rustix::io::read(&stdin, &mut bytes) {
                // The terminal is gone.
                Ok(0) | Err(_) => return Some(Key::Quit),
                Ok(n) => self.rest.extend(bytes.iter().take(n)),
            }
        }
        let (key, length) = first(&self.rest);
        self.rest.drain(..length.min(self.rest.len()));
        key
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}

/// The first key of these bytes, if it is one that counts, and its length. Escape, Ctrl-D and `q` end; arrows come as
/// `ESC [ A`, or as `ESC O A` from a keypad.
fn first(bytes: &[u8]) -> (Option<Key>, usize) {
    match bytes {
        [27, b'[' | b'O', b'A', ..] => (Some(Key::Up), 3),
        [27, b'[' | b'O', b'B', ..] => (Some(Key::Down), 3),
        [27, b'[' | b'O', ..] => (None, 3),
        [b'q' | b'Q' | 4 | 27, ..] => (Some(Key::Quit), 1),
        [b'k', ..] => (Some(Key::Up), 1),
        [b'j', ..] => (Some(Key::Down), 1),
        [b'\r' | b'\n', ..] => (Some(Key::Enter), 1),
        _ => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        let keys = [b"q".as_slice(), b"\x1b", b"\x1b[Aq", b"\x1bOB", b"\nq", b"x", b"\x1b[C", b""];
        let (up, down, end) = ((Some(Key::Up), 3), (Some(Key::Down), 3), (Some(Key::Quit), 1));
        let known = [end, end, up, down, (Some(Key::Enter), 1), (None, 1), (None, 3), (None, 1)];
        assert_eq!(keys.map(first), known);
    }
}

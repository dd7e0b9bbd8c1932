//! Asks a person at a terminal, and still notices signals and the time limit of nothing.

use super::error::CliError;
use super::exit::Exit;
use crate::store::{Interrupt, StoreError, StoreErrorKind};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How soon a signal is noticed.
const NOTICE: Duration = Duration::from_millis(20);

/// True if a person can be asked.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The next line that the person types, without blanks around it; `None` at the end of the input.
pub(super) fn read_line(interrupt: &Interrupt) -> Result<Option<String>, CliError> {
    let (sender, receiver) = channel();
    // Reading a terminal blocks; a thread does it, so that a signal can still end the run.
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = sender.send(io::stdin().read_line(&mut line).map(|bytes| (bytes, line)));
    });
    loop {
        if interrupt.is_raised() {
            return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted").into());
        }
        match receiver.recv_timeout(NOTICE) {
            Ok(Ok((0, _))) => return Ok(None),
            Ok(Ok((_, line))) => return Ok(Some(line.trim().to_owned())),
            Ok(Err(error)) => {
                return Err(CliError::new(Exit::NoInput, format!("the terminal cannot be read: {error}")));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

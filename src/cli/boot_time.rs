//! When this host was started, on another one's clock.

use super::error::CliError;
use super::exit::Exit;
use crate::model::Timestamp;
use std::time::{Duration, Instant};

/// For how long this host is up. The system counts whole seconds, so one is added: a moment too early spares a claim, a moment
/// too late would not.
#[derive(Debug, Clone, Copy)]
pub struct Boot {
    up: Duration,
    read: Instant,
}

impl Boot {
    /// Asks the system. In a Linux container it is the host's, which the containers on it share.
    ///
    /// # Errors
    /// Where the system does not tell.
    pub fn of_this_host() -> Result<Boot, CliError> {
        match uptime() {
            Some(up) => Ok(Boot { up: up + Duration::from_secs(1), read: Instant::now() }),
            None => {
                Err(CliError::new(Exit::Usage, "--started-before boot: this system does not say since when it is up")
                    .hint("name the instant, as in 2026-11-20T10:00:00Z"))
            }
        }
    }

    /// The boot by the clock that says `now`. That is the store's, because claims are told by it: this host's own clock may
    /// differ from it, or have been set since the boot, but both run equally fast.
    pub fn by(&self, now: Timestamp) -> Timestamp {
        now.minus(self.up + self.read.elapsed())
    }
}

#[cfg(target_os = "linux")]
fn uptime() -> Option<Duration> {
    u64::try_from(rustix::system::sysinfo().uptime).ok().map(Duration::from_secs)
}

#[cfg(not(target_os = "linux"))]
fn uptime() -> Option<Duration> {
    None
}

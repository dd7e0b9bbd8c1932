use super::AddressError;
use super::settings::Settings;
use std::time::Duration;

/// Settings of the TCP connection; `None` where nobody said anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tcp {
    /// `keepalives`.
    pub keepalives: Option<bool>,
    /// `keepalives_idle`.
    pub idle: Option<Duration>,
    /// `keepalives_interval`.
    pub interval: Option<Duration>,
    /// `keepalives_count`.
    pub count: Option<u32>,
    /// `tcp_user_timeout`.
    pub user_timeout: Option<Duration>,
}

/// What the settings come to.
///
/// # Errors
/// When one of them is no number.
pub(super) fn tcp(settings: &Settings) -> Result<Tcp, AddressError> {
    // Zero, and what is below, means the system's own value.
    let positive = |name: &str| -> Result<Option<u32>, AddressError> {
        Ok(settings.number(name)?.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0))
    };
    let seconds = |number: u32| Duration::from_secs(number.into());
    Ok(Tcp {
        keepalives: settings.number("keepalives")?.map(|number| number != 0),
        idle: positive("keepalives_idle")?.map(seconds),
        interval: positive("keepalives_interval")?.map(seconds),
        count: positive("keepalives_count")?,
        user_timeout: positive("tcp_user_timeout")?.map(|millis| Duration::from_millis(millis.into())),
    })
}

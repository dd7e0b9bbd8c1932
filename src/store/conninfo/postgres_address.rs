//! A Postgres address, resolved: servers, user, database, TLS, and where each setting came from.

use super::passwords;
use super::server::{PORT, Server, ServerPlace, servers};
use super::settings::{Author, Origin, Settings};
use super::tls::{TlsSettings, tls, unverified};
use super::{AddressError, Surroundings};
use std::time::Duration;

/// Everything needed to connect to a Postgres database, resolved from an address, a service, the environment and a
/// password file.
#[derive(Debug, Clone)]
pub struct PostgresAddress {
    /// The servers to try, in this order; never empty.
    pub servers: Vec<Server>,
    pub user: String,
    pub database: String,
    /// Which of the servers is acceptable.
    pub target: TargetAttributes,
    /// True if `target_session_attrs` is set.
    pub target_is_named: bool,
    /// True if the servers are tried in random order.
    pub shuffled: bool,
    pub tls: TlsSettings,
    pub channel_binding: ChannelBinding,
    /// `connect_timeout`, for each server; zero is no limit, `None` is unset.
    pub connect_timeout: Option<Duration>,
    pub tcp: Tcp,
    /// `options`, which some poolers refuse.
    pub options: Option<String>,
    /// Or `fallback_application_name`.
    pub application_name: Option<String>,
    /// Each setting with its value (`None` for a secret) and where it came from.
    pub settings: Vec<(&'static str, Option<String>, Origin)>,
    /// Why no password was found; `None` if there is one.
    pub password_sought: Option<String>,
    /// Faults that do not stop the connection.
    pub warnings: Vec<String>,
    /// Parameters of a framework that were dropped.
    pub dropped: Vec<String>,
}

/// `target_session_attrs`: which server is acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetAttributes {
    Any,
    /// One whose transactions are read-write by default.
    ReadWrite,
    /// One whose transactions are read-only by default.
    ReadOnly,
    Primary,
    Standby,
    /// A standby if there is one, else any.
    PreferStandby,
}

/// `channel_binding`: whether SCRAM authentication is bound to the TLS connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    Prefer,
    /// Always, else no connection.
    Require,
}

impl PostgresAddress {
    /// Resolves an address. Reads the service file and the password file, if they exist; connects to nothing.
    ///
    /// # Errors
    /// When the address, the service or a value in them cannot be used. The message repeats no value.
    pub fn resolve(text: &str, author: Author, surroundings: &Surroundings) -> Result<PostgresAddress, AddressError> {
        let settings = Settings::collect(text, author, surroundings)?;
        let user = settings.text("user").or(surroundings.user.as_deref()).map(str::to_owned).ok_or_else(|| {
            AddressError::new("the user of this process has no name, and no user is named: say user=... or PGUSER")
        })?;
        let database = settings.text("dbname").unwrap_or(&user).to_owned();
        let mut servers = servers(&settings)?;
        let password = passwords::hand_out(&mut servers, &settings, surroundings, &user, &database);
        let mut warnings = password.warnings;
        let tls = tls(&settings, surroundings)?;
        let channel_binding = settings.word(
            "channel_binding",
            &[
                ("disable", ChannelBinding::Disable),
                ("prefer", ChannelBinding::Prefer),
                ("require", ChannelBinding::Require),
            ],
            ChannelBinding::Prefer,
        )?;
        let target = settings.word(
            "target_session_attrs",
            &[
                ("any", TargetAttributes::Any),
                ("read-write", TargetAttributes::ReadWrite),
                ("read-only", TargetAttributes::ReadOnly),
                ("primary", TargetAttributes::Primary),
                ("standby", TargetAttributes::Standby),
                ("prefer-standby", TargetAttributes::PreferStandby),
            ],
            TargetAttributes::Any,
        )?;
        warnings.extend(unverified(&tls, &servers));
        let connect_timeout = settings.number("connect_timeout")?;
        let application_name = settings.text("application_name").or(settings.text("fallback_application_name"));
        Ok(PostgresAddress {
            target,
            target_is_named: settings.text("target_session_attrs").is_some(),
            shuffled: settings.word("load_balance_hosts", &[("disable", false), ("random", true)], false)?,
            channel_binding,
            connect_timeout: connect_timeout.map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0))),
            tcp: tcp(&settings)?,
            options: settings.text("options").map(str::to_owned),
            application_name: application_name.map(str::to_owned),
            settings: settings_in_force(&settings, &servers, &user, &database, &tls, password.origin),
            password_sought: password.in_vain,
            dropped: settings.dropped,
            servers,
            user,
            database,
            tls,
            warnings,
        })
    }

    /// The name in messages: user, hosts and database.
    pub fn label(&self) -> String {
        let servers: Vec<String> = self.servers.iter().map(Server::to_string).collect();
        format!("{}@{}/{}", self.user, servers.join(","), self.database)
    }
}

/// Every setting in force, defaults included, sorted by name.
fn settings_in_force(
    settings: &Settings,
    servers: &[Server],
    user: &str,
    database: &str,
    tls: &TlsSettings,
    password: Option<Origin>,
) -> Vec<(&'static str, Option<String>, Origin)> {
    let mut shown: Vec<(&'static str, Option<String>, Origin)> = settings
        .iter()
        .filter(|(name, _, _)| *name != "password")
        .map(|(name, value, origin)| (name, Some(value.to_owned()), origin.clone()))
        .collect();
    let hosts = servers.iter().map(|server| match &server.place {
        ServerPlace::Socket(directory) => directory.display().to_string(),
        ServerPlace::Host(name, _) => name.clone(),
    });
    for (name, value) in [
        ("dbname", database.to_owned()),
        ("host", hosts.collect::<Vec<_>>().join(",")),
        ("port", PORT.to_owned()),
        ("sslmode", tls.mode.name().to_owned()),
        ("user", user.to_owned()),
    ] {
        if !shown.iter().any(|(known, _, _)| *known == name) {
            shown.push((name, Some(value), Origin::Default));
        }
    }
    shown.extend(password.map(|origin| ("password", None, origin)));
    shown.sort_by_key(|(name, _, _)| *name);
    shown
}

/// Settings of the TCP connection; `None` where unset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tcp {
    pub keepalives: Option<bool>,
    pub idle: Option<Duration>,
    pub interval: Option<Duration>,
    pub count: Option<u32>,
    pub user_timeout: Option<Duration>,
}

pub(super) fn tcp(settings: &Settings) -> Result<Tcp, AddressError> {
    // Zero and negative numbers mean the system's default.
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

//! What an address comes to.

use super::passwords;
use super::server::{PORT, Server, ServerPlace, servers};
use super::settings::{Author, Origin, Settings};
use super::tcp::{Tcp, tcp};
use super::tls::{TlsSettings, tls, unverified};
use super::{AddressError, Surroundings};
use std::time::Duration;

/// Everything that is needed to connect to a Postgres database: an address, a service, the environment and a password file,
/// resolved by libpq's rules.
#[derive(Debug, Clone)]
pub struct PostgresAddress {
    /// The servers to try, in this order; never empty.
    pub servers: Vec<Server>,
    /// The user.
    pub user: String,
    /// The database.
    pub database: String,
    /// Which of the servers will do.
    pub target: TargetAttributes,
    /// True if somebody said which will do.
    pub target_is_named: bool,
    /// True if the servers shall be tried in random order.
    pub shuffled: bool,
    /// TLS.
    pub tls: TlsSettings,
    /// `channel_binding`.
    pub channel_binding: ChannelBinding,
    /// `connect_timeout`, for each server; zero is none. `None` where nobody said anything.
    pub connect_timeout: Option<Duration>,
    /// Settings of the TCP connection.
    pub tcp: Tcp,
    /// `options`, which not every pooler lets pass.
    pub options: Option<String>,
    /// What the connection shall call itself instead of what it otherwise would.
    pub application_name: Option<String>,
    /// Each setting with its value, none for a secret, and where it came from.
    pub settings: Vec<(&'static str, Option<String>, Origin)>,
    /// Where a password was looked for in vain; `None` where there is one, or nowhere to look.
    pub password_sought: Option<String>,
    /// What is not as it should be, though it does not stop anything.
    pub warnings: Vec<String>,
    /// Words of a framework that were dropped.
    pub dropped: Vec<String>,
}

/// `target_session_attrs`: which server will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetAttributes {
    /// Any.
    Any,
    /// One on which transactions may write unless told otherwise.
    ReadWrite,
    /// One on which they may not.
    ReadOnly,
    /// One that is no standby.
    Primary,
    /// One that is.
    Standby,
    /// A standby if there is one, else any.
    PreferStandby,
}

/// `channel_binding`: whether the password's proof is bound to the TLS connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Where it can be.
    Prefer,
    /// Always, or the connection is given up.
    Require,
}

impl PostgresAddress {
    /// Resolves one. Reads the service file and the password file, if there are any; connects to nothing.
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
            settings: shown(&settings, &servers, &user, &database, &tls, password.origin),
            password_sought: password.in_vain,
            dropped: settings.dropped,
            servers,
            user,
            database,
            tls,
            warnings,
        })
    }

    /// What to call it in front of people: user, hosts and database.
    pub fn label(&self) -> String {
        let servers: Vec<String> = self.servers.iter().map(Server::to_string).collect();
        format!("{}@{}/{}", self.user, servers.join(","), self.database)
    }
}

/// What is in force, for who asks.
fn shown(
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

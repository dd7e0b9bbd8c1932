//! A Postgres address, resolved: servers, user, database, TLS, and where each setting came from.

use super::settings::{Author, Origin, Settings};
use super::tls::{TlsSettings, tls, unverified};
use super::{AddressError, Password, Surroundings, passwords};
use ::postgres::config::ChannelBinding;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strum::{IntoStaticStr, VariantArray};

/// Everything needed to connect to a Postgres database, resolved from an address, a service, the environment and a
/// password file.
#[derive(Debug, Clone)]
pub struct PostgresAddress {
    /// The servers to try, in this order; never empty.
    pub servers: Vec<Server>,
    pub user: String,
    pub database: String,
    pub target: TargetAttributes,
    /// True if `target_session_attrs` is set.
    pub target_is_named: bool,
    /// True if the servers are tried in random order.
    pub shuffled: bool,
    pub tls: TlsSettings,
    /// Whether SCRAM authentication is bound to the TLS connection.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
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
        let target = settings.variant("target_session_attrs", TargetAttributes::Any)?;
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

/// libpq's default port.
pub(super) const PORT: &str = "5432";
/// The complaint about a bad port, which may be part of a password with a colon in it.
const PORT_RULE: &str = "is a number from 1 to 65535. In a URL the characters @ / : ? # % of a user name or password must be \
    percent-encoded: @ is %40, : is %3A";
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

#[derive(Debug, Clone)]
pub struct Server {
    pub place: ServerPlace,
    /// Its port, which is part of a socket's file name too.
    pub port: u16,
    pub password: Option<Password>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPlace {
    /// A directory that holds a unix socket.
    Socket(PathBuf),
    /// A host name and, from `hostaddr`, its address, which saves the lookup.
    Host(String, Option<IpAddr>),
}

impl ServerPlace {
    /// True if the traffic never leaves this machine.
    pub fn is_local(&self) -> bool {
        match self {
            ServerPlace::Socket(_) => true,
            ServerPlace::Host(_, Some(address)) => address.is_loopback(),
            ServerPlace::Host(name, None) => {
                name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
        }
    }
}

impl fmt::Display for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerPlace::Socket(directory) => write!(f, "{}", directory.display()),
            ServerPlace::Host(name, _) if name.contains(':') => write!(f, "[{name}]"),
            ServerPlace::Host(name, _) => f.write_str(name),
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)?;
        if self.port.to_string() == PORT { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// The hosts with their ports: one port for each host, or one for all.
pub(super) fn servers(settings: &Settings) -> Result<Vec<Server>, AddressError> {
    let list = |name: &str| -> Vec<String> {
        settings.text(name).map(|text| text.split(',').map(str::to_owned).collect()).unwrap_or_default()
    };
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"));
    let count = if addresses.is_empty() { hosts.len().max(1) } else { addresses.len() };
    if !hosts.is_empty() && hosts.len() != count {
        let must = format!("names {} hosts, and `hostaddr` {count}: the numbers must be equal", hosts.len());
        return Err(settings.error("host", &must));
    }
    if ports.len() > 1 && ports.len() != count {
        let must = format!("names {} ports for {count} hosts: there must be one, or one for each host", ports.len());
        return Err(settings.error("port", &must));
    }
    let item = |list: &[String], n: usize| list.get(n).filter(|item| !item.is_empty()).cloned();
    (0..count)
        .map(|n| {
            let place = place(settings, item(&hosts, n), item(&addresses, n))?;
            let port = item(&ports, if ports.len() == 1 { 0 } else { n }).unwrap_or_else(|| PORT.to_owned());
            let port = port.trim().parse().ok().filter(|port| *port > 0);
            let port = port.ok_or_else(|| settings.error("port", PORT_RULE))?;
            Ok(Server { place, port, password: None })
        })
        .collect()
}

fn place(settings: &Settings, name: Option<String>, address: Option<String>) -> Result<ServerPlace, AddressError> {
    if let Some(address) = address {
        let parsed = address.parse().map_err(|_| settings.error("hostaddr", "is an IP address"))?;
        // The name then only serves to check the certificate.
        let name = name.unwrap_or(address);
        return if is_host_name(&name) || name.starts_with('/') {
            Ok(ServerPlace::Host(name, Some(parsed)))
        } else {
            Err(odd_name(settings))
        };
    }
    match name {
        None => Ok(match default_socket_directory() {
            Some(directory) => ServerPlace::Socket(PathBuf::from(directory)),
            None => ServerPlace::Host("localhost".to_owned(), None),
        }),
        Some(path) if path.starts_with('/') => Ok(ServerPlace::Socket(PathBuf::from(path))),
        Some(name) if name.starts_with('@') => {
            Err(settings.error("host", "names an abstract socket, which the driver cannot use"))
        }
        Some(name) if is_host_name(&name) => Ok(ServerPlace::Host(name, None)),
        Some(_) => Err(odd_name(settings)),
    }
}

fn is_host_name(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || ".-_:%".contains(c))
}

fn odd_name(settings: &Settings) -> AddressError {
    settings.error(
        "host",
        "has a character in it that no host name has (it is not shown: it may be part of a password). In a URL the characters \
         @ / : ? # % of a user name or password must be percent-encoded: @ is %40, / is %2F",
    )
}

/// The directory in which libpq looks for a socket by default.
pub(super) fn default_socket_directory() -> Option<&'static str> {
    SOCKET_DIRECTORIES.into_iter().find(|directory| Path::new(directory).exists())
}

//! The servers that an address names.

use super::settings::Settings;
use super::{AddressError, Password};
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// libpq's default port.
pub(super) const PORT: &str = "5432";
/// The complaint about a bad port, which may be part of a password with a colon in it.
const PORT_RULE: &str = "is a number from 1 to 65535. In a URL the characters @ / : ? # % of a user name or password must be \
    percent-encoded: @ is %40, : is %3A";
/// Socket directories of Debian's packages and of upstream.
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

//! Where a database is: a path, a URL or a libpq string. No message ever repeats what was given, because it may hold a
//! password.

use ::postgres::Config;
use ::postgres::config::{Host, SslMode};
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a database is.
pub enum Address {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A Postgres server and database.
    Postgres {
        /// What the driver needs.
        config: Box<Config>,
        /// What to call it in front of people: user, host and database.
        label: String,
    },
}

/// What the environment says for parts of a Postgres address that are left open.
#[derive(Debug, Clone, Default)]
pub struct Defaults {
    /// `PGHOST`.
    pub host: Option<String>,
    /// `PGPORT`.
    pub port: Option<String>,
    /// `PGUSER`, else the user of this process.
    pub user: Option<String>,
    /// `PGDATABASE`.
    pub database: Option<String>,
    /// `PGPASSWORD`.
    pub password: Option<Password>,
    /// `PGSSLMODE`.
    pub sslmode: Option<String>,
}

/// A password that cannot be printed.
#[derive(Clone)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Why an address cannot be used. Says nothing of its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressError(pub String);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AddressError {}

/// The keys by which a libpq string is told from a path that has an equals sign in it.
const LIBPQ_KEYS: [&str; 9] =
    ["host", "hostaddr", "port", "dbname", "user", "password", "sslmode", "service", "target_session_attrs"];

/// Where Debian's and upstream's servers put their socket.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

impl Address {
    /// Reads a path, a `sqlite:` or `postgres://` URL, or a libpq `key=value` string.
    ///
    /// # Errors
    /// When it is a Postgres address that cannot be read, or one that asks for what is not offered.
    pub fn parse(text: &str, defaults: &Defaults) -> Result<Address, AddressError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err(AddressError("a `sqlite:` address needs a path: sqlite:queue.db".to_owned())),
                path => Ok(Address::Sqlite(PathBuf::from(path))),
            };
        }
        let is_url = text.starts_with("postgres:") || text.starts_with("postgresql:");
        let is_libpq = text.trim_start().split_once('=').is_some_and(|(key, _)| LIBPQ_KEYS.contains(&key.trim()));
        if is_url || is_libpq {
            return postgres(text, defaults);
        }
        if let Some((scheme, _)) = text.split_once("://") {
            let scheme: String = scheme.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
            return Err(AddressError(format!(
                "the scheme `{scheme}` is not known: give a path, sqlite:PATH, postgres://... or host=... dbname=..."
            )));
        }
        if text.is_empty() {
            return Err(AddressError("the database address is empty".to_owned()));
        }
        if text == ":memory:" {
            return Err(AddressError("a database in memory lives and dies with its process: name a file".to_owned()));
        }
        Ok(Address::Sqlite(Path::new(text).to_owned()))
    }

    /// A Postgres address of which the environment says every part.
    ///
    /// # Errors
    /// See [`Address::parse`].
    pub fn from_parts(defaults: &Defaults) -> Result<Address, AddressError> {
        postgres("", defaults)
    }
}

fn postgres(text: &str, defaults: &Defaults) -> Result<Address, AddressError> {
    // The driver's own message may quote the string, and with it the password.
    let mut config: Config = text.parse().map_err(|_| {
        AddressError(
            "the Postgres address cannot be read (it is not shown: it may hold a password). Characters such as @ / : # \
             in a user name or password must be percent-encoded in a URL; sslmode can be disable, prefer or require"
                .to_owned(),
        )
    })?;
    if config.get_user().is_none()
        && let Some(user) = &defaults.user
    {
        config.user(user);
    }
    if config.get_dbname().is_none()
        && let Some(database) = defaults.database.as_deref().or(config.get_user().map(str::to_owned).as_deref())
    {
        config.dbname(database);
    }
    if config.get_password().is_none()
        && let Some(password) = &defaults.password
    {
        config.password(&password.0);
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        match &defaults.host {
            Some(host) => config.host(host),
            None => {
                let directory = SOCKET_DIRECTORIES.iter().find(|dir| Path::new(dir).exists());
                config.host(directory.unwrap_or(&"localhost"))
            }
        };
    }
    if config.get_ports().is_empty()
        && let Some(port) = &defaults.port
    {
        let port = port.parse().map_err(|_| AddressError("PGPORT is not a port number".to_owned()))?;
        config.port(port);
    }
    if !text.contains("sslmode")
        && let Some(mode) = &defaults.sslmode
    {
        config.ssl_mode(match mode.as_str() {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            _ => SslMode::Require,
        });
    }
    plain_text_is_wanted(&config)?;
    let label = label(&config);
    Ok(Address::Postgres { config: Box::new(config), label })
}

/// This version speaks no TLS. To a host that is not this one it connects only if the operator has said in so many words
/// that the connection may be readable on the way.
fn plain_text_is_wanted(config: &Config) -> Result<(), AddressError> {
    let is_local = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()) || name.starts_with("127."),
    };
    let all_local = config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(|ip| ip.is_loopback());
    match config.get_ssl_mode() {
        SslMode::Disable => Ok(()),
        SslMode::Prefer if all_local => Ok(()),
        _ => Err(AddressError(
            "this version cannot speak TLS. Connect through a local socket, a tunnel on localhost, or, if the network in \
             between may read everything including the password, say sslmode=disable"
                .to_owned(),
        )),
    }
}

fn label(config: &Config) -> String {
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(n, host)| {
            let ports = config.get_ports();
            let port = ports.get(n).or_else(|| ports.first()).filter(|port| **port != 5432);
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            match host {
                Host::Tcp(name) => format!("{name}{port}"),
                Host::Unix(path) => format!("{}{port}", path.display()),
            }
        })
        .collect();
    let addresses = || config.get_hostaddrs().iter().map(ToString::to_string).collect::<Vec<_>>();
    let hosts = if hosts.is_empty() { addresses() } else { hosts };
    format!(
        "{}@{}/{}",
        config.get_user().unwrap_or("(no user)"),
        hosts.join(","),
        config.get_dbname().unwrap_or("(no database)")
    )
}

//! Connects to the first acceptable server of an address, in libpq's order: each of its addresses, in each TLS mode.

use super::connect_error::{FailedAttempt, NO_ANSWER, io_error, is_before_login};
use super::connection_thread::{ConnectionThread, for_at_most, on_own_thread};
use super::driver::{Driver, Unconnected};
use super::tls::{self, Tls};
use crate::store::conninfo::{PostgresAddress, Server, ServerPlace, SslMode, TargetAttributes};
use crate::store::{Limits, StoreError, StoreErrorKind, random};
use ::postgres::{Error, NoTls};
use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode as Mode, SslNegotiation};

pub(super) struct Connected {
    pub(super) connection: ConnectionThread,
    pub(super) server: Server,
    /// Its name in messages: user, host and database.
    pub(super) label: String,
}

/// Connects to the first acceptable server. Apart from the operator's own `options`, the startup packet holds nothing
/// that a pooler might refuse.
pub(super) fn connect(address: &PostgresAddress, limits: &Limits) -> Result<Connected, StoreError> {
    let needs_tls = address.tls.mode != SslMode::Disable
        && address.servers.iter().any(|server| matches!(server.place, ServerPlace::Host(..)));
    let (tls, unfit) = match needs_tls.then(|| tls::connector(&address.tls)).transpose() {
        Ok(tls) => (tls, None),
        // A mode that only prefers TLS continues without it, as in libpq. If that fails too, the message says why.
        Err(unfit) if address.tls.mode <= SslMode::Prefer => (None, Some(unfit)),
        Err(unfit) => return Err(unfit),
    };
    connect_to_first(address, tls.as_ref(), limits).map_err(|mut error| {
        if let Some(unfit) = unfit {
            error.message = format!("{}; TLS was not tried: {unfit}", error.message);
        }
        error
    })
}

fn connect_to_first(address: &PostgresAddress, tls: Option<&Tls>, limits: &Limits) -> Result<Connected, StoreError> {
    let mut failures = Vec::new();
    for target in targets(address, limits) {
        for server in order(address) {
            let attempt = Attempt { address, server, tls, limits, target };
            match attempt.connect() {
                Ok(connected) => return Ok(connected),
                // A refused login is not repeated at the next server: that is how accounts get locked.
                Err(failure) if failure.is_final => return Err(failure.error),
                Err(failure) => failures.push(failure.error),
            }
        }
    }
    Err(together(failures))
}

/// Which kinds of server to look for, one after the other. Given several servers and no `target_session_attrs`, a
/// writer looks for the writable one.
fn targets(address: &PostgresAddress, limits: &Limits) -> Vec<TargetAttributes> {
    match address.target {
        TargetAttributes::PreferStandby => vec![TargetAttributes::Standby, TargetAttributes::Any],
        TargetAttributes::Any if !address.target_is_named && limits.for_writing && address.servers.len() > 1 => {
            // If none is writable, connect to any: the guards then say why nothing can be written.
            vec![TargetAttributes::ReadWrite, TargetAttributes::Any]
        }
        target => vec![target],
    }
}

fn order(address: &PostgresAddress) -> Vec<&Server> {
    let mut servers: Vec<&Server> = address.servers.iter().collect();
    if address.shuffled {
        servers.sort_by_cached_key(|_| random());
    }
    servers
}

/// One error for several failures.
pub(super) fn together(mut failures: Vec<StoreError>) -> StoreError {
    let Some(mut last) = failures.pop() else {
        return StoreError::new(StoreErrorKind::Unreachable, "the address names no server");
    };
    if !failures.is_empty() {
        let others: Vec<String> = failures.iter().map(ToString::to_string).collect();
        last.message = format!("{}; {}", others.join("; "), last.message);
        last.hint = last.hint.or_else(|| failures.into_iter().find_map(|failure| failure.hint));
    }
    last
}

pub(super) struct Failed {
    pub(super) error: StoreError,
    pub(super) is_final: bool,
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Failed { error, is_final: false }
    }
}

pub(super) struct Attempt<'a> {
    pub(super) address: &'a PostgresAddress,
    pub(super) server: &'a Server,
    pub(super) tls: Option<&'a Tls>,
    pub(super) limits: &'a Limits,
    pub(super) target: TargetAttributes,
}

impl Attempt<'_> {
    /// Tries the server's addresses one after the other.
    pub(super) fn connect(&self) -> Result<Connected, Failed> {
        let mut failures = Vec::new();
        for address in self.addresses()? {
            match self.connect_to(address) {
                Err(failure) if !failure.is_final => failures.push(failure.error),
                other => return other,
            }
        }
        Err(together(failures).into())
    }

    /// The addresses of the host; one `None` for a socket.
    fn addresses(&self) -> Result<Vec<Option<IpAddr>>, StoreError> {
        let (name, port) = match &self.server.place {
            ServerPlace::Socket(_) => return Ok(vec![None]),
            ServerPlace::Host(_, Some(address)) => return Ok(vec![Some(*address)]),
            ServerPlace::Host(name, None) => (name.clone(), self.server.port),
        };
        let found = self.in_time(move || (name.as_str(), port).to_socket_addrs().map(Vec::from_iter))?;
        let mut addresses: Vec<Option<IpAddr>> = found
            .map_err(|error| {
                let message = format!("{}: no host has this name: {error}", self.label());
                StoreError::new(StoreErrorKind::Unreachable, message)
                    .hint("check the name, and that this host can resolve names")
            })?
            .into_iter()
            .map(|address| Some(address.ip()))
            .collect();
        addresses.dedup();
        Ok(addresses)
    }

    /// Tries the allowed TLS modes, in libpq's order.
    fn connect_to(&self, ip: Option<IpAddr>) -> Result<Connected, Failed> {
        let first = match (ip, self.address.tls.mode) {
            // A socket never uses TLS: nothing leaves the machine.
            (None, _) => return self.connect_with(ip, Mode::Disable).map_err(|mode| mode.failed),
            (_, SslMode::Disable | SslMode::Allow) => Mode::Disable,
            (_, SslMode::Prefer) => Mode::Prefer,
            (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => Mode::Require,
        };
        match (self.connect_with(ip, first), self.address.tls.mode) {
            (Err(first), SslMode::Allow) if first.is_refused => {
                self.connect_with(ip, Mode::Prefer).map_err(|second| second.after(first))
            }
            (Err(first), SslMode::Prefer) if first.had_tls && first.is_refused => {
                self.connect_with(ip, Mode::Disable).map_err(|second| second.after(first))
            }
            (result, _) => result.map_err(|mode| mode.failed),
        }
    }

    fn connect_with(&self, ip: Option<IpAddr>, mode: Mode) -> Result<Connected, FailedMode> {
        let config = self.config(ip, mode);
        let (connected, had_tls) = match self.tls.filter(|_| mode != Mode::Disable) {
            None => (self.in_time(move || Driver::connect(&config, NoTls)), false),
            Some(tls) => {
                let tls = tls.for_attempt();
                let driver_tls = tls.clone();
                (self.in_time(move || Driver::connect(&config, driver_tls)), tls.has_begun())
            }
        };
        let failed = |error: StoreError| FailedMode { failed: error.into(), had_tls, is_refused: false };
        let driver = match connected {
            Ok(Ok(driver)) => driver,
            Ok(Err(Unconnected::System(error))) => {
                let message = format!("{}: the system has no room for a connection: {error}", self.label());
                return Err(failed(StoreError::new(StoreErrorKind::Unreachable, message)));
            }
            Ok(Err(Unconnected::Server(error))) => {
                let is_refused = is_before_login(&error) || (had_tls && tls::is_of_the_handshake(&error));
                // After an answer no other server is tried, and neither where a password or TLS is missing. As libpq.
                let is_final =
                    error.as_db_error().map_or_else(|| io_error(&error).is_none(), |db| db.code().code() != "57P03");
                let failed = Failed { error: self.error(&error, had_tls), is_final };
                return Err(FailedMode { failed, had_tls, is_refused });
            }
            Err(error) => return Err(failed(error)),
        };
        let mut connection = ConnectionThread::start(driver);
        self.check_target(&mut connection).map_err(failed)?;
        Ok(Connected { connection, server: self.server.clone(), label: self.label() })
    }

    /// Whether the server is of an acceptable kind.
    fn check_target(&self, connection: &mut ConnectionThread) -> Result<(), StoreError> {
        if self.target == TargetAttributes::Any {
            return Ok(());
        }
        let (in_time, interrupt) = (for_at_most(self.time_limit()), self.limits.interrupt.clone());
        let asked = connection.run(
            move || in_time() && !interrupt.is_raised(),
            async |client| {
                let sql = "SELECT pg_catalog.pg_is_in_recovery(), \
                       pg_catalog.current_setting('default_transaction_read_only') OPERATOR(pg_catalog.=) 'on'::pg_catalog.text";
                let row = client.query_typed(sql, &[]).await?;
                row.first().map_or(Ok((false, false)), |row| Ok((row.try_get(0)?, row.try_get(1)?)))
            },
        );
        let (standby, read_only): (bool, bool) = match asked {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(self.error(&error, false)),
            Err(_) => return Err(self.no_answer()),
        };
        let (is_acceptable, why) = match self.target {
            TargetAttributes::Any | TargetAttributes::PreferStandby => (true, ""),
            TargetAttributes::ReadWrite => (!standby && !read_only, "does not take writes"),
            TargetAttributes::ReadOnly => (standby || read_only, "takes writes"),
            TargetAttributes::Primary => (!standby, "is a standby"),
            TargetAttributes::Standby => (standby, "is no standby"),
        };
        if is_acceptable {
            return Ok(());
        }
        Err(StoreError::new(StoreErrorKind::Unreachable, format!("{}: this server {why}", self.label()))
            .hint("target_session_attrs says which of several servers is acceptable"))
    }

    fn config(&self, ip: Option<IpAddr>, mode: Mode) -> Config {
        let (address, tcp) = (self.address, &self.address.tcp);
        let mut config = Config::new();
        config.user(&address.user).dbname(&address.database).port(self.server.port).ssl_mode(mode);
        match &self.server.place {
            ServerPlace::Socket(directory) => config.host_path(directory),
            ServerPlace::Host(name, _) => config.host(name),
        };
        if let Some(ip) = ip {
            config.hostaddr(ip);
        }
        if let Some(password) = &self.server.password {
            config.password(&password.0);
        }
        config.application_name(address.application_name.as_deref().unwrap_or(&self.limits.application_name));
        if let Some(options) = &address.options {
            config.options(options);
        }
        if address.tls.direct && mode == Mode::Require {
            config.ssl_negotiation(SslNegotiation::Direct);
        }
        config.channel_binding(address.channel_binding);
        config.connect_timeout(self.time_limit().max(Duration::from_millis(1)));
        config.keepalives(tcp.keepalives.unwrap_or(true));
        tcp.idle.map(|idle| config.keepalives_idle(idle));
        tcp.interval.map(|interval| config.keepalives_interval(interval));
        tcp.count.map(|count| config.keepalives_retries(count));
        tcp.user_timeout.map(|timeout| config.tcp_user_timeout(timeout));
        config
    }

    /// How long this attempt may take. With `connect_timeout=0` only the whole run's limit counts.
    fn time_limit(&self) -> Duration {
        let limit = match self.address.connect_timeout {
            None => self.limits.connect,
            Some(Duration::ZERO) => Duration::MAX,
            Some(timeout) => timeout,
        };
        limit.min(self.limits.left())
    }

    /// Runs `work` within the time limit: the driver's own covers only the TCP handshake, a name lookup has none.
    fn in_time<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
        let (in_time, interrupt) = (for_at_most(self.time_limit()), &self.limits.interrupt);
        on_own_thread(|| in_time() && !interrupt.is_raised(), work).ok_or_else(|| match interrupt.is_raised() {
            true => StoreError::interrupted("connecting"),
            false => self.no_answer(),
        })
    }

    fn no_answer(&self) -> StoreError {
        let message = format!("{}: the server does not answer", self.label());
        StoreError::new(StoreErrorKind::Unreachable, message).hint(NO_ANSWER)
    }

    fn label(&self) -> String {
        format!("{}@{}/{}", self.address.user, self.server, self.address.database)
    }

    fn error(&self, error: &Error, had_tls: bool) -> StoreError {
        FailedAttempt { address: self.address, server: self.server, label: &self.label(), had_tls }.error(error)
    }
}

/// An attempt in one TLS mode that failed.
struct FailedMode {
    failed: Failed,
    had_tls: bool,
    /// Refused in a way that another mode may change.
    is_refused: bool,
}

impl FailedMode {
    /// The failure of both modes. Either reason may be the decisive one: a wrong password with TLS, or a server that
    /// requires TLS. The hint is the one of the attempt with TLS.
    fn after(self, first: FailedMode) -> Failed {
        let (with_tls, without) = if first.had_tls { (first.failed, self.failed) } else { (self.failed, first.failed) };
        let mut error = with_tls.error;
        error.message = format!("{}; without TLS: {}", error.message, without.error.message);
        Failed { error, is_final: with_tls.is_final && without.is_final }
    }
}

//! Knocking at one server: at each address that its name stands for, in each TLS mode that may be tried.

use super::connect::{Connected, together};
use super::connect_error::{FailedAttempt, io_error, is_about_the_way_in};
use super::connection_thread::{ConnectionThread, aside, until};
use super::tls::{self, Tls};
use super::tls_negotiation::TlsNegotiation;
use crate::store::conninfo::{self, PostgresAddress, Server, ServerPlace, SslMode, TargetAttributes};
use crate::store::{Limits, StoreError, StoreErrorKind};
use ::postgres::config::{ChannelBinding, SslMode as Driver, SslNegotiation};
use ::postgres::{Client, Config, Error, NoTls};
use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;

/// An attempt that failed, and whether the others are not worth it.
pub(super) struct Failed {
    pub(super) error: StoreError,
    pub(super) is_final: bool,
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Failed { error, is_final: false }
    }
}

/// One server that is tried.
pub(super) struct Attempt<'k> {
    pub(super) address: &'k PostgresAddress,
    pub(super) server: &'k Server,
    pub(super) tls: Option<&'k Tls>,
    pub(super) limits: &'k Limits,
    pub(super) wanted: TargetAttributes,
}

impl Attempt<'_> {
    /// Tries the addresses that a host's name stands for, one after the other.
    pub(super) fn at_each_address(&self) -> Result<Connected, Failed> {
        let mut failures = Vec::new();
        for address in self.addresses()? {
            match self.at(address) {
                Err(failure) if !failure.is_final => failures.push(failure.error),
                other => return other,
            }
        }
        Err(together(failures).into())
    }

    /// None for a socket.
    fn addresses(&self) -> Result<Vec<Option<IpAddr>>, StoreError> {
        let (name, port) = match &self.server.place {
            ServerPlace::Socket(_) => return Ok(vec![None]),
            ServerPlace::Host(_, Some(address)) => return Ok(vec![Some(*address)]),
            ServerPlace::Host(name, None) => (name.clone(), self.server.port),
        };
        let found = self.patiently(move || (name.as_str(), port).to_socket_addrs().map(Vec::from_iter))?;
        let mut addresses: Vec<Option<IpAddr>> = found
            .map_err(|error| {
                let message = format!("{}: there is no host of this name: {error}", self.label());
                StoreError::new(StoreErrorKind::Unreachable, message)
                    .hint("check the name, and that names can be looked up here")
            })?
            .into_iter()
            .map(|address| Some(address.ip()))
            .collect();
        addresses.dedup();
        Ok(addresses)
    }

    /// Goes through the TLS modes that may be tried, as libpq does.
    fn at(&self, ip: Option<IpAddr>) -> Result<Connected, Failed> {
        let first = match (ip, self.address.tls.mode) {
            // On a socket there is no TLS, whatever was said: nothing leaves the machine.
            (None, _) => return self.with(ip, Driver::Disable).map_err(|tried| tried.failed),
            (_, SslMode::Disable | SslMode::Allow) => Driver::Disable,
            (_, SslMode::Prefer) => Driver::Prefer,
            (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => Driver::Require,
        };
        match (self.with(ip, first), self.address.tls.mode) {
            (Err(first), SslMode::Allow) if first.refused => {
                self.with(ip, Driver::Prefer).map_err(|second| second.after(first))
            }
            (Err(first), SslMode::Prefer) if first.had_tls && first.refused => {
                self.with(ip, Driver::Disable).map_err(|second| second.after(first))
            }
            (result, _) => result.map_err(|tried| tried.failed),
        }
    }

    fn with(&self, ip: Option<IpAddr>, mode: Driver) -> Result<Connected, Tried> {
        let config = self.config(ip, mode);
        let (connected, had_tls) = match self.tls.filter(|_| mode != Driver::Disable) {
            None => (self.patiently(move || config.connect(NoTls)), false),
            Some(tls) => {
                let offer = TlsNegotiation::of(tls.clone());
                let ours = offer.clone();
                (self.patiently(move || config.connect(ours)), offer.was_taken())
            }
        };
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => {
                let refused = is_about_the_way_in(&error) || (had_tls && tls::is_of_the_handshake(&error));
                // A server that answered has answered: for want of a password, or of TLS, libpq does not go on either.
                let is_final =
                    error.as_db_error().map_or_else(|| io_error(&error).is_none(), |db| db.code().code() != "57P03");
                let failed = Failed { error: self.error(&error, had_tls), is_final };
                return Err(Tried { failed, had_tls, refused });
            }
            Err(error) => return Err(Tried { failed: error.into(), had_tls, refused: false }),
        };
        match self.checked(ConnectionThread::over(client)) {
            Ok(line) => Ok(Connected { line, server: self.server.clone(), label: self.label() }),
            Err(error) => Err(Tried { failed: error.into(), had_tls, refused: false }),
        }
    }

    /// Whether the server is of the kind that was asked for.
    fn checked(&self, mut line: ConnectionThread) -> Result<ConnectionThread, StoreError> {
        let (wanted, label) = (self.wanted, self.label());
        if wanted == TargetAttributes::Any {
            return Ok(line);
        }
        let (in_time, interrupt) = (until(self.patience()), self.limits.interrupt.clone());
        let asked = line.ask(
            move || in_time() && !interrupt.is_raised(),
            |client: &mut Client| {
                let sql = "SELECT pg_catalog.pg_is_in_recovery(), \
                       pg_catalog.current_setting('default_transaction_read_only') = 'on'";
                let row = client.query_typed(sql, &[])?;
                row.first().map_or(Ok((false, false)), |row| Ok((row.try_get(0)?, row.try_get(1)?)))
            },
        );
        let (standby, read_only): (bool, bool) = match asked {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(self.error(&error, false)),
            Err(_) => return Err(self.silent()),
        };
        let (fits, lacks) = match wanted {
            TargetAttributes::Any | TargetAttributes::PreferStandby => (true, ""),
            TargetAttributes::ReadWrite => (!standby && !read_only, "does not take writes"),
            TargetAttributes::ReadOnly => (standby || read_only, "takes writes"),
            TargetAttributes::Primary => (!standby, "is a standby"),
            TargetAttributes::Standby => (standby, "is no standby"),
        };
        if fits {
            return Ok(line);
        }
        Err(StoreError::new(StoreErrorKind::Unreachable, format!("{label}: this server {lacks}"))
            .hint("target_session_attrs decides which of several servers will do"))
    }

    fn config(&self, ip: Option<IpAddr>, mode: Driver) -> Config {
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
        if address.tls.direct && mode == Driver::Require {
            config.ssl_negotiation(SslNegotiation::Direct);
        }
        config.channel_binding(match address.channel_binding {
            conninfo::ChannelBinding::Disable => ChannelBinding::Disable,
            conninfo::ChannelBinding::Prefer => ChannelBinding::Prefer,
            conninfo::ChannelBinding::Require => ChannelBinding::Require,
        });
        config.connect_timeout(self.patience().max(Duration::from_millis(1)));
        config.keepalives(tcp.keepalives.unwrap_or(true));
        tcp.idle.map(|idle| config.keepalives_idle(idle));
        tcp.interval.map(|interval| config.keepalives_interval(interval));
        tcp.count.map(|count| config.keepalives_retries(count));
        tcp.user_timeout.map(|timeout| config.tcp_user_timeout(timeout));
        config
    }

    /// How long this server may take. Zero seconds of `connect_timeout` are no limit, but for the whole run's.
    fn patience(&self) -> Duration {
        let told = match self.address.connect_timeout {
            None => self.limits.connect,
            Some(Duration::ZERO) => Duration::MAX,
            Some(timeout) => timeout,
        };
        told.min(self.limits.left())
    }

    /// The driver's own limit ends with the TCP handshake, and a name server has none.
    fn patiently<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
        let (in_time, interrupt) = (until(self.patience()), &self.limits.interrupt);
        aside(|| in_time() && !interrupt.is_raised(), work).ok_or_else(|| match interrupt.is_raised() {
            true => StoreError::new(StoreErrorKind::Interrupted, "interrupted while connecting"),
            false => self.silent(),
        })
    }

    fn silent(&self) -> StoreError {
        let message = format!("{}: the server does not answer", self.label());
        StoreError::new(StoreErrorKind::Unreachable, message)
            .hint("is the address right, and does a firewall let you through? connect_timeout=SECONDS waits longer")
    }

    fn label(&self) -> String {
        format!("{}@{}/{}", self.address.user, self.server, self.address.database)
    }

    fn error(&self, error: &Error, had_tls: bool) -> StoreError {
        FailedAttempt { address: self.address, server: self.server, label: &self.label(), had_tls }.error(error)
    }
}

/// How trying one TLS mode went.
struct Tried {
    failed: Failed,
    had_tls: bool,
    /// Refused in a way that another mode may change.
    refused: bool,
}

impl Tried {
    /// Both ways have failed, and either reason may be the one that counts: with TLS a wrong password, without it a server that
    /// lets nobody in without. The advice is for the way with TLS.
    fn after(self, first: Tried) -> Failed {
        let (with_tls, without) = if first.had_tls { (first.failed, self.failed) } else { (self.failed, first.failed) };
        let mut error = with_tls.error;
        error.message = format!("{}; without TLS: {}", error.message, without.error.message);
        Failed { error, is_final: with_tls.is_final && without.is_final }
    }
}

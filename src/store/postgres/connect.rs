//! Connects to the first acceptable server of an address, in libpq's order.

use super::attempt::Attempt;
use super::connection_thread::ConnectionThread;
use super::tls::{self, Tls};
use crate::store::conninfo::{PostgresAddress, Server, ServerPlace, SslMode, TargetAttributes};
use crate::store::{Limits, StoreError, StoreErrorKind, random};

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

/// The servers in the order in which they are tried.
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

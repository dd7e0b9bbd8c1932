//! Finding a server that answers, lets us in and will do: libpq's way through hosts, addresses and TLS modes.

use super::attempt::Attempt;
use super::connection_thread::ConnectionThread;
use super::tls::{self, Tls};
use crate::store::conninfo::{PostgresAddress, Server, ServerPlace, SslMode, TargetAttributes};
use crate::store::{Limits, StoreError, StoreErrorKind};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A connection that stands.
pub(super) struct Connected {
    /// The line to the server.
    pub(super) line: ConnectionThread,
    /// The server.
    pub(super) server: Server,
    /// What to call the server in messages: user, host and database.
    pub(super) label: String,
}

/// Connects to the first server that will do. Nothing goes into the startup packet that a pooler might refuse, unless the
/// operator's own `options` are such a thing.
///
/// # Errors
/// When no server will do; then the message names each with its reason.
pub(super) fn connect(address: &PostgresAddress, limits: &Limits) -> Result<Connected, StoreError> {
    let needs_tls = address.tls.mode != SslMode::Disable
        && address.servers.iter().any(|server| matches!(server.place, ServerPlace::Host(..)));
    let (tls, unfit) = match needs_tls.then(|| tls::connector(&address.tls)).transpose() {
        Ok(tls) => (tls, None),
        // What only prefers TLS goes on without, as with libpq; if that fails too, this is worth knowing.
        Err(unfit) if address.tls.mode <= SslMode::Prefer => (None, Some(unfit)),
        Err(unfit) => return Err(unfit),
    };
    first(address, tls.as_ref(), limits).map_err(|mut error| {
        if let Some(unfit) = unfit {
            error.message = format!("{}; TLS was not tried: {unfit}", error.message);
        }
        error
    })
}

/// The first server that will do.
fn first(address: &PostgresAddress, tls: Option<&Tls>, limits: &Limits) -> Result<Connected, StoreError> {
    let mut failures = Vec::new();
    for wanted in passes(address, limits) {
        for server in order(address) {
            let attempt = Attempt { address, server, tls, limits, wanted };
            match attempt.at_each_address() {
                Ok(connected) => return Ok(connected),
                // Whoever is refused by one server is not tried on the next: that is how accounts get locked.
                Err(failure) if failure.is_final => return Err(failure.error),
                Err(failure) => failures.push(failure.error),
            }
        }
    }
    Err(together(failures))
}

/// Which kind of server to look for, and if there is none, which then. Of several servers of which nothing is said, what is
/// to be written goes to one that takes writes.
fn passes(address: &PostgresAddress, limits: &Limits) -> Vec<TargetAttributes> {
    match address.target {
        TargetAttributes::PreferStandby => vec![TargetAttributes::Standby, TargetAttributes::Any],
        TargetAttributes::Any if !address.target_is_named && limits.for_writing && address.servers.len() > 1 => {
            // If none does, the guards say so of one that does not.
            vec![TargetAttributes::ReadWrite, TargetAttributes::Any]
        }
        target => vec![target],
    }
}

fn order(address: &PostgresAddress) -> Vec<&Server> {
    let mut servers: Vec<&Server> = address.servers.iter().collect();
    if address.shuffled {
        let dice = RandomState::new();
        servers.sort_by_cached_key(|server| dice.hash_one(server.to_string()));
    }
    servers
}

/// What several failures are together.
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

//! What a failed connection attempt means: one message for each cause, and what to try.

use super::tls;
use crate::model::Remedy;
use crate::preset::ident::quoted;
use crate::store::StoreError;
use crate::store::StoreErrorKind::{self, Busy, Denied, Unfit, Unreachable};
use crate::store::conninfo::{PostgresAddress, Server, ServerPlace, SslMode};
use ::postgres::Error;
use ::postgres::error::{DbError, Severity};
use std::borrow::Cow;
use std::error::Error as _;
use std::io;

/// The hint for a server that does not answer.
pub(super) const NO_ANSWER: &str =
    "is the address right, and does a firewall let you through? connect_timeout=SECONDS waits longer";

pub(super) struct FailedAttempt<'a> {
    pub(super) address: &'a PostgresAddress,
    pub(super) server: &'a Server,
    pub(super) label: &'a str,
    /// True if the TLS handshake had begun.
    pub(super) had_tls: bool,
}

impl FailedAttempt<'_> {
    /// What this driver error means for the operator.
    pub(super) fn error(&self, error: &Error) -> StoreError {
        if let Some(db) = error.as_db_error() {
            let mut error = self.refusal(db, store_error(error, self.label, &self.address.user));
            // PgBouncer's message ends with the parameter's name.
            let parameter =
                db.message().strip_prefix("unsupported startup parameter").and_then(|s| s.rsplit(' ').next());
            error.message = match parameter {
                Some(name) => format!("{}: the pooler refuses the startup parameter `{name}`", self.label),
                None => format!("{}: {}", self.label, error.message),
            };
            return error;
        }
        let (kind, message, hint) = match (tls::failure(error, &self.server.place.to_string()), io_error(error)) {
            (Some(failure), _) => {
                return StoreError { message: format!("{}: {}", self.label, failure.message), ..failure };
            }
            (None, Some(io)) => self.network_error(io),
            (None, None) if with_causes(error).contains("password missing") => {
                let message = format!("{}: the server asks for a password, and none was found", self.label);
                return self.with_password_hint(StoreError::new(Denied, message));
            }
            (None, None) => startup_error(&with_causes(error)),
        };
        StoreError::new(kind, format!("{}: {message}", self.label)).hint(hint)
    }

    /// A refusal by the server, or by a pooler before it.
    fn refusal(&self, db: &DbError, error: StoreError) -> StoreError {
        let says = |words: &str| db.message().contains(words);
        let is_peer = says("Peer authentication failed") || says("Ident authentication failed");
        let is_password = !is_peer && says("authentication failed") && !says("certificate");
        let user = &self.address.user;
        let (kind, hint): (_, Cow<'_, str>) = match db.code().code() {
            code if code == "28P01" || is_password => {
                return self.with_password_hint(StoreError { kind: Denied, ..error });
            }
            _ if is_peer => {
                let hint = format!(
                    "the server asks the operating system who you are: sudo -u {user}, or connect over TCP with a password \
                     (host=localhost)"
                );
                (Denied, hint.into())
            }
            "28000" if says("pg_hba.conf") && !self.had_tls && refuses_plain(db.message()) => {
                (Denied, self.tls_hint().into())
            }
            "28000" if says("pg_hba.conf") => {
                let hint = "the server's pg_hba.conf decides which user may connect from which host: ask its administrator, \
                            or use another host or user";
                (Denied, hint.into())
            }
            "28000" if says("certificate") => {
                let hint = "this server wants a client certificate for this user: sslcert=FILE sslkey=FILE, or \
                            ~/.postgresql/postgresql.crt and .key";
                (Denied, hint.into())
            }
            "28000" => (Denied, "check the user's name: user=... or PGUSER".into()),
            "3D000" => (Unreachable, "check the database's name: dbname=... or PGDATABASE".into()),
            "53300" => (Busy, "try again, or close unused connections; a superuser may still get in".into()),
            "57P03" => (Unreachable, "it is starting, stopping or recovering: try again".into()),
            "42501" => {
                let (database, user) = (quoted(&self.address.database), quoted(user));
                (Denied, format!("the role may not connect: GRANT CONNECT ON DATABASE {database} TO {user}").into())
            }
            "55000" => (Unreachable, "this database accepts no connections: name another".into()),
            _ if says("startup parameter") => {
                let hint = "the pooler accepts only what its ignore_startup_parameters names: leave out options=... and \
                            PGOPTIONS";
                (Unfit, hint.into())
            }
            _ if says("no such database") => {
                (Unreachable, "check the database's name: a pooler knows those of its configuration".into())
            }
            _ if says("no such user") => (Denied, "a pooler knows the users of its configuration".into()),
            _ if says("no more connections allowed") || says("query_wait_timeout") => {
                (Busy, "the pooler is full: try again, or connect to the server itself".into())
            }
            code if code.starts_with("08") => {
                (Unreachable, "a pooler answered in the server's place: is the server behind it up?".into())
            }
            _ if error.kind == StoreErrorKind::Lost => (Unreachable, "try again".into()),
            _ => return error,
        };
        StoreError { kind, ..error }.hint(hint)
    }

    fn with_password_hint(&self, error: StoreError) -> StoreError {
        let origin = self.address.settings.iter().find(|(name, _, _)| *name == "password").map(|(_, _, origin)| origin);
        match origin {
            Some(origin) => error
                .hint(format!("the password came from {origin}; `jobdoctor env` shows where every setting comes from")),
            None => {
                let sought = self.address.password_sought.as_deref().unwrap_or("no password was found");
                error.hint(sought).remedy(Remedy::GivePassword)
            }
        }
    }

    fn tls_hint(&self) -> &'static str {
        match (&self.server.place, self.address.tls.mode) {
            (ServerPlace::Socket(_), _) => "its pg_hba.conf has no line for local connections of this user",
            (_, SslMode::Disable) => {
                "the server may want TLS, and sslmode=disable forbids it: sslmode=verify-full, or require"
            }
            _ => "the server may want TLS and does not offer it: its ssl setting and pg_hba.conf do not fit together",
        }
    }

    fn network_error(&self, error: &io::Error) -> Startup {
        let port = self.server.port;
        let (message, hint) = match (&self.server.place, error.kind()) {
            (ServerPlace::Socket(directory), io::ErrorKind::NotFound) => (
                format!("there is no socket {}/.s.PGSQL.{port}", directory.display()),
                "is the server up, is this its directory and port? host=NAME connects over TCP",
            ),
            (ServerPlace::Socket(_), io::ErrorKind::PermissionDenied) => {
                return (Denied, "this user may not use the socket".to_owned(), "its mode decides who may");
            }
            (_, io::ErrorKind::ConnectionRefused) => (
                format!("nothing listens at port {port} (connection refused)"),
                "is the server up, and is the port right? A server that listens only on its socket is reached by the \
                 socket's directory",
            ),
            (_, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
                ("the server does not answer".to_owned(), NO_ANSWER)
            }
            (_, io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
                (format!("no route leads there: {error}"), "is the network, a VPN or a tunnel up?")
            }
            (_, io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => (
                "the server hung up during the startup".to_owned(),
                "is it a Postgres server, and has it a connection left? See its log; a proxy in between may want TLS first \
                 (sslnegotiation=direct)",
            ),
            _ => (error.to_string(), "`jobdoctor env` shows what was tried"),
        };
        (Unreachable, message, hint)
    }
}

/// Why there was no startup: the kind, the message and the hint.
type Startup = (StoreErrorKind, String, &'static str);

/// A failure of the startup that the driver reports without a cause.
fn startup_error(said: &str) -> Startup {
    let says = |words: &str| said.contains(words);
    if says("channel binding") {
        let message = "channel_binding=require is not possible: it takes TLS and a SCRAM password".to_owned();
        let hint = "use sslmode=require or stronger, SCRAM on the server, and no pooler that ends TLS in between";
        return (Denied, message, hint);
    }
    if says("unsupported authentication method") || says("unsupported SASL mechanism") {
        let message = "the server wants an authentication method that jobdoctor does not support".to_owned();
        let hint =
            "supported are passwords (SCRAM, MD5, plain and so LDAP), client certificates, peer, trust; not Kerberos";
        return (Denied, message, hint);
    }
    if says("authentication error") {
        let message = format!("the server's half of the password exchange is wrong: {said}");
        return (Denied, message, "is this the server it claims to be?");
    }
    let foreign = ["bytes remaining on stream", "parsing response", "unexpected message", "invalid message"];
    if foreign.into_iter().any(says) {
        let message = "what answers there does not speak Postgres".to_owned();
        return (Unreachable, message, "check host and port; `jobdoctor env` shows what was tried");
    }
    let hint = "is it a Postgres server? `jobdoctor env` shows what was tried";
    (Unreachable, format!("cannot connect: {said}"), hint)
}

/// Whether the server refuses connections without TLS, in the words up to Postgres 13 or since.
fn refuses_plain(message: &str) -> bool {
    message.contains("SSL off") || message.contains("no encryption")
}

/// Whether the server refused the connection before the login. Another TLS mode may then succeed, and libpq tries it.
pub(super) fn is_before_login(error: &Error) -> bool {
    error.as_db_error().is_some_and(|db| ["28", "08", "53"].iter().any(|class| db.code().code().starts_with(class)))
}

/// The input/output error behind a driver error.
pub(super) fn io_error(error: &Error) -> Option<&io::Error> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return Some(io);
        }
        source = cause.source();
    }
    None
}

/// What a driver error means for the operator. `label` names the database without secrets, `user` the role.
pub(super) fn store_error(error: &Error, label: &str, user: &str) -> StoreError {
    let Some(db) = error.as_db_error() else {
        return StoreError::new(StoreErrorKind::Lost, format!("{label}: {}", with_causes(error)));
    };
    let code = db.code().code();
    let kind = match (code.get(..2).unwrap_or_default(), code) {
        (_, "57014") => StoreErrorKind::TimedOut,
        (_, "55P03" | "53200" | "53300") => StoreErrorKind::Busy,
        (_, "40001" | "40P01") => StoreErrorKind::Conflict,
        (_, "42501" | "25006") | ("28", _) => StoreErrorKind::Denied,
        (_, "3D000") => StoreErrorKind::Unreachable,
        // A full disk counts as lost, as on SQLite: the transaction is rolled back.
        (_, "57P01" | "57P02" | "57P03" | "25P03" | "53100") | ("08", _) => StoreErrorKind::Lost,
        (_, "P0001") | ("22" | "23" | "27" | "44" | "09", _) => StoreErrorKind::RowData,
        // 55000: a view that is not updatable.
        (_, "55000") | ("42" | "3F" | "0A", _) => StoreErrorKind::Unfit,
        _ => StoreErrorKind::Other,
    };
    StoreError {
        kind,
        message: db.message().to_owned(),
        hint: hint(code, db.message(), user).or_else(|| db.hint().map(str::to_owned)),
        remedy: match code {
            "57014" => Some(Remedy::AllowMoreTime),
            "53200" => Some(Remedy::LimitJobs),
            _ => None,
        },
        code: Some(code.to_owned()),
        constraint: db.constraint().map(str::to_owned),
    }
}

/// The message of an error and all its causes.
pub(super) fn with_causes(error: &Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message
}

fn hint(code: &str, message: &str, user: &str) -> Option<String> {
    let hint = match code {
        "42501" if message.contains("row-level security") || message.contains("row security") => {
            return Some(format!(
                "row security may hide stuck jobs from this role: \
                 ALTER ROLE {} BYPASSRLS, or connect as the owner of the tables (policies do not help: they may hide rows too)",
                quoted(user)
            ));
        }
        "42501" => return Some(missing_right(message, user)),
        "25006" => {
            "this is a standby, or the role or the database is set to read only: list here, apply on the primary or as another \
             role"
        }
        "55P03" => {
            "another session holds the table (an ALTER or LOCK TABLE, say): pg_stat_activity and pg_blocking_pids() show \
             which; try again when it is done"
        }
        "57P01" | "57P02" => "the server, or its administrator, ended the connection: try again",
        "53100" => "the server's disk is full: the write was rolled back; free some space first",
        "53200" => "the server's table of locks is full (max_locks_per_transaction)",
        "53300" => "the server has no connection left; try again",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The GRANT for a missing right, as far as the message names the object.
fn missing_right(message: &str, user: &str) -> String {
    let role = quoted(user);
    let on = |kind: &str| message.split_once(&format!("permission denied for {kind} ")).map(|(_, name)| quoted(name));
    if let Some(schema) = on("schema") {
        return format!("GRANT USAGE ON SCHEMA {schema} TO {role}");
    }
    match on("table").or_else(|| on("view")) {
        Some(table) => format!(
            "{role} lacks a right on {table}: SELECT to list, and what `jobdoctor check` lists to reclaim; a trigger of the \
             library may need rights on other tables"
        ),
        None => "the role lacks a right; `jobdoctor check` lists the rights that reclaim takes, and the GRANT for each"
            .to_owned(),
    }
}

/// Whether an error is the server's answer to a statement. The last message of a pooler that hangs up, or of a server
/// that stops, is not.
pub(super) fn is_an_answer(error: &Error) -> bool {
    error.as_db_error().is_some_and(|db| {
        let code = db.code().code();
        let hangs_up = code.starts_with("08") || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(&code);
        db.parsed_severity() == Some(Severity::Error) && !hangs_up
    })
}

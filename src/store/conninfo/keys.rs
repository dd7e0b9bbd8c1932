//! The words of an address: the connection keys of libpq 15 to 17, and what frameworks add to `DATABASE_URL`.

/// A key, its environment variable, and how jobdoctor treats it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// The name in a string, a URL or a service file.
    pub(super) name: &'static str,
    /// The variable that sets it where the address and the service do not.
    pub(super) variable: Option<&'static str>,
    pub(super) treatment: Treatment,
}

/// How a key is treated. No key is silently ignored: an operator who sets one relies on it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Treatment {
    /// Honoured as libpq does.
    Honoured,
    /// Accepted with these values, which ask for what happens anyway; refused with any other, for this reason.
    Only(&'static [&'static str], &'static str),
    /// Refused, for this reason.
    Refused(&'static str),
}

use Treatment::{Honoured, Only, Refused};

const GSS: &str = "GSSAPI and Kerberos are not supported";

const fn key(name: &'static str, variable: Option<&'static str>, treatment: Treatment) -> Key {
    Key { name, variable, treatment }
}

/// All keys, in the order of libpq's manual (section "Parameter Key Words").
pub(super) const KEYS: [Key; 41] = [
    key("host", Some("PGHOST"), Honoured),
    key("hostaddr", Some("PGHOSTADDR"), Honoured),
    key("port", Some("PGPORT"), Honoured),
    key("dbname", Some("PGDATABASE"), Honoured),
    key("user", Some("PGUSER"), Honoured),
    key("password", Some("PGPASSWORD"), Honoured),
    key("passfile", Some("PGPASSFILE"), Honoured),
    key("require_auth", Some("PGREQUIREAUTH"), Refused("the driver does not say how it was authenticated")),
    key("channel_binding", Some("PGCHANNELBINDING"), Honoured),
    key("connect_timeout", Some("PGCONNECT_TIMEOUT"), Honoured),
    key(
        "client_encoding",
        Some("PGCLIENTENCODING"),
        Only(&["auto", "utf8", "utf-8", "unicode"], "jobdoctor uses only UTF-8; the server converts"),
    ),
    key("options", Some("PGOPTIONS"), Honoured),
    key("application_name", Some("PGAPPNAME"), Honoured),
    key("fallback_application_name", None, Honoured),
    key("keepalives", None, Honoured),
    key("keepalives_idle", None, Honoured),
    key("keepalives_interval", None, Honoured),
    key("keepalives_count", None, Honoured),
    key("tcp_user_timeout", None, Honoured),
    key(
        "replication",
        None,
        Only(&["false", "off", "no", "0"], "a replication connection answers other statements than these"),
    ),
    key("gssencmode", Some("PGGSSENCMODE"), Only(&["disable", "prefer"], GSS)),
    key("sslmode", Some("PGSSLMODE"), Honoured),
    key("sslnegotiation", Some("PGSSLNEGOTIATION"), Honoured),
    key("sslcompression", Some("PGSSLCOMPRESSION"), Only(&["0"], "TLS is never compressed: that leaks secrets")),
    key("sslcert", Some("PGSSLCERT"), Honoured),
    key("sslkey", Some("PGSSLKEY"), Honoured),
    key("sslcertmode", Some("PGSSLCERTMODE"), Only(&["disable", "allow"], "TLS does not say whether the server asked")),
    key(
        "sslpassword",
        None,
        Refused(
            "encrypted keys are not read: write it without a password (openssl pkey -in KEY -out KEY2; chmod 600 KEY2)",
        ),
    ),
    key("sslrootcert", Some("PGSSLROOTCERT"), Honoured),
    key("sslcrl", Some("PGSSLCRL"), Honoured),
    key("sslcrldir", Some("PGSSLCRLDIR"), Honoured),
    key("sslsni", Some("PGSSLSNI"), Honoured),
    key("requirepeer", Some("PGREQUIREPEER"), Refused("the driver does not show who listens on a socket")),
    key("ssl_min_protocol_version", Some("PGSSLMINPROTOCOLVERSION"), Honoured),
    key("ssl_max_protocol_version", Some("PGSSLMAXPROTOCOLVERSION"), Honoured),
    key("krbsrvname", Some("PGKRBSRVNAME"), Refused(GSS)),
    key("gsslib", Some("PGGSSLIB"), Refused(GSS)),
    key("gssdelegation", Some("PGGSSDELEGATION"), Only(&["0"], GSS)),
    key("service", Some("PGSERVICE"), Honoured),
    key("target_session_attrs", Some("PGTARGETSESSIONATTRS"), Honoured),
    key("load_balance_hosts", Some("PGLOADBALANCEHOSTS"), Honoured),
];

/// Looks a key up by name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Schemes that frameworks use for Postgres. SQLAlchemy appends `+driver`.
const FRAMEWORK_SCHEMES: [&str; 6] = ["postgresql", "postgres", "postgis", "ecto", "pgsql", "psql"];

/// Query parameters of frameworks, which configure the framework and mean nothing to a server, each with its framework.
/// From `DATABASE_URL` they are dropped, and `env` says so; from any other address they are refused. A word about trust
/// or encryption is never dropped.
pub const FRAMEWORK_WORDS: [(&str, &str); 37] = [
    ("adapter", "Rails"),
    ("checkout_timeout", "Rails"),
    ("encoding", "Rails"),
    ("idle_timeout", "Rails"),
    ("pool", "Rails"),
    ("prepared_statements", "Rails"),
    ("reaping_frequency", "Rails"),
    ("reconnect", "Rails"),
    ("schema_search_path", "Rails"),
    ("connection_limit", "Prisma"),
    ("pgbouncer", "Prisma"),
    ("pool_timeout", "Prisma"),
    ("schema", "Prisma"),
    ("socket_timeout", "Prisma"),
    ("statement_cache_size", "Prisma and asyncpg"),
    ("conn_max_age", "Django"),
    ("conn_health_checks", "Django"),
    ("disable_server_side_cursors", "Django"),
    ("pool_size", "Ecto and SQLAlchemy"),
    ("max_overflow", "SQLAlchemy"),
    ("pool_recycle", "SQLAlchemy"),
    ("pool_pre_ping", "SQLAlchemy"),
    ("prepared_statement_cache_size", "asyncpg"),
    ("command_timeout", "asyncpg"),
    ("max_cached_statement_lifetime", "asyncpg"),
    ("statement-cache-capacity", "sqlx"),
    ("statement_cache_capacity", "pgx"),
    ("description_cache_capacity", "pgx"),
    ("default_query_exec_mode", "pgx"),
    ("pool_max_conns", "pgx"),
    ("pool_min_conns", "pgx"),
    ("pool_max_conn_lifetime", "pgx"),
    ("pool_max_conn_idle_time", "pgx"),
    ("pool_health_check_period", "pgx"),
    ("currentSchema", "JDBC"),
    ("prepareThreshold", "JDBC"),
    ("uselibpqcompat", "node-postgres"),
];

/// The framework that has this query parameter.
pub(super) fn framework_of(word: &str) -> Option<&'static str> {
    FRAMEWORK_WORDS.iter().find(|(known, _)| *known == word).map(|(_, whose)| *whose)
}

/// The rest of a URL with such a scheme, and the part of the scheme that is dropped, in words.
pub(super) fn framework_scheme(text: &str) -> Option<(&str, Option<String>)> {
    let (scheme, rest) = text.strip_prefix("jdbc:").unwrap_or(text).split_once("://")?;
    let (scheme, driver) = scheme.split_once('+').map_or((scheme, None), |(scheme, driver)| (scheme, Some(driver)));
    FRAMEWORK_SCHEMES.contains(&scheme).then_some(())?;
    let plain = scheme.starts_with("postgres");
    let dropped = match driver {
        Some(driver) => Some(format!("+{driver} of the scheme")),
        None if !plain => Some(format!("the scheme {scheme}, taken for postgres")),
        None => None,
    };
    // A driver's name is a word. Anything else might be part of a password, and is not shown.
    let is_word = driver.is_none_or(|driver| driver.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    is_word.then_some((rest, dropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes() {
        assert_eq!(framework_scheme("postgres://h/d"), Some(("h/d", None)));
        assert_eq!(framework_scheme("postgresql+asyncpg://h"), Some(("h", Some("+asyncpg of the scheme".to_owned()))));
        assert_eq!(framework_scheme("ecto://h"), Some(("h", Some("the scheme ecto, taken for postgres".to_owned()))));
        assert_eq!(framework_scheme("mysql://h"), None);
        assert_eq!(framework_scheme("postgres:h"), None);
    }

    #[test]
    fn no_word_is_one_of_libpq() {
        assert!(FRAMEWORK_WORDS.iter().all(|(word, _)| find(word).is_none()));
    }
}

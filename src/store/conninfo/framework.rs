//! What frameworks write into `DATABASE_URL` beside what libpq knows. It says how *they* shall use the database, so it is
//! dropped, and said to be; from any other address it is refused.

/// Schemes that stand for Postgres. A `+driver` behind one is SQLAlchemy's.
const SCHEMES: [&str; 6] = ["postgresql", "postgres", "postgis", "ecto", "pgsql", "psql"];

/// Query parameters that mean nothing to a server, each with whose word it is. None of them is about whom to trust or what to
/// encrypt: such words are never dropped.
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

/// Whose word it is.
pub(super) fn whose(word: &str) -> Option<&'static str> {
    FRAMEWORK_WORDS.iter().find(|(known, _)| *known == word).map(|(_, whose)| *whose)
}

/// The rest of a URL whose scheme stands for Postgres, and what of the scheme is dropped.
pub(super) fn scheme(text: &str) -> Option<(&str, Option<String>)> {
    let (scheme, rest) = text.strip_prefix("jdbc:").unwrap_or(text).split_once("://")?;
    let (scheme, driver) = scheme.split_once('+').map_or((scheme, None), |(scheme, driver)| (scheme, Some(driver)));
    SCHEMES.contains(&scheme).then_some(())?;
    let plain = scheme.starts_with("postgres");
    let dropped = match driver {
        Some(driver) => Some(format!("+{driver} of the scheme")),
        None if !plain => Some(format!("the scheme {scheme}, taken for postgres")),
        None => None,
    };
    // A driver's name is a word; anything else may be something that must not be shown.
    let is_word = driver.is_none_or(|driver| driver.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    is_word.then_some((rest, dropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes() {
        assert_eq!(scheme("postgres://h/d"), Some(("h/d", None)));
        assert_eq!(scheme("postgresql+asyncpg://h"), Some(("h", Some("+asyncpg of the scheme".to_owned()))));
        assert_eq!(scheme("ecto://h"), Some(("h", Some("the scheme ecto, taken for postgres".to_owned()))));
        assert_eq!(scheme("mysql://h"), None);
        assert_eq!(scheme("postgres:h"), None);
    }

    #[test]
    fn no_word_is_one_of_libpq() {
        assert!(FRAMEWORK_WORDS.iter().all(|(word, _)| super::super::keys::find(word).is_none()));
    }
}

//! The connection keys of libpq 15 to 17, as one table.

/// A key, the variable that gives it where nothing else does, and what this program makes of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// Its name in a string, a URL or a service file.
    pub(super) name: &'static str,
    /// The environment variable of the same meaning.
    pub(super) variable: Option<&'static str>,
    /// What becomes of it.
    pub(super) treatment: Treatment,
}

/// What becomes of a key. None is ever ignored: libpq's users name these things because they matter.
#[derive(Debug, Clone, Copy)]
pub(super) enum Treatment {
    /// It is honoured as libpq would.
    Honoured,
    /// These values, which ask for what happens anyway, are fine; any other is refused, for that reason.
    Only(&'static [&'static str], &'static str),
    /// It is refused, for that reason.
    Refused(&'static str),
}

use Treatment::{Honoured, Only, Refused};

const GSS: &str = "GSSAPI and Kerberos are not spoken";

const fn key(name: &'static str, variable: Option<&'static str>, treatment: Treatment) -> Key {
    Key { name, variable, treatment }
}

/// All of them, in the order of libpq's manual (section "Parameter Key Words").
pub(super) const KEYS: [Key; 41] = [
    key("host", Some("PGHOST"), Honoured),
    key("hostaddr", Some("PGHOSTADDR"), Honoured),
    key("port", Some("PGPORT"), Honoured),
    key("dbname", Some("PGDATABASE"), Honoured),
    key("user", Some("PGUSER"), Honoured),
    key("password", Some("PGPASSWORD"), Honoured),
    key("passfile", Some("PGPASSFILE"), Honoured),
    key("require_auth", Some("PGREQUIREAUTH"), Refused("the driver does not tell how it was authenticated")),
    key("channel_binding", Some("PGCHANNELBINDING"), Honoured),
    key("connect_timeout", Some("PGCONNECT_TIMEOUT"), Honoured),
    key(
        "client_encoding",
        Some("PGCLIENTENCODING"),
        Only(&["auto", "utf8", "utf-8", "unicode"], "this program speaks UTF-8 alone; the server converts"),
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
    key("sslcertmode", Some("PGSSLCERTMODE"), Only(&["disable", "allow"], "TLS does not tell whether it was asked")),
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

/// The key of that name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

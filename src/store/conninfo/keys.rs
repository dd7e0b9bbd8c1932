//! The connection keys of libpq 15 to 17, and how jobdoctor treats each.

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

pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

//! What a TLS failure means for the operator.

use crate::store::{StoreError, StoreErrorKind};
use ::postgres::Error;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, PeerIncompatible};
use std::error::Error as _;
use std::io;

/// Why there is no TLS connection to this host; `None` if the failure has nothing to do with TLS.
pub fn failure(error: &Error, host: &str) -> Option<StoreError> {
    let (message, hint) = match (cause(error), is_of_the_handshake(error)) {
        (Cause::Tls(cause), _) => of_tls(cause, host),
        (Cause::Refused, _) => says(
            "the server does not speak TLS",
            "its `ssl` setting turns TLS on; sslmode=disable or prefer connects without it, and then everything can be \
             read and changed on the way",
        ),
        (Cause::Io(cause), true) => of_the_handshake(cause, host),
        (Cause::Io(_) | Cause::Other, _) => return None,
    };
    Some(StoreError::new(StoreErrorKind::Unreachable, message).hint(hint))
}

enum Cause<'e> {
    Tls(&'e rustls::Error),
    Io(&'e io::Error),
    /// The server has no TLS.
    Refused,
    Other,
}

fn cause(error: &Error) -> Cause<'_> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            // `source` skips the error inside an `io::Error`.
            let inner = io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            return inner.map_or(Cause::Io(io), Cause::Tls);
        }
        // The driver has no error kind for this.
        if cause.to_string() == "server does not support TLS" {
            return Cause::Refused;
        }
        source = cause.source();
    }
    Cause::Other
}

/// Whether an error came during the TLS handshake. The driver does not expose the kind of its errors.
pub(in super::super) fn is_of_the_handshake(error: &Error) -> bool {
    error.to_string().starts_with("error performing TLS handshake")
}

fn of_the_handshake(error: &io::Error, host: &str) -> (String, String) {
    if error.kind() == io::ErrorKind::InvalidInput {
        let message = format!("{host} is neither a host's name nor an address, as TLS knows them");
        return says(message, "host=NAME hostaddr=ADDRESS gives a name to an address");
    }
    let message = format!("the server hung up during the TLS handshake ({error})");
    says(
        message,
        "its log may say why: perhaps it refuses our client certificate (sslcertmode=disable sends none). \
         sslnegotiation=direct takes Postgres 17 or a proxy that ends TLS; sslsni=0 helps where a proxy has other names",
    )
}

fn of_tls(error: &rustls::Error, host: &str) -> (String, String) {
    match error {
        rustls::Error::InvalidCertificate(why) => of_the_certificate(why, host),
        rustls::Error::AlertReceived(alert) => of_an_alert(*alert, host),
        rustls::Error::InvalidCertRevocationList(why) => says(
            format!("a list of revoked certificates cannot be used: {why:?}"),
            "it must be signed by the authority that it speaks for; get a new one from there",
        ),
        rustls::Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13 | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => no_common_version(),
        rustls::Error::InvalidMessage(_) => says(
            "what the server says is not TLS",
            "is it a Postgres server? sslnegotiation=direct takes Postgres 17 or a proxy that ends TLS",
        ),
        other => says(
            format!("the TLS handshake failed: {other}"),
            "the server's log may say more; ssl_min_protocol_version, ssl_max_protocol_version and sslsni change what \
             is offered",
        ),
    }
}

fn no_common_version() -> (String, String) {
    says(
        "the server and jobdoctor have no version of TLS in common",
        "supported are TLSv1.2 and TLSv1.3, within ssl_min_protocol_version and ssl_max_protocol_version; the server's \
         settings have the same names",
    )
}

const ROOTS: &str = "sslrootcert=FILE names the authority to trust (else ~/.postgresql/root.crt does, if it is there)";

fn of_the_certificate(why: &CertificateError, host: &str) -> (String, String) {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => says(
            "no trusted authority has signed the server's certificate",
            format!(
                "{ROOTS}; or an attacker is in between: `openssl s_client -starttls postgres -connect HOST:PORT` shows \
                 the certificate"
            ),
        ),
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => says(
            format!("the server's certificate names no host, so it is not known to be {host}'s"),
            "only the subject's alternative names count, not its common name: make one with `subjectAltName=DNS:...`. \
             sslmode=verify-ca checks no name",
        ),
        CertificateError::NotValidForNameContext { presented, .. } => says(
            format!("the server's certificate is not for {host}: it names {}", names(presented)),
            "connect by a name that it has; host=NAME hostaddr=ADDRESS gives an address such a name. sslmode=verify-ca \
             checks no name",
        ),
        CertificateError::ExpiredContext { not_after, .. } => says(
            format!("the server's certificate, or one that signed it, expired on {}", day(*not_after)),
            "the server needs a new one; is the clock of this machine right?",
        ),
        CertificateError::NotValidYetContext { not_before, .. } => says(
            format!("the server's certificate, or one that signed it, is not valid before {}", day(*not_before)),
            "is the clock of this machine right?",
        ),
        CertificateError::Revoked => says(
            "the server's certificate, or one that signed it, has been revoked",
            "its authority no longer answers for it: the server needs a new one",
        ),
        CertificateError::UnknownRevocationStatus => says(
            "no list says whether the server's certificate has been revoked",
            "sslcrl and sslcrldir need a list of each authority in its chain, the root's included",
        ),
        CertificateError::ExpiredRevocationListContext { next_update, .. } => says(
            format!("the list of revoked certificates should have been renewed by {}", day(*next_update)),
            "get a new one from the authority, for sslcrl or sslcrldir",
        ),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => says(
            "the server's certificate is not made for a server",
            "its extended key usage must have `serverAuth`: the server needs another one",
        ),
        CertificateError::Other(why) if why.to_string() == "CaUsedAsEndEntity" => says(
            "the server's certificate is an authority's, and is not itself trusted",
            format!("{ROOTS}: a certificate that signed itself must be in there, and has no lists of revoked ones"),
        ),
        other => says(
            format!("the server's certificate cannot be used: {other}"),
            "`openssl s_client -starttls postgres -connect HOST:PORT` shows it",
        ),
    }
}

fn of_an_alert(alert: AlertDescription, host: &str) -> (String, String) {
    use AlertDescription as Alert;
    match alert {
        Alert::ProtocolVersion | Alert::InsufficientSecurity => no_common_version(),
        Alert::CertificateRequired | Alert::NoCertificate => says(
            "the server wants a client certificate, and none was sent",
            "sslcert=FILE sslkey=FILE name one, or ~/.postgresql/postgresql.crt and .key are it",
        ),
        Alert::UnknownCA
        | Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::AccessDenied
        | Alert::DecryptError => says(
            format!("the server refused our client certificate: it says {alert:?}"),
            "sslcert=FILE sslkey=FILE name another; sslcertmode=disable sends none. The server's ssl_ca_file says whom \
             it trusts",
        ),
        Alert::UnrecognisedName => says(
            format!("the server knows no host called {host}"),
            "a proxy goes by the name: host=NAME hostaddr=ADDRESS says another one, sslsni=0 says none",
        ),
        Alert::NoApplicationProtocol => {
            says("the server does not speak Postgres right after TLS", "leave out sslnegotiation=direct")
        }
        other => says(
            format!("the server broke off the TLS handshake: it says {other:?}"),
            "its log says why: no cipher in common, or it wants a client certificate (sslcert, sslkey)",
        ),
    }
}

fn says(message: impl Into<String>, hint: impl Into<String>) -> (String, String) {
    (message.into(), hint.into())
}

/// The names without rustls' wrapping: `DnsName("a.example")`, `IpAddress(192.0.2.1)`.
fn names(presented: &[String]) -> String {
    let inner = |name: &String| {
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
        inner.trim_matches('"').to_owned()
    };
    presented.iter().map(inner).collect::<Vec<_>>().join(", ")
}

fn day(time: UnixTime) -> String {
    let time = i64::try_from(time.as_secs()).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.map_or_else(|| "a day beyond all calendars".to_owned(), |time| time.to_string())
}

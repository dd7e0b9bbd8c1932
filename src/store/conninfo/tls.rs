//! What an address says about TLS, in libpq's words.

use super::server::Server;
use super::settings::Settings;
use super::{AddressError, Surroundings};
use std::path::PathBuf;

/// How a connection is secured: libpq's six `sslmode`s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SslMode {
    /// Never with TLS.
    Disable,
    /// Without TLS; with it where the server refuses that.
    Allow,
    /// With TLS where the server has it; without it where not, or where the handshake or the server's answer to it fails.
    Prefer,
    /// With TLS or not at all. The certificate is checked only where root certificates are at hand.
    Require,
    /// With TLS, from a server whose certificate a trusted authority has signed.
    VerifyCa,
    /// The same, and the certificate names the host.
    VerifyFull,
}

impl SslMode {
    /// All, weakest first.
    pub const ALL: [SslMode; 6] =
        [SslMode::Disable, SslMode::Allow, SslMode::Prefer, SslMode::Require, SslMode::VerifyCa, SslMode::VerifyFull];

    /// libpq's word.
    pub fn name(self) -> &'static str {
        match self {
            SslMode::Disable => "disable",
            SslMode::Allow => "allow",
            SslMode::Prefer => "prefer",
            SslMode::Require => "require",
            SslMode::VerifyCa => "verify-ca",
            SslMode::VerifyFull => "verify-full",
        }
    }
}

/// A file that the address names, or that libpq looks for in `~/.postgresql`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// True if somebody named it; one that is not named need not be there.
    pub named: bool,
}

/// Whom to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// `sslrootcert=system`: the operating system's authorities.
    System,
    /// The certificates in a file, if it is there.
    File(TlsFile),
}

/// A version of TLS. Older ones than 1.2 are not spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2.
    V12,
    /// TLS 1.3.
    V13,
}

/// What an address says about TLS. A file is `None` where nobody named one and there is no home directory to look in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// `sslmode`.
    pub mode: SslMode,
    /// `sslrootcert`, else `~/.postgresql/root.crt`.
    pub root: Option<Root>,
    /// `sslcert`, else `~/.postgresql/postgresql.crt`; `None` too where `sslcertmode=disable`.
    pub certificate: Option<TlsFile>,
    /// `sslkey`, else `~/.postgresql/postgresql.key`.
    pub key: Option<TlsFile>,
    /// `sslcrl`, else `~/.postgresql/root.crl`.
    pub revoked: Option<TlsFile>,
    /// `sslcrldir`.
    pub revoked_directory: Option<PathBuf>,
    /// `sslsni`: whether the server is told the host's name before the handshake.
    pub server_name_indication: bool,
    /// `ssl_min_protocol_version`.
    pub oldest: TlsVersion,
    /// `ssl_max_protocol_version`.
    pub newest: TlsVersion,
    /// `sslnegotiation=direct`: TLS from the first byte, as servers from Postgres 17 on understand it.
    pub direct: bool,
}

/// What the settings come to.
///
/// # Errors
/// When one of them is not one of libpq's words, or two contradict each other.
pub(super) fn tls(settings: &Settings, surroundings: &Surroundings) -> Result<TlsSettings, AddressError> {
    let file = |key: &str, usual: &str| match settings.text(key) {
        Some(path) => Some(TlsFile { path: PathBuf::from(path), named: true }),
        None => {
            let home = surroundings.home.as_ref();
            home.map(|home| TlsFile { path: home.join(".postgresql").join(usual), named: false })
        }
    };
    let system = settings.text("sslrootcert") == Some("system");
    let words = SslMode::ALL.map(|mode| (mode.name(), mode));
    let mode = settings.word("sslmode", &words, if system { SslMode::VerifyFull } else { SslMode::Prefer })?;
    if system && mode != SslMode::VerifyFull {
        return Err(
            settings.error("sslmode", "must be verify-full, or left out, where sslrootcert=system trusts so many")
        );
    }
    let direct = settings.word("sslnegotiation", &[("postgres", false), ("direct", true)], false)?;
    if direct && mode < SslMode::Require {
        return Err(settings.error("sslmode", "must be require or stronger for sslnegotiation=direct"));
    }
    let oldest = version(settings, "ssl_min_protocol_version", TlsVersion::V12)?;
    let newest = version(settings, "ssl_max_protocol_version", TlsVersion::V13)?;
    if oldest > newest {
        return Err(settings.error("ssl_min_protocol_version", "is newer than `ssl_max_protocol_version`"));
    }
    let root = file("sslrootcert", "root.crt");
    // A client's certificate can be left out, but not for want of an answer to whether it was asked for.
    let sends = settings.text("sslcertmode") != Some("disable");
    Ok(TlsSettings {
        mode,
        root: if system { Some(Root::System) } else { root.map(Root::File) },
        certificate: file("sslcert", "postgresql.crt").filter(|_| sends),
        key: file("sslkey", "postgresql.key").filter(|_| sends),
        // A directory that is named takes the place of the usual file.
        revoked: file("sslcrl", "root.crl").filter(|file| file.named || settings.text("sslcrldir").is_none()),
        revoked_directory: settings.text("sslcrldir").map(PathBuf::from),
        server_name_indication: settings.word("sslsni", &[("1", true), ("0", false)], true)?,
        oldest,
        newest,
        direct,
    })
}

/// A version of TLS. As the oldest one, those that are not spoken do no harm.
fn version(settings: &Settings, key: &str, default: TlsVersion) -> Result<TlsVersion, AddressError> {
    let is_oldest = default == TlsVersion::V12;
    match settings.text(key).map(str::to_ascii_lowercase).as_deref() {
        None => Ok(default),
        Some("tlsv1.2") => Ok(TlsVersion::V12),
        Some("tlsv1.3") => Ok(TlsVersion::V13),
        Some("tlsv1" | "tlsv1.1") if is_oldest => Ok(TlsVersion::V12),
        Some(_) => Err(settings.error(key, "is TLSv1.2 or TLSv1.3: older versions are not spoken")),
    }
}

/// A word about servers elsewhere whose certificate nobody checks, or not whole.
pub(super) fn unverified(tls: &TlsSettings, servers: &[Server]) -> Option<String> {
    let elsewhere: Vec<String> =
        servers.iter().filter(|server| !server.place.is_local()).map(|server| server.place.to_string()).collect();
    if elsewhere.is_empty() || tls.mode == SslMode::VerifyFull {
        return None;
    }
    let has_root = match &tls.root {
        Some(Root::System) => true,
        Some(Root::File(file)) => file.path.exists(),
        None => false,
    };
    let (mode, elsewhere) = (tls.mode.name(), elsewhere.join(", "));
    let what = match (tls.mode, has_root) {
        (SslMode::Disable, _) => "is not encrypted: who is on the way can read and change everything",
        (SslMode::Allow, _) => "is encrypted only if the server insists",
        (SslMode::Prefer, _) => "may not be encrypted, and nobody checks whose server it is",
        (SslMode::Require, false) => "is encrypted, and nobody checks whose server it is",
        (SslMode::Require | SslMode::VerifyCa, _) => "is with a server of a trusted authority, whichever one",
        (SslMode::VerifyFull, _) => return None,
    };
    Some(format!("the connection to {elsewhere} {what} (sslmode={mode}); sslmode=verify-full does check"))
}

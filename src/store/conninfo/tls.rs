//! The TLS settings of an address.

use super::postgres_address::Server;
use super::settings::Settings;
use super::{AddressError, Surroundings};
use std::path::PathBuf;
use strum::{IntoStaticStr, VariantArray};

/// How a connection is secured: libpq's six `sslmode`s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum SslMode {
    Disable,
    /// Without TLS; with it where the server refuses that.
    Allow,
    /// With TLS if the server has it; without if not, or if the handshake or authentication over TLS fails.
    Prefer,
    /// With TLS or not at all. The certificate is checked only if there are root certificates.
    Require,
    /// With TLS, and a trusted authority has signed the server's certificate.
    VerifyCa,
    /// As [`SslMode::VerifyCa`], and the certificate names the host.
    VerifyFull,
}

impl SslMode {
    /// libpq's word.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A file that the address names, or a default file in `~/.postgresql`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFile {
    pub path: PathBuf,
    /// True if a setting names it; a default file need not exist.
    pub named: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// `sslrootcert=system`: the operating system's authorities.
    System,
    /// The certificates in a file, if it exists.
    File(TlsFile),
}

/// A version of TLS. Versions older than 1.2 are not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    V12,
    V13,
}

/// The TLS settings of an address. A file is `None` if no setting names one and there is no home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    pub mode: SslMode,
    /// `sslrootcert`, else `~/.postgresql/root.crt`.
    pub root: Option<Root>,
    /// `sslcert`, else `~/.postgresql/postgresql.crt`; `None` with `sslcertmode=disable` too.
    pub certificate: Option<TlsFile>,
    /// `sslkey`, else `~/.postgresql/postgresql.key`.
    pub key: Option<TlsFile>,
    /// `sslcrl`, else `~/.postgresql/root.crl`.
    pub revoked: Option<TlsFile>,
    pub revoked_directory: Option<PathBuf>,
    /// `sslsni`: whether the client sends the host name (SNI).
    pub server_name_indication: bool,
    pub oldest: TlsVersion,
    pub newest: TlsVersion,
    /// `sslnegotiation=direct`: TLS from the first byte, which takes Postgres 17.
    pub direct: bool,
}

pub(super) fn tls(settings: &Settings, surroundings: &Surroundings) -> Result<TlsSettings, AddressError> {
    let file = |key: &str, usual: &str| match settings.text(key) {
        Some(path) => Some(TlsFile { path: PathBuf::from(path), named: true }),
        None => {
            let home = surroundings.home.as_ref();
            home.map(|home| TlsFile { path: home.join(".postgresql").join(usual), named: false })
        }
    };
    let system = settings.text("sslrootcert") == Some("system");
    let mode = settings.variant("sslmode", if system { SslMode::VerifyFull } else { SslMode::Prefer })?;
    if system && mode != SslMode::VerifyFull {
        return Err(
            settings.error("sslmode", "must be verify-full, or left out, because sslrootcert=system trusts so many")
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
    // `sslcertmode=require` is refused: the driver does not tell whether the server asked for the certificate.
    let sends = settings.text("sslcertmode") != Some("disable");
    Ok(TlsSettings {
        mode,
        root: if system { Some(Root::System) } else { root.map(Root::File) },
        certificate: file("sslcert", "postgresql.crt").filter(|_| sends),
        key: file("sslkey", "postgresql.key").filter(|_| sends),
        // A named directory replaces the default file.
        revoked: file("sslcrl", "root.crl").filter(|file| file.named || settings.text("sslcrldir").is_none()),
        revoked_directory: settings.text("sslcrldir").map(PathBuf::from),
        server_name_indication: settings.word("sslsni", &[("1", true), ("0", false)], true)?,
        oldest,
        newest,
        direct,
    })
}

/// A version of TLS. An unsupported version is harmless as the oldest allowed one.
fn version(settings: &Settings, key: &str, default: TlsVersion) -> Result<TlsVersion, AddressError> {
    let is_oldest = default == TlsVersion::V12;
    match settings.text(key).map(str::to_ascii_lowercase).as_deref() {
        None => Ok(default),
        Some("tlsv1.2") => Ok(TlsVersion::V12),
        Some("tlsv1.3") => Ok(TlsVersion::V13),
        Some("tlsv1" | "tlsv1.1") if is_oldest => Ok(TlsVersion::V12),
        Some(_) => Err(settings.error(key, "is TLSv1.2 or TLSv1.3: older versions are not supported")),
    }
}

/// A warning about remote servers whose certificate is not fully checked.
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
        (SslMode::Disable, _) => "is not encrypted: an attacker in between can read and change everything",
        (SslMode::Allow, _) => "is encrypted only if the server insists",
        (SslMode::Prefer, _) => "may not be encrypted, and the server's certificate is not checked",
        (SslMode::Require, false) => "is encrypted, and the server's certificate is not checked",
        (SslMode::Require | SslMode::VerifyCa, _) => "is with any server that has a certificate of a trusted authority",
        (SslMode::VerifyFull, _) => return None,
    };
    Some(format!("the connection to {elsewhere} {what} (sslmode={mode}); sslmode=verify-full does check"))
}

//! What an address says about TLS, in libpq's words.

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
    pub const ALL: [SslMode; 6] = [
        SslMode::Disable,
        SslMode::Allow,
        SslMode::Prefer,
        SslMode::Require,
        SslMode::VerifyCa,
        SslMode::VerifyFull,
    ];

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

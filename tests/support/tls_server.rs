//! Postgres servers that listen on TCP too, with TLS and without, for the whole test process. How somebody may come in
//! goes by the user's name: see `HBA`.

use super::authority::{Authority, Issued, Wanted, self_signed, write};
use super::cli::Doctor;
use super::postgres::{Cluster, USER};
use std::net::TcpListener;
use std::sync::OnceLock;

const HBA: &str = "
local     all  all    trust
hostssl   all  tls    all  trust
hostnossl all  plain  all  trust
host      all  scram  all  scram-sha-256
hostssl   all  cert   all  cert
host      all  both   all  trust
";

/// Those users; all may read the queue.
const USERS: &str = r#"
CREATE ROLE tls LOGIN; CREATE ROLE plain LOGIN; CREATE ROLE cert LOGIN; CREATE ROLE "both" LOGIN;
SET password_encryption = 'scram-sha-256'; CREATE ROLE scram LOGIN PASSWORD 'c4n4ry';
GRANT SELECT ON jobs TO PUBLIC"#;

pub const PASSWORD: &str = "c4n4ry";

pub struct TlsServer {
    pub port: u16,
    cluster: Cluster,
}

/// The authority that everything here comes from, unless it is said otherwise.
pub fn authority() -> &'static Authority {
    static OURS: OnceLock<Authority> = OnceLock::new();
    OURS.get_or_init(|| Authority::new("ours"))
}

/// What the usual server shows: for `localhost` alone.
pub fn certificate() -> &'static Issued {
    static CERTIFICATE: OnceLock<Issued> = OnceLock::new();
    CERTIFICATE.get_or_init(|| authority().issue(&Wanted::server(&["localhost"])))
}

pub fn usual() -> &'static TlsServer {
    static SERVER: OnceLock<TlsServer> = OnceLock::new();
    SERVER.get_or_init(|| TlsServer::start(Some(certificate())))
}

pub fn plain() -> &'static TlsServer {
    static SERVER: OnceLock<TlsServer> = OnceLock::new();
    SERVER.get_or_init(|| TlsServer::start(None))
}

pub fn expired() -> &'static TlsServer {
    static SERVER: OnceLock<TlsServer> = OnceLock::new();
    SERVER.get_or_init(|| TlsServer::start(Some(&authority().issue(&Wanted::server(&["localhost"]).years(2020, 2021)))))
}

/// One whose certificate signed itself; and that certificate.
pub fn of_its_own() -> &'static (TlsServer, Issued) {
    static SERVER: OnceLock<(TlsServer, Issued)> = OnceLock::new();
    SERVER.get_or_init(|| {
        let issued = self_signed(&["localhost"]);
        (TlsServer::start(Some(&issued)), issued)
    })
}

impl TlsServer {
    fn start(shown: Option<&Issued>) -> TlsServer {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let ssl = if shown.is_some() { "ssl=on" } else { "ssl=off" };
        // The log is how a test knows who came in how.
        let settings = ["listen_addresses=localhost", "log_connections=on", "ssl_ca_file=root.crt", ssl];
        let cluster = Cluster::start(port, &settings, |data| {
            write(&data.join("pg_hba.conf"), HBA, 0o600);
            if let Some(shown) = shown {
                write(&data.join("server.crt"), &shown.chain, 0o600);
                write(&data.join("server.key"), &shown.key, 0o600);
                write(&data.join("root.crt"), &authority().root(), 0o600);
            }
        });
        let server = TlsServer { port, cluster };
        Doctor::new().run(&["init", "--db", &server.at_socket()]).exits(0);
        server.cluster.client().batch_execute(USERS).unwrap();
        server
    }

    pub fn at_socket(&self) -> String {
        format!("host={} port={} user={USER} dbname=postgres", self.cluster.socket.display(), self.port)
    }

    pub fn version(&self) -> i32 {
        let row = self.cluster.client().query_one("SELECT current_setting('server_version_num')::int / 10000", &[]);
        row.unwrap().get(0)
    }

    /// The last connection that called itself that: what the server's log says of it.
    pub fn last_connection(&self, application: &str) -> Option<String> {
        let log = self.cluster.log();
        let words = format!("application_name={application}");
        let of_it =
            |line: &&str| line.contains("connection authorized") && line.split_whitespace().any(|word| word == words);
        log.lines().rfind(of_it).map(str::to_owned)
    }
}

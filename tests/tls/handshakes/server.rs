//! Servers for one connection each.

use crate::support::authority::{Authority, Issued};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion, version};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What a server saw of a handshake that came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) name: Option<String>,
    pub(super) version: Option<rustls::ProtocolVersion>,
    pub(super) protocol: Option<Vec<u8>>,
    pub(super) client: bool,
}

pub(super) struct Server {
    pub(super) config: Arc<ServerConfig>,
}

impl Server {
    pub(super) fn showing(issued: &Issued) -> Server {
        Server::with(issued, &[&version::TLS12, &version::TLS13], None)
    }

    pub(super) fn with(
        issued: &Issued,
        versions: &[&'static SupportedProtocolVersion],
        clients: Option<&Authority>,
    ) -> Server {
        let provider = Arc::new(ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions).unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(CertificateDer::from_pem_slice(authority.root().as_bytes()).unwrap()).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
                builder.with_client_cert_verifier(verifier)
            }
        };
        let chain = CertificateDer::pem_slice_iter(issued.chain.as_bytes()).map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).unwrap();
        let mut config = builder.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Server { config: Arc::new(config) }
    }

    /// Takes one connection: the request for TLS unless TLS comes first, then the handshake.
    pub(super) fn serve(&self) -> (u16, JoinHandle<Option<Seen>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, config) = (listener.local_addr().unwrap().port(), Arc::clone(&self.config));
        let serving = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut first = [0];
            socket.peek(&mut first).unwrap();
            // A TLS record begins with 22, a request for TLS with its length.
            if first != [22] {
                let mut request = [0; 8];
                socket.read_exact(&mut request).unwrap();
                assert_eq!(request, [0, 0, 0, 8, 4, 210, 22, 47], "a request for TLS");
                socket.write_all(b"S").unwrap();
            }
            shake(&config, &mut socket)
        });
        (port, serving)
    }
}

/// None if it came to nothing. Waits for a word of the client, which says that its end of it is done.
fn shake(config: &Arc<ServerConfig>, socket: &mut TcpStream) -> Option<Seen> {
    let mut connection = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut stream = rustls::Stream::new(&mut connection, socket);
    let greeted = stream.read(&mut [0; 8]);
    // Sends the client an alert, if there is one. Unread bytes would reset the connection.
    let _ = stream.flush();
    if greeted.is_err() {
        let _ = socket.shutdown(Shutdown::Write);
        let _ = socket.read_to_end(&mut Vec::new());
    }
    greeted.ok().filter(|bytes| *bytes > 0)?;
    Some(Seen {
        name: connection.server_name().map(str::to_owned),
        version: connection.protocol_version(),
        protocol: connection.alpn_protocol().map(<[u8]>::to_vec),
        client: connection.peer_certificates().is_some(),
    })
}

/// Answers the first word with these bytes, and hangs up.
pub(super) fn answering(answer: &'static [u8]) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.read_exact(&mut [0; 8]).unwrap();
        socket.write_all(answer).unwrap();
        let _ = socket.shutdown(Shutdown::Write);
        // What is left unread would reset the connection, and swallow the answer.
        let _ = socket.read_to_end(&mut Vec::new());
    });
    (port, serving)
}

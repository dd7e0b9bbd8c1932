//! A connection that breaks at the worst moment: a proxy on a unix socket that cuts its clients off when a COMMIT passes.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The server never sees it.
    BeforeTheServer,
    /// The server does it; its answer is lost.
    AfterTheServer,
    /// The server does it; instead of its answer comes a pooler's complaint, and a moment later the end.
    WithLastWords,
}

/// What PgBouncer says when it has lost the server in the middle of a statement.
const LAST_WORDS: &[u8] = b"SFATAL\0C08P01\0Mserver conn crashed?\0\0";

pub struct Proxy {
    directory: TempDir,
    armed: Arc<AtomicBool>,
}

const SOCKET: &str = ".s.PGSQL.5432";

impl Proxy {
    /// Stands in front of the server in that directory. Cuts once; new connections afterwards pass only if `comes_back`.
    pub fn before(server: &Path, cut: Cut, comes_back: bool) -> Proxy {
        let directory = TempDir::new().unwrap();
        let listener = UnixListener::bind(directory.path().join(SOCKET)).unwrap();
        let armed = Arc::new(AtomicBool::new(true));
        let (server, live) = (server.join(SOCKET), armed.clone());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                if live.load(Ordering::SeqCst) || comes_back {
                    serve(client, &server, cut, live.clone());
                }
            }
        });
        Proxy { directory, armed }
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    pub fn has_cut(&self) -> bool {
        !self.armed.load(Ordering::SeqCst)
    }
}

fn serve(client: UnixStream, server: &Path, cut: Cut, armed: Arc<AtomicBool>) {
    let server = UnixStream::connect(server).unwrap();
    let mut complaints = client.try_clone().unwrap();
    let (mut from_client, mut to_client) = (client.try_clone().unwrap(), client);
    let (mut from_server, mut to_server) = (server.try_clone().unwrap(), server);
    let deaf = Arc::new(AtomicBool::new(false));
    let deaf_too = deaf.clone();
    std::thread::spawn(move || {
        let mut buffer = [0; 65536];
        while let Ok(read @ 1..) = from_server.read(&mut buffer) {
            if deaf_too.load(Ordering::SeqCst) && cut == Cut::WithLastWords {
                std::thread::sleep(std::time::Duration::from_millis(200));
                break;
            }
            if deaf_too.load(Ordering::SeqCst) || to_client.write_all(&buffer[..read]).is_err() {
                // The server has answered the COMMIT, so it is done.
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let mut buffer = [0; 65536];
        while let Ok(read @ 1..) = from_client.read(&mut buffer) {
            let sent = &buffer[..read];
            let commits = sent.windows(7).any(|bytes| bytes == b"COMMIT\0");
            if commits && armed.swap(false, Ordering::SeqCst) {
                match cut {
                    Cut::AfterTheServer => {
                        deaf.store(true, Ordering::SeqCst);
                        let _ = to_server.write_all(sent);
                        // The other thread hangs up when the answer comes.
                        return;
                    }
                    Cut::WithLastWords => {
                        deaf.store(true, Ordering::SeqCst);
                        let _ = to_server.write_all(sent);
                        let length = u32::try_from(LAST_WORDS.len() + 4).unwrap().to_be_bytes();
                        let _ = complaints.write_all(&[b"E", &length[..], LAST_WORDS].concat());
                        return;
                    }
                    Cut::BeforeTheServer => break,
                }
            }
            if to_server.write_all(sent).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(Shutdown::Both);
        let _ = from_client.shutdown(Shutdown::Both);
    });
}

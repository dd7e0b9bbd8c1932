//! A network that swallows everything: a proxy on a unix socket that passes on what comes until it is told otherwise, or until
//! so much has passed. From then on nothing arrives anywhere, and nobody is told.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub struct BlackHole {
    directory: TempDir,
    pieces: usize,
    state: Arc<State>,
}

struct State {
    swallows: AtomicBool,
    /// So many pieces of what clients send may still pass.
    pieces: AtomicUsize,
    servers: Mutex<Vec<UnixStream>>,
}

const SOCKET: &str = ".s.PGSQL.5432";

impl BlackHole {
    /// Stands in front of the server in that directory.
    pub fn before(server: &Path, pieces: usize) -> BlackHole {
        let directory = TempDir::new().expect("a temporary directory");
        let listener = UnixListener::bind(directory.path().join(SOCKET)).expect("a socket");
        // A server that follows another one is another user.
        for path in [directory.path().to_owned(), directory.path().join(SOCKET)] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("let others in");
        }
        let state = Arc::new(State {
            swallows: AtomicBool::new(false),
            pieces: AtomicUsize::new(pieces),
            servers: Mutex::default(),
        });
        let (server, shared) = (server.join(SOCKET), Arc::clone(&state));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&server)) else { continue };
                shared.servers.lock().expect("the connections").push(server.try_clone().expect("the socket again"));
                join(client, server, &shared);
            }
        });
        BlackHole { directory, pieces, state }
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    pub fn swallow(&self) {
        self.state.swallows.store(true, Ordering::SeqCst);
    }

    /// The server finds out that nobody is there, as TCP's keep-alive tells it.
    pub fn gives_up(&self) {
        for server in &*self.state.servers.lock().expect("the connections") {
            let _ = server.shutdown(Shutdown::Both);
        }
    }

    pub fn passed(&self) -> usize {
        self.pieces - self.state.pieces.load(Ordering::SeqCst)
    }

    /// Whether something was swallowed, or would be.
    pub fn swallows(&self) -> bool {
        self.state.swallows.load(Ordering::SeqCst)
    }
}

fn join(client: UnixStream, server: UnixStream, state: &Arc<State>) {
    let ends = |stream: &UnixStream| stream.try_clone().expect("the socket again");
    let (from_client, to_client, from_server, to_server) = (ends(&client), client, ends(&server), server);
    let (there, back) = (Arc::clone(state), Arc::clone(state));
    std::thread::spawn(move || pass(from_client, to_server, &there, true));
    std::thread::spawn(move || pass(from_server, to_client, &back, false));
}

fn pass(mut from: UnixStream, mut to: UnixStream, state: &State, counts: bool) {
    let mut buffer = [0; 65536];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let one_less = |left: usize| left.checked_sub(1);
        if counts && state.pieces.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
            state.swallows.store(true, Ordering::SeqCst);
        }
        if !state.swallows.load(Ordering::SeqCst) && to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    // That somebody hung up is swallowed too.
    if !state.swallows.load(Ordering::SeqCst) {
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }
}

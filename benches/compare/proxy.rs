//! Stands between a client and Postgres, counts statements and round trips, and makes each round trip longer if asked to.

use crate::place::socket_in;
use anyhow::Result;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// What passed through.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Connections.
    pub connections: u64,
    /// Round trips until the server first said that it is ready.
    pub connecting: u64,
    /// Round trips after that: messages of the client, one or many, followed by some of the server.
    pub round_trips: u64,
    /// Statements that were executed, `BEGIN` and `COMMIT` included.
    pub statements: u64,
}

/// A proxy on a Unix socket. Its threads end with the process.
pub struct Proxy {
    directory: TempDir,
    counts: Arc<Mutex<Counts>>,
}

impl Proxy {
    /// Stands in front of the server in that directory, `delay` away from it.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn before(server: &Path, delay: Duration) -> Result<Proxy> {
        let proxy = Proxy { directory: TempDir::new()?, counts: Arc::default() };
        let listener = UnixListener::bind(socket_in(proxy.directory.path()))?;
        let (server, counts) = (socket_in(server), proxy.counts.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client whose connection fails ends with an error, and the harness with it.
                let _ = serve(client, &server, delay, &counts);
            }
        });
        Ok(proxy)
    }

    /// The directory to connect to.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// What has passed since the last call.
    pub fn take(&self) -> Counts {
        std::mem::take(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One connection.
#[derive(Default)]
struct Connection {
    /// True once the server has said that it is ready.
    is_ready: bool,
    /// True if the client spoke last.
    client_spoke: bool,
}

fn serve(client: UnixStream, server: &Path, delay: Duration, counts: &Arc<Mutex<Counts>>) -> io::Result<()> {
    let server = UnixStream::connect(server)?;
    let connection = Arc::new(Mutex::new(Connection::default()));
    lock(counts).connections += 1;
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    let (shared, counted) = (connection.clone(), counts.clone());
    std::thread::spawn(move || {
        let mut messages = Messages::of_client();
        let _ = pass(from, to, |bytes| {
            let is_new = !std::mem::replace(&mut lock(&shared).client_spoke, true);
            messages.read(bytes, |kind| {
                if matches!(kind, b'Q' | b'E') {
                    lock(&counted).statements += 1;
                }
            });
            if is_new {
                sleep(delay);
            }
        });
    });
    let counts = counts.clone();
    std::thread::spawn(move || {
        let mut messages = Messages::of_server();
        let _ = pass(server, client, |bytes| {
            let mut connection = lock(&connection);
            if std::mem::replace(&mut connection.client_spoke, false) {
                let mut counts = lock(&counts);
                if connection.is_ready { counts.round_trips += 1 } else { counts.connecting += 1 }
            }
            messages.read(bytes, |kind| connection.is_ready |= kind == b'Z');
        });
    });
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pass(mut from: UnixStream, mut to: UnixStream, mut seen: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = from.read(&mut buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return to.shutdown(Shutdown::Write);
        }
        seen(bytes);
        to.write_all(bytes)?;
    }
}

/// Finds the messages in a stream of bytes: a letter, and a length that counts itself.
struct Messages {
    head: Vec<u8>,
    /// Bytes of the current message still to come.
    rest: usize,
    /// The client's first message has no letter.
    is_first: bool,
}

impl Messages {
    fn of_client() -> Messages {
        Messages { head: Vec::new(), rest: 0, is_first: true }
    }

    fn of_server() -> Messages {
        Messages { is_first: false, ..Messages::of_client() }
    }

    fn read(&mut self, mut bytes: &[u8], mut message: impl FnMut(u8)) {
        while let Some((first, others)) = bytes.split_first() {
            if self.rest > 0 {
                let skip = self.rest.min(bytes.len());
                self.rest -= skip;
                bytes = bytes.get(skip..).unwrap_or_default();
                continue;
            }
            self.head.push(*first);
            bytes = others;
            let (kind, length) = match *self.head.as_slice() {
                [a, b, c, d] if self.is_first => (0, [a, b, c, d]),
                [kind, a, b, c, d] => (kind, [a, b, c, d]),
                _ => continue,
            };
            self.rest = (u32::from_be_bytes(length) as usize).saturating_sub(4);
            self.is_first = false;
            self.head.clear();
            message(kind);
        }
    }
}

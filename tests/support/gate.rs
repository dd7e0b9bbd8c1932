//! A gate between the program and its server, on a unix socket: it lets one flight pass at a time, and asks at each what to do.
//! A flight is what a client sends before it waits for an answer: a query, or an extended query with its Sync.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

#[derive(Debug)]
pub struct Flight<'f> {
    /// Which it is, counted from 1 over all connections.
    pub number: usize,
    /// False ahead of the server; true once the server has answered, and nobody knows yet.
    pub is_answered: bool,
    bytes: &'f [u8],
}

impl Flight<'_> {
    pub fn commits(&self) -> bool {
        self.bytes.windows(7).any(|bytes| bytes == b"COMMIT\0")
    }

    /// The statement it brings, as far as it is text.
    pub fn statement(&self) -> String {
        let text = String::from_utf8_lossy(self.bytes.get(5..).unwrap_or_default());
        text.trim_start_matches('\0').split('\0').next().unwrap_or_default().to_owned()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    Pass,
    /// Both ends hear no more of each other.
    Cut,
    /// The server gets the first half of its bytes, and then both ends hear no more.
    CutInHalf,
    /// It is kept until the server has hung up by itself, whose last words come through.
    Keep,
    /// The server gets it; instead of its answer the client hears these last words, and a moment later the end.
    LastWords(&'static [u8]),
    /// The server gets this query instead.
    Instead(String),
    /// The server gets this query first, whose answer nobody hears.
    Behind(&'static str),
}

pub struct Gate(TempDir);

type Ask = dyn Fn(&Flight<'_>) -> Order + Send + Sync;

const SOCKET: &str = ".s.PGSQL.5432";

impl Gate {
    /// Stands in front of the server in that directory.
    pub fn before(server: &Path, ask: impl Fn(&Flight<'_>) -> Order + Send + Sync + 'static) -> Gate {
        Gate::guarded(server, || true, ask)
    }

    /// The same, where clients are let in for as long as `admits` says so.
    pub fn guarded(
        server: &Path,
        admits: impl Fn() -> bool + Send + 'static,
        ask: impl Fn(&Flight<'_>) -> Order + Send + Sync + 'static,
    ) -> Gate {
        let directory = TempDir::new().unwrap();
        let listener = UnixListener::bind(directory.path().join(SOCKET)).unwrap();
        let (server, flights, ask) = (server.join(SOCKET), Arc::new(AtomicUsize::new(0)), Arc::new(ask));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                if !admits() {
                    continue;
                }
                let (server, flights, ask) = (server.clone(), flights.clone(), ask.clone());
                std::thread::spawn(move || {
                    let mut guarded = Guarded { client, server: UnixStream::connect(&server).unwrap() };
                    // However it ends: nobody waits any more.
                    let _ = guarded.serve(&flights, &*ask);
                    let _ = guarded.client.shutdown(Shutdown::Both);
                    let _ = guarded.server.shutdown(Shutdown::Both);
                });
            }
        });
        Gate(directory)
    }

    pub fn socket(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

struct Guarded {
    client: UnixStream,
    server: UnixStream,
}

impl Guarded {
    /// Until one of them hangs up, or an order says so.
    fn serve(&mut self, flights: &AtomicUsize, ask: &Ask) -> std::io::Result<()> {
        let startup = message(&mut self.client, false)?;
        self.server.write_all(&startup)?;
        let welcome = self.answer()?;
        self.client.write_all(&welcome)?;
        loop {
            let bytes = flight(&mut self.client)?;
            let number = flights.fetch_add(1, Ordering::SeqCst) + 1;
            let order = ask(&Flight { number, is_answered: false, bytes: &bytes });
            match &order {
                Order::Cut => return Ok(()),
                Order::CutInHalf => return self.server.write_all(&bytes[..bytes.len() / 2]),
                Order::Keep => {
                    let mut last_words = Vec::new();
                    self.server.read_to_end(&mut last_words)?;
                    return self.client.write_all(&last_words);
                }
                Order::LastWords(words) => {
                    self.server.write_all(&bytes)?;
                    self.client.write_all(words)?;
                    self.answer()?;
                    std::thread::sleep(Duration::from_millis(200));
                    return Ok(());
                }
                Order::Instead(sql) => self.server.write_all(&query(sql))?,
                Order::Behind(sql) => {
                    self.server.write_all(&query(sql))?;
                    self.answer()?;
                    self.server.write_all(&bytes)?;
                }
                Order::Pass => self.server.write_all(&bytes)?,
            }
            let answer = self.answer()?;
            match ask(&Flight { number, is_answered: true, bytes: &bytes }) {
                Order::Cut => return Ok(()),
                _ => self.client.write_all(&answer)?,
            }
        }
    }

    /// What the server says until it waits again, or hangs up.
    fn answer(&mut self) -> std::io::Result<Vec<u8>> {
        let mut answer = Vec::new();
        loop {
            match message(&mut self.server, true) {
                Ok(message) => {
                    answer.extend_from_slice(&message);
                    if message[0] == b'Z' {
                        return Ok(answer);
                    }
                }
                Err(error) if answer.is_empty() => return Err(error),
                Err(_) => return Ok(answer),
            }
        }
    }
}

/// What a client sends until it waits for an answer, or says farewell.
fn flight(client: &mut UnixStream) -> std::io::Result<Vec<u8>> {
    let mut flight = Vec::new();
    loop {
        let message = message(client, true)?;
        flight.extend_from_slice(&message);
        match message[0] {
            b'Q' | b'S' => return Ok(flight),
            b'X' => return Err(std::io::ErrorKind::ConnectionAborted.into()),
            _ => {}
        }
    }
}

/// One message; the first of a connection has no type.
fn message(stream: &mut UnixStream, has_type: bool) -> std::io::Result<Vec<u8>> {
    let mut message = vec![0; if has_type { 5 } else { 4 }];
    stream.read_exact(&mut message)?;
    let length = u32::from_be_bytes(message[message.len() - 4..].try_into().expect("four bytes"));
    let begin = message.len();
    message.resize(begin + length as usize - 4, 0);
    stream.read_exact(&mut message[begin..])?;
    Ok(message)
}

fn query(sql: &str) -> Vec<u8> {
    let length = u32::try_from(sql.len() + 5).expect("a short query").to_be_bytes();
    [b"Q", &length[..], sql.as_bytes(), b"\0"].concat()
}

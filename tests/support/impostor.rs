//! A server that only pretends: it notes how its visitors introduce themselves, asks for their password and sends them
//! away.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visit {
    /// Which listener it came to: `tcp 1`, `starting`, `socket 1 2` for the first directory and the second port.
    pub listener: String,
    /// Whether it asked for TLS first, which it is told there is none of.
    pub asked_for_tls: bool,
    /// Whether it asked for GSSAPI encryption first, which there is none of either.
    pub asked_for_gss: bool,
    /// The parameters of its startup packet; `None` if it sent none.
    pub parameters: Option<BTreeMap<String, String>>,
    /// The password that it gave when it was asked; `None` if it left instead.
    pub password: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Asked for their password and sent away, whatever it is.
    Suspicious,
    /// Sent away at once: the server is starting up.
    Starting,
    /// Never answered, and never sent away.
    Silent,
}

pub struct Impostor {
    root: TempDir,
    ports: [u16; 2],
    starting: u16,
    guests: Arc<Guests>,
}

#[derive(Default)]
struct Guests {
    visits: Mutex<Vec<Visit>>,
    here: AtomicUsize,
}

impl Impostor {
    /// One that asks for passwords: on two ports of 127.0.0.1 (and of ::1, where there is one), and on sockets named
    /// for both ports in each of two directories. A third port says that its server is starting up.
    pub fn new() -> Impostor {
        Impostor::of(Manner::Suspicious)
    }

    pub fn silent() -> Impostor {
        Impostor::of(Manner::Silent)
    }

    fn of(manner: Manner) -> Impostor {
        let guests = Arc::new(Guests::default());
        let root = TempDir::new().unwrap();
        let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let (listeners, starting) = ([bind(), bind()], bind());
        let (ports, starting_port) = ([port(&listeners[0]), port(&listeners[1])], port(&starting));
        for (n, listener) in listeners.into_iter().enumerate() {
            let name = format!("tcp {}", n + 1);
            if let Ok(other) = TcpListener::bind(("::1", ports[n])) {
                serve(move || other.accept().map(|(stream, _)| stream), name.clone(), manner, &guests);
            }
            serve(move || listener.accept().map(|(stream, _)| stream), name, manner, &guests);
        }
        let beginning = if manner == Manner::Silent { manner } else { Manner::Starting };
        serve(move || starting.accept().map(|(stream, _)| stream), "starting".to_owned(), beginning, &guests);
        for directory in ["1", "2"] {
            std::fs::create_dir(root.path().join(directory)).unwrap();
            for (n, port) in ports.iter().enumerate() {
                let path = root.path().join(directory).join(format!(".s.PGSQL.{port}"));
                let listener = UnixListener::bind(path).unwrap();
                let name = format!("socket {directory} {}", n + 1);
                serve(move || listener.accept().map(|(stream, _)| stream), name, manner, &guests);
            }
        }
        Impostor { root, ports, starting: starting_port, guests }
    }

    pub fn ports(&self) -> [u16; 2] {
        self.ports
    }

    pub fn starting(&self) -> u16 {
        self.starting
    }

    pub fn directories(&self) -> [PathBuf; 2] {
        let path = |name: &str| Path::join(self.root.path(), name);
        [path("1"), path("2")]
    }

    /// Waits until everybody has left, and gives back who was there since it was last asked, in the order of their
    /// coming. Who came and said nothing is left out.
    pub fn visits(&self) -> Vec<Visit> {
        let patience = Instant::now() + Duration::from_secs(300);
        while self.guests.here.load(Ordering::SeqCst) > 0 {
            assert!(Instant::now() < patience, "a visitor will not leave");
            std::thread::sleep(Duration::from_micros(200));
        }
        let mut visits = std::mem::take(&mut *self.guests.visits.lock().unwrap());
        visits.retain(|visit| visit.asked_for_tls || visit.asked_for_gss || visit.parameters.is_some());
        visits
    }

    /// Whether somebody has come who is still there.
    pub fn has_guests(&self) -> bool {
        self.guests.here.load(Ordering::SeqCst) > 0
    }
}

fn serve<S: Read + Write + Send + 'static>(
    accept: impl Fn() -> std::io::Result<S> + Send + 'static,
    listener: String,
    manner: Manner,
    guests: &Arc<Guests>,
) {
    let guests = guests.clone();
    std::thread::spawn(move || {
        while let Ok(stream) = accept() {
            guests.here.fetch_add(1, Ordering::SeqCst);
            let number = {
                let mut visits = guests.visits.lock().unwrap();
                visits.push(Visit { listener: listener.clone(), ..Visit::default() });
                visits.len() - 1
            };
            let guests = guests.clone();
            std::thread::spawn(move || {
                let note = |change: &dyn Fn(&mut Visit)| change(&mut guests.visits.lock().unwrap()[number]);
                // Who hangs up in the middle has said what there was to say.
                let _ = receive(stream, manner, &note);
                guests.here.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
}

const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;

type Note<'n> = dyn Fn(&dyn Fn(&mut Visit)) + 'n;

fn receive<S: Read + Write>(mut stream: S, manner: Manner, note: &Note<'_>) -> std::io::Result<()> {
    if manner == Manner::Silent {
        std::io::copy(&mut stream, &mut std::io::sink())?;
        return Ok(());
    }
    loop {
        let packet = packet(&mut stream)?;
        let (code, rest) = packet.split_at(4);
        match u32::from_be_bytes([code[0], code[1], code[2], code[3]]) {
            TLS => note(&|visit| visit.asked_for_tls = true),
            GSS => note(&|visit| visit.asked_for_gss = true),
            version if version >> 16 == 3 => {
                let words: Vec<String> = rest.split(|byte| *byte == 0).map(lossy).collect();
                let pairs = words.chunks(2).filter(|pair| pair.len() == 2 && !pair[0].is_empty());
                let parameters: BTreeMap<String, String> =
                    pairs.map(|pair| (pair[0].clone(), pair[1].clone())).collect();
                note(&|visit| visit.parameters = Some(parameters.clone()));
                break;
            }
            _ => return Ok(()),
        }
        stream.write_all(b"N")?;
    }
    if manner == Manner::Starting {
        return stream.write_all(&refusal("57P03", "the database system is starting up"));
    }
    stream.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3])?;
    let mut kind = [0];
    stream.read_exact(&mut kind)?;
    let answer = packet(&mut stream)?;
    let password = lossy(answer.strip_suffix(b"\0").unwrap_or(&answer));
    note(&|visit| visit.password = Some(password.clone()));
    stream.write_all(&refusal("28P01", "I do not know you"))
}

/// A packet without its length.
fn packet(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap().clamp(4, 1 << 20);
    let mut packet = vec![0; length - 4];
    stream.read_exact(&mut packet)?;
    Ok(packet)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refusal(code: &str, message: &str) -> Vec<u8> {
    let fields = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap();
    [&b"E"[..], &length.to_be_bytes(), fields.as_bytes()].concat()
}

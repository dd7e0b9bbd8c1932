//! TLS, through the program itself, against real servers; and where libpq knows the same words, `psql` beside it with
//! the very same address: both get in in the same way, or neither does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

mod certificates;
mod client;
mod handshakes;
mod modes;
mod revoked;
mod settings;

use crate::support::cli::{Doctor, Ran, fails};
use crate::support::postgres::binaries;
use crate::support::tls_server::{TlsServer, authority};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

const FULL: &str = "user=tls sslmode=verify-full sslrootcert=root.pem";

#[derive(Debug, Clone, PartialEq, Eq)]
enum How {
    Plain,
    Tls(String),
}

impl How {
    fn is_tls(&self) -> bool {
        matches!(self, How::Tls(_))
    }
}

/// Somebody in an empty home who knows the root of our authority, at a server.
struct Visitor {
    doctor: Doctor,
    server: &'static TlsServer,
}

impl Visitor {
    fn to(server: &'static TlsServer) -> Visitor {
        let doctor = Doctor::new();
        std::fs::write(doctor.path("root.pem"), authority().root()).unwrap();
        Visitor { doctor, server }
    }

    /// A file in the working directory, which the address may name as it is.
    fn file(&self, name: &str, text: &str, mode: u32) {
        crate::support::authority::write(&self.doctor.path(name), text, mode);
    }

    /// A file of those that libpq looks for in the home directory.
    fn usual_file(&self, name: &str, text: &str, mode: u32) {
        crate::support::authority::write(&self.doctor.home(".postgresql").join(name), text, mode);
    }

    fn address(&self, words: &str) -> String {
        format!("host=localhost port={} dbname=postgres {words}", self.server.port)
    }

    /// Gets in, and so does psql, in the same way.
    #[track_caller]
    fn gets_in(&self, words: &str) -> How {
        let how = self.alone_gets_in(words);
        let (psql, said) = self.psql(words);
        assert_eq!(psql.as_ref(), Some(&how), "{words}: psql says {said}");
        how
    }

    /// Gets in; for words that not every psql knows.
    #[track_caller]
    fn alone_gets_in(&self, words: &str) -> How {
        let name = name("doctor");
        let address = format!("{} application_name={name}", self.address(words));
        self.doctor.run(&["stale", "--db", &address]).exits(0);
        self.how(&name).unwrap_or_else(|| panic!("{words}: nobody called {name} came in"))
    }

    /// Does not get in, and neither does psql.
    #[track_caller]
    fn is_refused(&self, words: &str, code: i32) -> Ran {
        let ran = self.alone_is_refused(words, code);
        let (psql, said) = self.psql(words);
        assert_eq!(psql, None, "{words}: psql got in and says {said}");
        ran
    }

    /// Does not get in; for words that not every psql knows, and where we are stricter.
    #[track_caller]
    fn alone_is_refused(&self, words: &str, code: i32) -> Ran {
        fails(&self.doctor, &["stale", "--db", &self.address(words)], code)
    }

    /// How psql gets in, if it does, and what it says.
    fn psql(&self, words: &str) -> (Option<How>, String) {
        let name = name("psql");
        let places = format!("{}:/usr/local/bin:/usr/bin:/bin", binaries().display());
        let output = Command::new("psql")
            .args(["-XAtqw", "-c", "SELECT count(*) FROM jobs"])
            .arg(format!("{} application_name={name}", self.address(words)))
            .env_clear()
            .env("PATH", places)
            .env("HOME", self.doctor.home(""))
            .current_dir(self.doctor.path(""))
            .output()
            .expect("run psql, which comes with the server or with the package `postgresql-client`");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success().then(|| self.how(&name).expect("psql in the server's log")), said)
    }

    fn how(&self, name: &str) -> Option<How> {
        let line = self.server.last_connection(name)?;
        let Some((_, tls)) = line.split_once("SSL enabled (protocol=") else { return Some(How::Plain) };
        Some(How::Tls(tls.split(',').next().unwrap().to_owned()))
    }
}

fn name(prefix: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("{prefix}{}", COUNT.fetch_add(1, Ordering::SeqCst))
}

#[track_caller]
fn says(ran: &Ran, words: &str) {
    assert!(ran.stderr.contains(words), "{ran:#?} lacks {words:?}");
}

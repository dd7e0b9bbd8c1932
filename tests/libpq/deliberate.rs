//! What is done otherwise than libpq does it, on purpose, each with its reason.

use super::case::Case;
use super::runs::{End, Run};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Reached,
    /// At the impostor, with this password.
    Gave(&'static str),
    /// Refused, by the program with this code.
    Refused(i32),
    Unreachable,
}

impl Expected {
    pub fn fits(self, run: &Run) -> bool {
        match (self, &run.end) {
            (Expected::Reached, End::Reached(_)) | (Expected::Unreachable, End::Unreachable) => true,
            (Expected::Gave(password), End::Reached(visits)) => {
                visits.iter().all(|visit| visit.password.as_deref() == Some(password))
            }
            (Expected::Refused(expected), End::Refused(code)) => expected == *code,
            _ => false,
        }
    }
}

/// What is refused before it is tried: a name with a password in it, or that no host can have, a time that is none, a name or
/// password that is not UTF-8. libpq finds out when it gets there, or goes on to the next host.
pub fn is_refused_early(message: &str) -> bool {
    [
        "has a character in it that no host name has",
        "is an IP address",
        "is a whole number",
        "not by UTF-8",
        "looks like",
    ]
    .iter()
    .any(|words| message.contains(words))
}

use Expected::{Gave, Reached, Refused, Unreachable};

/// All of them: the environment, what psql does, what this program does, and why.
pub fn cases() -> Vec<(Case, Expected, Expected, &'static str)> {
    let pairs = |more: &str| Case::named(more).db(format!("host={{d1}} port={{p1}} {more}"));
    let variable = |name: &str, value: &str| {
        Case::named(format!("{name}={value}")).db("host={d1} port={p1} user=ops dbname=app").var(name, value)
    };
    let url = |rest: &str| Case::named(rest).db(format!("postgres://{rest}"));
    const EMPTY: &str = "an empty variable counts as unset, as most programs have it";
    const GSS: &str = "GSSAPI is not spoken, and what is asked for is never left out silently";
    const SLASH: &str =
        "with an unescaped slash the rest of a password would become the name of a database, and be shown";
    vec![
        (variable("PGSSLMODE", ""), Refused(2), Reached, EMPTY),
        (variable("PGCONNECT_TIMEOUT", ""), Refused(2), Reached, EMPTY),
        (variable("PGSERVICE", ""), Refused(2), Reached, EMPTY),
        (variable("PGTARGETSESSIONATTRS", ""), Refused(2), Reached, EMPTY),
        (pairs("requirepeer=root"), Reached, Refused(2), "the driver does not show who listens on a socket"),
        (variable("PGREQUIREPEER", "root"), Reached, Refused(2), "the same"),
        (pairs("sslpassword=x"), Reached, Refused(2), "keys are not decrypted, so a password for one is a mistake"),
        (pairs("krbsrvname=x"), Reached, Refused(2), GSS),
        (pairs("sslcompression=1"), Reached, Refused(2), "TLS is never compressed"),
        (pairs("replication=database"), Reached, Refused(2), "a replication connection answers other statements"),
        (pairs("client_encoding=LATIN1"), Reached, Refused(2), "only UTF-8 is read"),
        (
            pairs("ssl_min_protocol_version=TLSv1 ssl_max_protocol_version=TLSv1.1"),
            Reached,
            Refused(2),
            "TLS before 1.2 is not spoken",
        ),
        (url("{e1}:{p1}/a@b"), Reached, Refused(2), SLASH),
        (url("ops:pa/ss@{e1}:{p1}/app"), Refused(2), Refused(2), SLASH),
        (url("ops:p@ss@127.0.0.1:{p1}/app"), Unreachable, Refused(2), "no host is called ss@127.0.0.1"),
        (url("%ff@{e1}:{p1}/app"), Reached, Refused(2), "names are text, and text is UTF-8"),
        (
            Case::named("a second port that is none").db("host={d1},{d2} port={p1},x"),
            Reached,
            Refused(2),
            "libpq only looks at it when it gets there, and then it is too late to fix",
        ),
        (
            Case::named("a second address that is none").db("hostaddr=127.0.0.1,x port={p1}"),
            Reached,
            Refused(2),
            "the same",
        ),
        (
            Case::named("a port as it is written")
                .db("host={d1} port=0{p1}")
                .passes("*:{p1}:*:*:number\n*:0{p1}:*:*:written\n"),
            Gave("written"),
            Gave("number"),
            "a port is a number, which libpq compares by its letters",
        ),
        (
            Case::named("roots that are not there").db("host=127.0.0.1 port={p1} sslmode=verify-full"),
            Reached,
            Refused(78),
            "libpq finds out when the server is willing; that it can never work is known before",
        ),
    ]
}

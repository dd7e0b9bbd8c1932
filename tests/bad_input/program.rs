//! The program itself, given what makes no sense in every place that takes something: it ends in a code of its table, prints no
//! half of a document, makes and changes no file, and repeats no password.

use super::TRIED;
use super::inputs::CANARY;
use super::inputs::eyes::must_be_harmless;
use crate::cli::scene::incident;
use crate::support::cli::Ran;
use crate::support::figures;
use crate::support::files::Frozen;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

/// Where something can be given: `X` is what is given, `FILE` a file that holds it.
const PLACES: [&[&str]; 30] = [
    &["stale", "--db", "X"],
    &["stale", "--db", "queue.db", "--older", "X"],
    &["stale", "--db", "queue.db", "--preset", "X"],
    &["stale", "--db", "queue.db", "--table", "X"],
    &["stale", "--db", "queue.db", "--schema", "X"],
    &["stale", "--db", "queue.db", "--option", "X"],
    &["stale", "--db", "queue.db", "--queue", "X"],
    &["stale", "--db", "queue.db", "--host", "X"],
    &["stale", "--db", "queue.db", "--limit", "X"],
    &["stale", "--db", "queue.db", "--timeout", "X"],
    &["stale", "--db", "queue.db", "--output", "X"],
    &["stale", "--db", "queue.db", "--target", "X"],
    &["stale", "--config", "FILE"],
    &["env", "--config", "FILE", "-o", "json"],
    &["reclaim", "--apply", "--db", "queue.db", "--plan", "FILE"],
    &["reclaim", "--db", "queue.db", "--from-file", "FILE"],
    &["reclaim", "--db", "queue.db", "--id", "X"],
    &["reclaim", "--db", "queue.db", "--max-jobs", "X"],
    &["reclaim", "--apply", "--db", "queue.db", "--expect", "X"],
    &["reclaim", "--db", "queue.db", "--alive-from", "FILE"],
    &["reclaim", "--db", "queue.db", "--delay", "X"],
    &["reclaim", "--db", "queue.db", "--reason", "X"],
    &["sweep", "--restart", "--owner", "X", "--db", "queue.db"],
    &["sweep", "--db", "queue.db", "--min-interval", "X"],
    &["show", "X", "--db", "queue.db"],
    &["show", "X", "--db", "queue.db", "-o", "json"],
    &["undo", "X", "--apply", "--db", "queue.db"],
    &["history", "X"],
    &["presets", "show", "X"],
    &["health", "--db", "queue.db", "--warning", "X"],
];

const GIVEN: [&[u8]; 24] = [
    b"",
    b" ",
    b"-",
    b"--",
    b"-1",
    b"0",
    b"99999999999999999999",
    b"9223372036854775807y",
    b"1e999",
    b"5M",
    b"*",
    b"[",
    b"{a,{b,{c",
    b"\x1b[2J\r\x1b]0;owned\x07",
    "gpj.\u{202e}exe\u{9b}31m".as_bytes(),
    b"\xff\xfe",
    b"a\nFAKE",
    b"../../../../etc/passwd",
    b"'; DROP TABLE jobs; --",
    b"=",
    b"postgres://ops:c4n4ry@127.0.0.1:1/app",
    b"host=127.0.0.1 port=1 user=ops password=c4n4ry dbname=app",
    b"[target.x]\ndb = postgres://ops:c4n4ry@127.0.0.1:1/app\n",
    b"{\"schema\":\"jobdoctor.plan/v1\",\"steps\":[{\"precondition\":7}]}",
];

/// Every code of the table but 70, which is a defect; those behind a document first.
const WITH_A_DOCUMENT: [i32; 5] = [0, 1, 3, 4, 5];
const WITHOUT: [i32; 6] = [2, 66, 69, 75, 77, 78];

#[test]
fn ends_in_a_code_of_its_table() {
    let doctor = incident();
    let (file, work, home) = (doctor.path("given"), doctor.path(""), doctor.home(""));
    let mut tried = 0;
    for (n, place) in PLACES.iter().enumerate() {
        // A fifth of them for each place, so that each is tried in many.
        for given in GIVEN.iter().skip(n % 5).step_by(5) {
            fs::write(&file, given).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            let before = [Frozen::of(&work), Frozen::of(&home)];
            let mut command = doctor.command(&[]);
            for word in *place {
                match *word {
                    "X" => command.arg(OsStr::from_bytes(given)),
                    "FILE" => command.arg("given"),
                    word => command.arg(word),
                };
            }
            let output = command.output().unwrap();
            let what = format!("{place:?} given {:?}", given.escape_ascii().to_string());
            let ran = Ran::of(output);
            is_sound(&what, place, &ran);
            before.iter().for_each(Frozen::must_be_unchanged);
            tried += 1;
        }
    }
    assert!(tried >= 140, "{tried}");
    figures::add(tried, TRIED);
}

fn is_sound(what: &str, place: &[&str], ran: &Ran) {
    // A plugin has codes of its own, and says everything on its one line.
    let is_plugin = place[0] == "health";
    let with_a_document = WITH_A_DOCUMENT.contains(&ran.code) || is_plugin;
    assert!(ran.signal.is_none() && (with_a_document || WITHOUT.contains(&ran.code)), "{what}: {ran:#?}");
    assert!(!is_plugin || (0..=3).contains(&ran.code), "{what}: {ran:#?}");
    if !with_a_document {
        assert_eq!(ran.stdout, "", "{what}: {ran:#?}");
        assert!(!ran.stderr.is_empty(), "{what}: it ends in {} without a word", ran.code);
    }
    must_be_harmless(what, &ran.stderr);
    let is_json = place.contains(&"json");
    if is_json && with_a_document {
        ran.json();
    } else {
        must_be_harmless(what, &ran.stdout);
    }
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(CANARY), "{what}: {ran:#?}");
}

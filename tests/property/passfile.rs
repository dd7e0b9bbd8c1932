//! Password files: whatever is in one, nothing panics and nothing of it comes back; and what is written by the rules is
//! found.

use super::conninfo::{CANARY, said};
use jobdoctor::store::{Address, Surroundings, Variables};
use proptest::prelude::*;
use proptest::sample::select;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;

const PIECES: [&str; 18] = [
    ":",
    ":",
    ":",
    "*",
    "*:",
    "\\",
    "\\:",
    "#",
    "\n",
    "\r\n",
    "\r",
    "127.0.0.1",
    "5432",
    "app",
    "ops",
    "\u{0}",
    " ",
    "\u{fc}",
];

fn files() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just(format!("*:*:*:*:{CANARY}\n").into_bytes()),
        Just(CANARY.as_bytes().to_vec()),
        select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(line, 0..30).prop_map(|lines| lines.concat())
}

fn address(user: &str, database: &str, file: &Path) -> Address {
    let variables =
        [("PGHOST", "127.0.0.1"), ("PGUSER", user), ("PGDATABASE", database), ("PGPASSFILE", file.to_str().unwrap())];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Address::of_environment(&Surroundings { variables: Variables(variables.into()), ..Surroundings::default() })
        .unwrap()
}

/// One directory for all.
fn written(text: &[u8]) -> std::path::PathBuf {
    static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());
    let thread = format!("{:?}", std::thread::current().id());
    let path = DIRECTORY.path().join(thread);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn password(address: &Address) -> Option<Vec<u8>> {
    match address {
        Address::Postgres(address) => address.servers[0].password.as_ref().map(|password| password.0.clone()),
        Address::Sqlite { .. } => None,
    }
}

/// A name or password of any letters but those that end a line or a value.
fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(any::<char>().prop_filter("ends it", |c| !['\0', '\n', '\r'].contains(c)), 1..8)
        .prop_map(|letters| letters.into_iter().collect())
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace(':', "\\:")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_file(file in files()) {
        let said = said(&address("ops", "app", &written(&file)));
        prop_assert!(!said.contains(CANARY), "{said}");
    }

    #[test]
    fn what_is_escaped_is_found(
        user in text(),
        database in text(),
        wanted in text(),
        end in select(&["", "\n", "\r\n"][..]),
    ) {
        // A file that ends in a carriage return alone ends in a letter of the password.
        let line = format!("127.0.0.1:*:{}:{}:{}{end}", escaped(&database), escaped(&user), escaped(&wanted));
        let others = format!("127.0.0.1:5432:{}x:*:no\n*:*:*:x{}:no\n", escaped(&database), escaped(&user));
        let file = written(format!("{others}{line}").as_bytes());
        prop_assert_eq!(password(&address(&user, &database, &file)), Some(wanted.into_bytes()));
    }
}

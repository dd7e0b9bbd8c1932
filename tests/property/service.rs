//! Service files: whatever is in one, nothing panics and no password in it comes back; and what is written by the rules
//! is found.

use super::conninfo::{CANARY, said};
use jobdoctor::store::{Address, Surroundings, Variables};
use proptest::prelude::*;
use proptest::sample::select;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// Lines, whole and broken.
const LINES: [&str; 22] = [
    "[app]",
    "[app",
    "[]",
    "app]",
    "[other]",
    "[app] # x",
    "# x",
    "",
    "host=127.0.0.1",
    "host=a,b",
    "port=5432",
    "port=x",
    "user=ops",
    "password=c4n4ry",
    "passwordc4n4ry",
    "password = c4n4ry",
    "c4n4ry=1",
    "sslpassword=c4n4ry",
    "service=app",
    "ldap://c4n4ry@h/",
    "sslmode=x",
    "=",
];

fn files() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        8 => select(&LINES[..]).prop_map(|line| line.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
        1 => (1000usize..1050).prop_map(|length| vec![b'x'; length]),
    ];
    let end = select(&["\n", "\n", "\n", "\r\n", "\n  \t"][..]);
    proptest::collection::vec((line, end), 0..12).prop_map(|lines| {
        let lines = lines.into_iter().map(|(line, end)| [line, end.as_bytes().to_vec()].concat());
        lines.collect::<Vec<_>>().concat()
    })
}

fn written(text: &[u8]) -> PathBuf {
    static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());
    let path = DIRECTORY.path().join(format!("{:?}", std::thread::current().id()));
    fs::write(&path, text).unwrap();
    path
}

fn read(file: &Path) -> Result<Address, jobdoctor::store::AddressError> {
    let variables = [("PGSERVICE", "app"), ("PGSERVICEFILE", file.to_str().unwrap()), ("PGSYSCONFDIR", "/nonexistent")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let user = Some("ops".to_owned());
    Address::of_environment(&Surroundings { variables: Variables(variables.into()), user, ..Surroundings::default() })
}

/// A value of any letters but those that end a line, with no blanks at its end.
fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(any::<char>().prop_filter("ends it", |c| !['\0', '\n', '\r'].contains(c)), 1..8)
        .prop_map(|letters| letters.into_iter().collect::<String>().trim_end().to_owned())
        .prop_filter("says nothing", |text| !text.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_file(file in files()) {
        let said = match read(&written(&file)) {
            Ok(address) => said(&address),
            Err(error) => format!("{error} {error:?}"),
        };
        prop_assert!(!said.contains(CANARY), "{said}");
    }

    #[test]
    fn what_is_written_is_found(user in text(), database in text(), password in text(), more in text()) {
        let file = format!("[other]\nuser=no\n[app]\nuser={user}\ndbname={database}\n\
                            password={password}\nuser={more}\n");
        let Ok(Address::Postgres(address)) = read(&written(file.as_bytes())) else {
            return Err(TestCaseError::fail("it cannot be read"));
        };
        prop_assert_eq!((&address.user, &address.database), (&user, &database));
        let read = address.servers[0].password.as_ref().map(|password| password.0.clone());
        prop_assert_eq!(read, Some(password.into_bytes()));
    }
}

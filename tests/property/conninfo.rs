//! Addresses: nothing that is typed can panic, and no password comes back, neither from what can be read nor from what
//! cannot.

use super::tries;
use crate::support::cli::Doctor;
use jobdoctor::store::{Address, Surroundings, Variables};
use proptest::prelude::*;
use proptest::sample::select;
use std::path::PathBuf;

const CANARY: &str = "c4n4ry";

/// All that means something to a parser of addresses, a password, and what does not belong there.
const PIECES: [&str; 40] = [
    "postgres://",
    "postgresql://",
    "postgresql+psycopg://",
    "sqlite:",
    "host=",
    "hostaddr=",
    "port=",
    "user=",
    "dbname=",
    "password=",
    "passwd=",
    "sslmode=",
    "sslpassword=",
    "options=",
    "connect_timeout=",
    "ops",
    "127.0.0.1",
    "5432",
    "require",
    "99999999999999999999",
    CANARY,
    "@",
    ":",
    "/",
    "?",
    "&",
    "=",
    "%",
    "%0",
    "%00",
    "%ff",
    "[",
    "]",
    ",",
    "'",
    "\\",
    " ",
    "\n",
    "\u{0}",
    "\u{1F511}",
];

fn pieces() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof![4 => select(&PIECES[..]), 1 => Just(CANARY)], 0..20)
        .prop_map(|pieces| pieces.concat())
}

/// A password with the canary in it, between anything.
fn passwords() -> impl Strategy<Value = String> {
    let any = || proptest::collection::vec(any::<char>().prop_filter("ends a value", |c| *c != '\0'), 0..6);
    (any(), any()).prop_map(|(before, after)| {
        format!("{}{CANARY}{}", before.into_iter().collect::<String>(), after.into_iter().collect::<String>())
    })
}

/// An address that can be read, but for a word at its end, with a password in it.
fn with_password() -> impl Strategy<Value = (String, String)> {
    let words = [
        "",
        "bogus=1",
        "port=x",
        "sslmode=x",
        "port=1,2",
        "hostaddr=x",
        "sslpassword=x",
        "host=a,b,c",
        "connect_timeout=x",
    ];
    (passwords(), 0..4, select(words.to_vec())).prop_map(|(password, form, word)| {
        let encoded: String = password.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let quoted = password.replace('\\', "\\\\").replace('\'', "\\'");
        let address = match form {
            0 => format!("postgres://ops:{encoded}@127.0.0.1/app?{word}"),
            1 => format!("postgresql:///app?host=127.0.0.1&password={encoded}&{word}"),
            2 => format!("host=127.0.0.1 user=ops password='{quoted}' {word}"),
            _ => format!("password='{quoted}' dbname=app {word}"),
        };
        (address, password)
    })
}

fn surroundings() -> Surroundings {
    let variables = [("PGPASSWORD", CANARY), ("PGHOST", "127.0.0.1")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Surroundings {
        variables: Variables(variables.into()),
        home: Some(PathBuf::from("/nonexistent")),
        user: Some("ops".to_owned()),
        password: None,
        ..Surroundings::default()
    }
}

fn said(address: &Address) -> String {
    let settings = match address {
        Address::Postgres(address) => format!("{:?} {:?} {:?}", address.settings, address.warnings, address.dropped),
        Address::Sqlite { .. } => String::new(),
    };
    format!("{address:?} {} {settings}", address.label())
}

fn read(text: &str) -> [Result<Address, jobdoctor::store::AddressError>; 2] {
    let surroundings = surroundings();
    [Address::parse(text, &surroundings), Address::parse_database_url(text, &surroundings)]
}

/// Lines of a service file or a password file, whole and broken.
const LINES: [&str; 14] = [
    "[app]",
    "[app",
    "[other]",
    "host=127.0.0.1",
    "port=x",
    "password=c4n4ry",
    "passwordc4n4ry",
    "password = c4n4ry",
    "c4n4ry=1",
    "sslpassword=c4n4ry",
    "ldap://c4n4ry@h/",
    "*:*:*:*:c4n4ry",
    "127.0.0.1:*:c4n4ry\\",
    "=\u{0}\r",
];

proptest! {
    #![proptest_config(tries(300))]

    #[test]
    fn no_error_repeats_a_line_of_a_file(lines in proptest::collection::vec(select(&LINES[..]), 0..12)) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, lines.join("\n")).unwrap();
        let mut surroundings = surroundings();
        let path = file.path().display().to_string();
        for (name, value) in [("PGSERVICE", "app"), ("PGSERVICEFILE", &path), ("PGPASSFILE", &path)] {
            surroundings.variables.0.insert(name.to_owned(), value.to_owned());
        }
        surroundings.variables.0.remove("PGPASSWORD");
        let read = Address::of_environment(&surroundings);
        let said = read.map_or_else(|error| format!("{error} {error:?}"), |address| said(&address));
        prop_assert!(!said.contains(CANARY), "{said}");
    }

    #[test]
    fn any_text(text in any::<String>()) {
        for result in read(&text) {
            let said = result.map_or_else(|error| format!("{error} {error:?}"), |address| said(&address));
            prop_assert!(!said.contains(CANARY), "{said}");
        }
    }

    #[test]
    fn no_error_repeats_a_piece_of_the_address(text in pieces()) {
        for error in read(&text).into_iter().filter_map(Result::err) {
            let said = format!("{error} {error:?}");
            prop_assert!(!said.contains(CANARY), "{text:?}: {said}");
        }
    }

    #[test]
    fn no_password_comes_back((address, password) in with_password()) {
        for result in read(&address) {
            let said = match &result {
                Ok(address) => said(address),
                Err(error) => format!("{error} {error:?}"),
            };
            prop_assert!(!said.contains(CANARY), "{address:?}: {said}");
            if let Ok(Address::Postgres(address)) = result {
                let read = address.servers[0].password.as_ref().map(|password| password.0.clone());
                prop_assert_eq!(read, Some(password.clone().into_bytes()));
            }
        }
    }
}

/// The exit codes that there are. 70 would be a defect.
const CODES: [i32; 7] = [0, 2, 66, 69, 75, 77, 78];

proptest! {
    #![proptest_config(tries(60))]

    #[test]
    fn the_program_ends_in_a_code_of_its_table(
        address in pieces(),
        (readable, _) in with_password(),
        more in pieces(),
    ) {
        let fits = |text: &String| !text.contains('\0');
        prop_assume!(fits(&address) && fits(&more) && fits(&readable));
        // An empty name of a host leads to whatever server there is on this machine, hence the port.
        let doctor = Doctor::new().env("PGPORT", "1").env("PGPASSWORD", format!("{more}{CANARY}"));
        for arguments in [
            &["env", "--no-config", "--db", &address][..],
            &["env", "--no-config", "-o", "json", "--db", &readable],
            &["stale", "--no-config", "--timeout", "2s", "--db", &readable],
        ] {
            let ran = doctor.run(arguments);
            prop_assert!(ran.signal.is_none() && CODES.contains(&ran.code), "{arguments:?}: {ran:#?}");
            let is_shown = arguments[0] == "env" && ran.code == 0 && !arguments.contains(&readable.as_str());
            prop_assert!(is_shown || !format!("{ran:?}").contains(CANARY), "{arguments:?}: {ran:#?}");
        }
    }
}

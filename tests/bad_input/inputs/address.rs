//! Connection strings, as URLs and as `key=value`: no error repeats a piece of one, a password arrives as it was written, and
//! nothing that can be shown holds it.

use super::CANARY;
use jobdoctor::store::{Address, AddressError, Surroundings, Variables};

pub fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    repeats_nothing(&text);
    // The same bytes as a password, in an address that is sound. A NUL ends any text of libpq's.
    let password: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).chain(CANARY.bytes()).collect();
    // An address is a text, and so is what it encodes.
    let password = String::from_utf8_lossy(&password);
    let encoded: String = password.bytes().map(|byte| format!("%{byte:02x}")).collect();
    arrives(&format!("postgres://ops:{encoded}@127.0.0.1/app"), password.as_bytes());
    arrives(&format!("postgresql:///app?host=127.0.0.1&password={encoded}"), password.as_bytes());
    let quoted = password.replace('\\', "\\\\").replace('\'', "\\'");
    let pairs = format!("host=127.0.0.1 user=ops password='{quoted}' dbname=app");
    arrives(&pairs, password.as_bytes());
    // And with something behind it that makes no sense, so that the error is about an address with a password in it.
    for word in ["bogus=1", "port=x", "port=1,2", "host=a,b,c", "hostaddr=x", "sslmode=x", "connect_timeout=x", &text] {
        repeats_nothing(&format!("{pairs} {word}"));
        repeats_nothing(&format!("postgresql:///app?password={encoded}&{word}"));
    }
}

fn repeats_nothing(address: &str) {
    for error in read(address).into_iter().filter_map(Result::err) {
        let said = format!("{error} {error:?}");
        assert!(!said.contains(CANARY), "{address:?}: {said}");
    }
}

fn surroundings() -> Surroundings {
    let variables = [("PGPASSWORD", CANARY), ("PGHOST", "127.0.0.1")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Surroundings { variables: Variables(variables.into()), user: Some("ops".to_owned()), ..Surroundings::default() }
}

fn read(text: &str) -> [Result<Address, AddressError>; 2] {
    let surroundings = surroundings();
    [Address::parse(text, &surroundings), Address::parse_database_url(text, &surroundings)]
}

fn arrives(address: &str, password: &[u8]) {
    for read in read(address) {
        let read = read.unwrap_or_else(|error| panic!("{address:?} is refused: {error}"));
        has_password(&read, password);
    }
}

/// Panics unless that is the address' password, and nothing that can be shown of it holds the canary.
#[track_caller]
pub fn has_password(address: &Address, password: &[u8]) {
    let Address::Postgres(postgres) = address else { panic!("{address:?} is a file") };
    let found = postgres.servers[0].password.as_ref().map(|password| password.0.as_slice());
    assert_eq!(found, Some(password));
    let said = said(address);
    assert!(!said.contains(CANARY), "{said}");
}

/// Whatever could end on a screen.
pub fn said(address: &Address) -> String {
    let settings = match address {
        Address::Postgres(address) => format!("{:?} {:?} {:?}", address.settings, address.warnings, address.dropped),
        Address::Sqlite { .. } => String::new(),
    };
    format!("{address:?} {} {settings}", address.label())
}

//! Password files: nothing of one is ever shown, and its first line that fits counts, whatever stands behind it.

use super::address::{has_password, said};
use super::{CANARY, place};
use jobdoctor::store::{Address, Surroundings, Variables};

const FITS: &str = "127.0.0.1:*:app:ops:";

pub fn holds(bytes: &[u8]) {
    let said = said(&read(bytes));
    assert!(!said.contains(CANARY), "{said}");
    let first = [FITS.as_bytes(), CANARY.as_bytes(), b"\n", bytes].concat();
    has_password(&read(&first), CANARY.as_bytes());
}

fn read(bytes: &[u8]) -> Address {
    let file = place::file("passes", bytes).display().to_string();
    let variables = [("PGHOST", "127.0.0.1"), ("PGUSER", "ops"), ("PGDATABASE", "app"), ("PGPASSFILE", &file)];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let surroundings = Surroundings { variables: Variables(variables.into()), ..Surroundings::default() };
    Address::of_environment(&surroundings).expect("a pass file is no reason to refuse an address")
}

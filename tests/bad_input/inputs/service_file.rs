//! Service files: no error repeats a piece of one, and the first section of that name counts, whatever stands behind it.

use super::address::has_password;
use super::{CANARY, place};
use jobdoctor::store::{Address, AddressError, Surroundings, Variables};

const FITS: &str = "[app]\nhost=127.0.0.1\nuser=ops\ndbname=app\npassword=c4n4ry\n[other]\n";

pub fn holds(bytes: &[u8]) {
    is_quiet(read(bytes).err());
    match read(&[FITS.as_bytes(), bytes].concat()) {
        Ok(address) => has_password(&address, CANARY.as_bytes()),
        Err(error) => is_quiet(Some(error)),
    }
}

fn is_quiet(error: Option<AddressError>) {
    let said = error.map(|error| format!("{error} {error:?}")).unwrap_or_default();
    assert!(!said.contains(CANARY), "{said}");
}

fn read(bytes: &[u8]) -> Result<Address, AddressError> {
    let file = place::file("services", bytes).display().to_string();
    let variables = [("PGSERVICE", "app"), ("PGSERVICEFILE", &file), ("PGSYSCONFDIR", "/nonexistent")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let user = Some("ops".to_owned());
    Address::of_environment(&Surroundings { variables: Variables(variables.into()), user, ..Surroundings::default() })
}

//! Config files: one that is wrong is refused with its place, and the refusal repeats no password of an address in it.

use super::CANARY;
use jobdoctor::cli::check_config;

const ADDRESS: &str = "postgres://ops:c4n4ry@db/app";

pub fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Err(said) = check_config("config file fuzz", &text) else { return };
    assert!(said.starts_with("config file fuzz"), "{said}");
    // Only what looks like an address can be known for one.
    if !text.replace(ADDRESS, "").contains(CANARY) {
        assert!(!said.contains(CANARY), "{text:?}: {said}");
    }
}

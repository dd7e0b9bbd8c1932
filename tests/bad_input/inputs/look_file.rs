//! Saved looks (`--look-file`): one that could not have been written is refused in a few words, and no time in one that is
//! accepted lies behind its own look.

use super::place;
use jobdoctor::model::Clocks;
use jobdoctor::ops::{LookFile, OpsError};
use jobdoctor::report::{LOOK_SCHEMA, SavedLook};

/// See the module.
pub fn holds(bytes: &[u8]) {
    let path = place::file("look", bytes);
    match LookFile::read(&path) {
        Ok(_) if bytes.is_empty() => {}
        Ok(_) => {
            let saved: SavedLook = serde_json::from_slice(bytes).expect("what was accepted is a look");
            assert_eq!(saved.schema, LOOK_SCHEMA);
            for claim in &saved.claims {
                assert!(
                    !claim.since_at.is_after(saved.store_time, Clocks::One)
                        && !claim.progress_since_at.is_after(saved.store_time, Clocks::One)
                );
            }
        }
        Err(OpsError::File { message, .. }) => {
            let words = message.replace(&path.display().to_string(), "");
            assert!(words.chars().count() < 300, "{words}");
        }
        Err(error) => panic!("{error:?}"),
    }
}

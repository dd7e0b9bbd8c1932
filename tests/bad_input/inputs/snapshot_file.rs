//! saved snapshots (`--snapshot-file`): one that could not have been written is refused in a few words, and no time in one that is
//! accepted lies behind its own snapshot.

use super::place;
use jobdoctor::model::Clocks;
use jobdoctor::ops::{OpsError, SnapshotFile};
use jobdoctor::output::{SNAPSHOT_SCHEMA, SavedSnapshot};

pub fn holds(bytes: &[u8]) {
    let path = place::file("look", bytes);
    match SnapshotFile::read(&path) {
        Ok(_) if bytes.is_empty() => {}
        Ok(_) => {
            let saved: SavedSnapshot = serde_json::from_slice(bytes).expect("what was accepted is a snapshot");
            assert_eq!(saved.schema, SNAPSHOT_SCHEMA);
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

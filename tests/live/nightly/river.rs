//! River's client for Rust, from crates.io.

use crate::live::environment::Runtime;
use crate::live::interrupted::{self, By, Interrupted};
use crate::live::library::Library;

const LIBRARY: Library = Library {
    name: "river",
    preset: "river",
    script: "river/app.rs",
    runtime: Runtime::Cargo,
    last_attempt: Some(&["--max-attempts", "1"]),
    // Only a leader rescues, and the dead one would be it for some seconds more.
    age: Some(
        "WITH leader AS (DELETE FROM river_leader) \
         UPDATE river_job SET attempted_at = attempted_at - interval '2 hours' WHERE id = $1::text::bigint",
    ),
    interrupted: Some(Interrupted {
        by: By::Reaper(&["work", "--queue", "other", "--rescue-every", "1"]),
        options: &[],
        differs: &[],
    }),
    ..Library::PLAIN
};

stories! {
    fn what_its_rescuer_discarded_is_brought_back_as_it_would() { interrupted::retried_as_the_library_would(&LIBRARY) }
}

//! Faults.

mod full_disk;
mod many;
mod nightly;
mod random_kills;

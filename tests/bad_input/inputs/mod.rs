//! Text that comes from outside, one file for each kind of it: a function that takes any bytes and panics unless the program
//! keeps what it promises about them. It never panics itself, what it accepts is what was written, and nothing that it says
//! holds a secret or acts on a terminal.
//!
//! The fuzzers in `fuzz/` call the same functions, so that whatever they find is replayed as a test, and the other way round.

pub mod address;
pub mod config;
pub mod duration;
pub mod eyes;
pub mod id_list;
pub mod journal;
pub mod pass_file;
pub mod place;
pub mod plan_file;
pub mod preset;
pub mod screen;
pub mod service_file;
pub mod snapshot_file;
pub mod time;

/// What holds for any bytes of one kind of text.
pub type Holds = fn(&[u8]);

pub const ALL: [(&str, Holds); 12] = [
    ("address", address::holds),
    ("config", config::holds),
    ("duration", duration::holds),
    ("id_list", id_list::holds),
    ("journal", journal::holds),
    ("snapshot_file", snapshot_file::holds),
    ("pass_file", pass_file::holds),
    ("plan_file", plan_file::holds),
    ("preset", preset::holds),
    ("screen", screen::holds),
    ("service_file", service_file::holds),
    ("time", time::holds),
];

/// A password that is found nowhere else.
pub const CANARY: &str = "c4n4ry";

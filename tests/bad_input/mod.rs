//! Bad input: whatever is typed, written into a file or stored in a row, nothing panics, nothing is made, no secret comes back
//! and nothing acts on the reader's terminal; and what is damaged is never taken for "nothing found".
//!
//! What holds of each kind of text is in `inputs/`, once for these tests and for the fuzzers.

mod attempts;
mod corpus;
mod generated;
pub(crate) mod inputs;
mod nightly;
mod program;
mod rows;
mod values;

const TRIED: &str = "bad inputs tried";

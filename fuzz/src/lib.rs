//! What the fuzzers share with the tests.

#[path = "../../tests/bad_input/inputs/mod.rs"]
pub mod inputs;

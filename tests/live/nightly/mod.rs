//! Live tests that a change cannot wait for: of libraries beyond the eight that `tests/run` plays, and on their further engines.

mod delayed_job;

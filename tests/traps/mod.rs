//! What people were burnt by, each trap as a test.

mod clocks;
mod conflict_clause;
mod crowds;
mod owner_rows;
mod races;
mod zones;

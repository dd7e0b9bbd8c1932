//! What every run tries, as often as a night allows, and SQLite files that were damaged. `fuzz/run` goes on where these end.

mod damage;
mod oracle;
mod pristine;

use super::generated::try_texts;
use super::rows::try_rows;

#[test]
fn two_hundred_thousand_texts() {
    try_texts(200_000);
}

#[test]
fn two_hundred_thousand_rows() {
    try_rows(200_000);
}

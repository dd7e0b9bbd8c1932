//! A plan that was looked at is what is applied, and nothing else.

mod expected;
mod listed;
mod saved;

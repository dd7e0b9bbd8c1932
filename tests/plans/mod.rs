//! A plan that was looked at is what is applied, and nothing else.

mod expected;
mod keys;
mod listed;
mod passes;
mod races;
mod saved;
mod verbose;

//! Help where it is needed: every example is run, and every table is what the code goes by.

mod examples;
mod pages;
mod sandbox;
mod tips;
pub mod topics;

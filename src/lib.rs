//! jobdoctor.

pub mod cli;
pub mod model;
pub mod ops;
pub mod policy;
pub mod render;
pub mod report;
pub mod spec;
pub mod store;

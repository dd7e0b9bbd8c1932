//! jobdoctor.

pub mod model;
pub mod policy;
pub mod render;
pub mod report;
pub mod spec;
pub mod store;

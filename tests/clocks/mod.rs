//! Clock skew, hours that a zone repeats, and times without a zone: a living worker never loses its job by a clock.

mod skew;
mod zones;

//! `health`: a monitoring plugin, by the guidelines: one line first, performance data, and 0, 1, 2 or 3 whatever happens.

mod blind;
mod line;
mod ranges;
mod several;
mod states;

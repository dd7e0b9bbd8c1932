//! `--verify`: what becomes of the jobs after they went back, with a worker that does as it is told.

mod endings;
mod places;
mod usage;

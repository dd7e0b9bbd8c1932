//! Several targets at once: one report for each in the order of the config file, whatever becomes of the others.

mod crowd;
mod fleet;
mod looking;
mod refused;
mod sweeping;

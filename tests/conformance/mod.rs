//! What every store must do, tried on every store.

mod actions;
mod crowd;
mod evidence;
mod find;
mod find_keys;
mod guard;
mod holders;
mod lock;
mod moved;
mod mutants;
pub mod odd;
mod outcomes;
mod owners;
mod presets;
mod quiet;
mod readonly;
mod record;
mod refused;
pub mod scan;
mod scenarios;
mod schema;
mod stats;
mod time;
mod values;

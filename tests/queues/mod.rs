//! What holds for every queue whose tables are in `fixtures/schemas/`, through the program itself.

mod detection;
mod held;
mod hints;
mod ids;
mod indexes;
mod look_alikes;
mod matrix;
mod options;
pub(crate) mod rights;
mod row_security;
pub(crate) mod tables;
mod texts;
mod triggers;
mod undo;
mod unlisted;
mod views;

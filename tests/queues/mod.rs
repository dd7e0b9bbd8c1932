//! What holds for every queue whose tables are in `fixtures/schemas/`, through the program itself.

mod bounded;
mod detection;
mod held;
mod ids;
mod indexes;
mod options;
mod rights;
mod row_security;
mod search_path;
mod tables;
mod triggers;
mod twin;
mod undo;
mod views;

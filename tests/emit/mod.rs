//! `--emit-sql`: scripts that are run through the real psql.

mod encodings;
mod hostile;
mod postgres;
mod refusals;

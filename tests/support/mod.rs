//! What tests stand on: private servers, one lab for each kind of store, and the doctor's own moves in short form.

pub mod at_work;
pub mod authority;
pub mod black_hole;
pub mod cli;
pub mod doctor;
pub mod edit;
pub mod figures;
pub mod files;
pub mod impostor;
pub mod labs;
pub mod memory;
pub mod pgbouncer;
pub mod postgres;
pub mod promtool;
pub mod proxy;
pub mod pty;
pub mod shells;
pub mod shim;
pub mod shop;
pub mod standby;
pub mod tables;
pub mod tls_server;
pub mod tmpfs;
pub mod users;

//! `jobdoctor generate`: who reads the units understands them, and what they run does its work on a database.

mod kubernetes;
mod refused;
mod secrets;
mod systemd;
mod written;

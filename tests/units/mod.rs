//! `jobdoctor generate`: systemd, cron and Kubernetes understand the units, and what they run does its work on a database.

mod kubernetes;
mod refused;
mod secrets;
mod systemd;
mod written;

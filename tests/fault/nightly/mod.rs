//! Faults that take long, or a server of their own.

mod crowded_pooler;
mod failover;
mod frozen;
mod full_disk;
mod kills;
mod partitions;
mod server;

//! Through PgBouncer in transaction mode: what is shared, what it refuses, and that nothing stays behind.

mod behind;
mod refusals;
mod sharing;

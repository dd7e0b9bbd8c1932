//! What monitoring systems read: the health plugin and Prometheus metrics.

mod metrics;
pub mod plugin;

pub use metrics::Metrics;

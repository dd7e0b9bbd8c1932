//! What monitoring systems read: the health plugin, Prometheus metrics and the files that a run replaces as a whole.

mod metrics;
pub mod plugin;
mod report_file;

pub use metrics::Metrics;
pub use report_file::ReportFile;

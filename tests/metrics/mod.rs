//! Metrics: `stats -o prometheus`, and the file that node_exporter reads.

mod dashboard;
mod file;
mod former;
mod printed;
mod rules;
mod stood_back;
mod sweep;

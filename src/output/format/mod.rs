//! Output formats and wording. This layer knows tables and texts, not jobs: it uses nothing else of the crate.

pub(super) mod bars;
mod cell;
mod clip;
mod csv;
mod facts;
mod fit;
mod formats;
mod grid;
mod human;
mod inert;
mod json;
mod paragraph;
mod plugin;
mod prometheus;
mod screen;
mod table;
mod wrap;

pub use cell::{Cell, Tone};
pub use csv::{csv, csv_under};
pub use facts::Facts;
pub use formats::Format;
pub use human::{count, grouped, or_dash};
pub use inert::inert;
pub use json::json;
pub use plugin::{PerfData, Plugin};
pub use prometheus::{Family, Sample, prometheus};
pub use screen::Screen;
pub use table::{Align, Column, Table};

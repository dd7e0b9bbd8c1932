//! Output formats and wording. They know tables and texts, not jobs, and use nothing else of the crate.

mod cell;
mod csv;
mod facts;
mod fit;
mod formats;
mod grid;
mod inert;
mod lines;
mod numbers;
mod page;
mod plugin;
mod prometheus;
mod screen;
mod sort;
mod table;
mod width;

pub use cell::{Cell, Tone, or_dash};
pub use csv::{csv_line, csv_under};
pub use facts::Facts;
pub use formats::{Format, Inert, json};
pub use grid::Align;
pub use inert::inert;
pub use lines::Lines;
pub(super) use numbers::{bar, level};
pub use numbers::{count, grouped};
pub use page::Page;
pub use plugin::{PerfData, Plugin};
pub use prometheus::{Family, Sample, prometheus};
pub use screen::{Screen, Times};
pub use table::{Column, Cut, Table};
pub use width::wrap;

//! Output formats and wording. They know tables, texts and instants, not jobs.

mod cell;
mod csv;
mod fit;
mod formats;
mod inert;
mod lines;
mod page;
mod prometheus;
mod table;
mod width;

pub use cell::{Cell, Tone, count, first_few, grouped, or_dash};
pub(super) use cell::{bar, level};
pub use csv::csv_line;
pub use fit::Align;
pub use formats::{Format, Inert, Screen, Times, json};
pub use inert::inert;
pub use lines::Lines;
pub use page::{Facts, Page};
pub use prometheus::{Family, PerfData, Plugin, Sample, prometheus};
pub use table::{Column, Cut, Table};
pub use width::wrap;

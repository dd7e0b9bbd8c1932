//! The text format of monitoring plugins.

use super::inert::inert;

/// The output of a monitoring plugin, by the Monitoring Plugins Development Guidelines: a status line with performance
/// data, then more lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plugin {
    /// `OK`, `WARNING`, `CRITICAL` or `UNKNOWN`.
    pub state: &'static str,
    pub text: String,
    pub data: Vec<PerfData>,
    pub more: Vec<String>,
}

/// One value with its ranges. The label must not come from a database.
#[derive(Debug, Clone, PartialEq)]
pub struct PerfData {
    pub label: &'static str,
    /// The value; `None` if it is unknown.
    pub value: Option<f64>,
    /// Empty for a number, or `s`, or `%`.
    pub unit: &'static str,
    /// The warning range, as the guidelines write it.
    pub warning: Option<String>,
    pub critical: Option<String>,
    /// The greatest possible value; the least is always 0.
    pub max: Option<u32>,
}

/// The most characters of a line: monitoring systems have small buffers.
const LONGEST_LINE: usize = 300;

impl Plugin {
    /// The lines, each with its line break. Texts are inert and cannot pass for performance data.
    pub fn render(&self) -> String {
        let data: Vec<String> = self.data.iter().map(PerfData::render).collect();
        let data = if data.is_empty() { String::new() } else { format!(" | {}", data.join(" ")) };
        let mut out = format!("JOBDOCTOR {} - {}{data}\n", self.state, text(&self.text));
        for line in &self.more {
            out.push_str(&text(line));
            out.push('\n');
        }
        out
    }
}

impl PerfData {
    fn render(&self) -> String {
        let value = self.value.map_or_else(|| "U".to_owned(), |value| format!("{}{}", rounded(value), self.unit));
        let [warning, critical] = [&self.warning, &self.critical].map(|range| range.as_deref().unwrap_or_default());
        let max = self.max.map(|max| max.to_string()).unwrap_or_default();
        format!("'{}'={value};{warning};{critical};0;{max}", self.label)
    }
}

/// Two decimal places are enough for a graph.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// An inert text without `|`, after which a monitoring system reads performance data.
fn text(text: &str) -> String {
    let shown = inert(text).replace('|', "/");
    match shown.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
        None => shown,
    }
}

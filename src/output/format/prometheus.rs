//! What monitoring reads: the text of Prometheus, and the status line of a plugin.

use super::inert::inert;
use crate::policy::State;
use prometheus::TextEncoder;
use prometheus::proto::{Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType};
use std::io;

#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// A name that ends in `_total` is that of a counter, any other that of a gauge.
    pub name: &'static str,
    pub help: &'static str,
    /// Its samples in order. No two have the same labels.
    pub samples: Vec<Sample>,
}

/// One value with its labels. It has no time: the textfile collector refuses one.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Names and values in order. A value may be any text.
    pub labels: Vec<(&'static str, String)>,
    pub value: f64,
}

/// The families in Prometheus' text format, which node_exporter's textfile collector reads too. A family without
/// samples is left out.
pub fn prometheus(families: &[Family]) -> io::Result<String> {
    let filled: Vec<MetricFamily> = families.iter().filter(|family| !family.samples.is_empty()).map(family).collect();
    TextEncoder::new().encode_to_string(&filled).map_err(io::Error::other)
}

fn family(family: &Family) -> MetricFamily {
    let mut encoded = MetricFamily::default();
    encoded.set_name(family.name.to_owned());
    encoded.set_help(family.help.to_owned());
    let is_counter = family.name.ends_with("_total");
    encoded.set_field_type(if is_counter { MetricType::COUNTER } else { MetricType::GAUGE });
    encoded.set_metric(family.samples.iter().map(|sample| metric(sample, is_counter)).collect());
    encoded
}

fn metric(sample: &Sample, is_counter: bool) -> Metric {
    let label = |(name, value): &(&'static str, String)| {
        let mut label = LabelPair::default();
        label.set_name((*name).to_owned());
        label.set_value(value.replace('\0', "\u{fffd}"));
        label
    };
    let mut metric = Metric::default();
    if is_counter {
        let mut counter = Counter::default();
        counter.set_value(sample.value);
        metric.set_counter(counter);
    } else {
        let mut gauge = Gauge::default();
        gauge.set_value(sample.value);
        metric.set_gauge(gauge);
    }
    metric.set_label(sample.labels.iter().map(label).collect());
    metric
}

/// The output of a monitoring plugin, by the Monitoring Plugins Development Guidelines: a status line with performance
/// data, then more lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plugin {
    pub state: State,
    pub text: String,
    pub data: Vec<PerfData>,
    pub more: Vec<String>,
}

/// One value with its ranges.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PerfData {
    pub label: String,
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

impl Plugin {
    /// The lines, each with its line break. Texts are inert and cannot pass for performance data.
    pub fn render(&self) -> String {
        let data: Vec<String> = self.data.iter().map(PerfData::render).collect();
        let data = if data.is_empty() { String::new() } else { format!(" | {}", data.join(" ")) };
        let more: String = self.more.iter().map(|line| text(line) + "\n").collect();
        format!("{}{data}\n{more}", text(&self.status()))
    }

    /// Adds the report about one of several targets: its data and its lines, each under the target's name.
    pub fn add(&mut self, target: &str, own: Plugin) {
        let lines = std::iter::once(own.status()).chain(own.more);
        self.more.extend(lines.map(|line| format!("{target}: {line}")));
        let named = |data: PerfData| PerfData { label: format!("{target}.{}", data.label), ..data };
        self.data.extend(own.data.into_iter().map(named));
    }

    /// The status line, without the performance data.
    fn status(&self) -> String {
        format!("JOBDOCTOR {} - {}", self.state.name().to_uppercase(), self.text)
    }
}

impl PerfData {
    fn render(&self) -> String {
        let value = self.value.map_or_else(|| "U".to_owned(), |value| format!("{}{}", rounded(value), self.unit));
        let [warning, critical] = [&self.warning, &self.critical].map(|range| range.as_deref().unwrap_or_default());
        let max = self.max.map(|max| max.to_string()).unwrap_or_default();
        // A label must not hold the characters that end it or begin its value.
        let label = inert(&self.label).replace(['\'', '=', '|', ' '], "_");
        format!("'{label}'={value};{warning};{critical};0;{max}")
    }
}

/// Two decimal places are enough for a graph.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// An inert text without `|`, after which a monitoring system reads performance data.
fn text(text: &str) -> String {
    inert(text).replace('|', "/")
}

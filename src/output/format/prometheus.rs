//! Prometheus' text format.

use prometheus::TextEncoder;
use prometheus::proto::{Gauge, LabelPair, Metric, MetricFamily, MetricType};
use std::io;

/// A gauge, with its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
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
    encoded.set_field_type(MetricType::GAUGE);
    encoded.set_metric(family.samples.iter().map(metric).collect());
    encoded
}

fn metric(sample: &Sample) -> Metric {
    let label = |(name, value): &(&'static str, String)| {
        let mut label = LabelPair::default();
        label.set_name((*name).to_owned());
        // Prometheus' parser takes a NUL for the end of the text.
        label.set_value(value.replace('\0', "\u{fffd}"));
        label
    };
    let mut gauge = Gauge::default();
    gauge.set_value(sample.value);
    let mut metric = Metric::from_gauge(gauge);
    metric.set_label(sample.labels.iter().map(label).collect());
    metric
}

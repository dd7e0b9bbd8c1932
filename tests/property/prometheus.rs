//! Gauges as text for Prometheus.

use jobdoctor::output::format::{Family, Sample, prometheus};

fn sample(queue: &str, value: f64) -> Sample {
    Sample { labels: vec![("queue", queue.to_owned()), ("state", "RUNNING".to_owned())], value }
}

#[test]
fn each_family_has_one_help_and_one_type_and_no_time() {
    let stuck = Family { name: "stuck", help: "Claims.", samples: vec![sample("a", 2.0), sample("", 0.0)] };
    let at = Family {
        name: "at",
        help: "C:\\ and\nmore.",
        samples: vec![Sample { labels: Vec::new(), value: 1_795_168_800.25 }],
    };
    let none = Family { name: "none", help: "Nothing.", samples: Vec::new() };
    assert_eq!(
        prometheus(&[stuck, none, at]).unwrap(),
        "# HELP stuck Claims.\n# TYPE stuck gauge\n\
         stuck{queue=\"a\",state=\"RUNNING\"} 2\nstuck{queue=\"\",state=\"RUNNING\"} 0\n\
         # HELP at C:\\\\ and\\nmore.\n# TYPE at gauge\nat 1795168800.25\n"
    );
}

#[test]
fn whatever_a_queue_is_called_it_stays_within_its_quotes() {
    let family = Family { name: "stuck", help: "x", samples: vec![sample("a\"} 1\nb{c=\"\\\0é", 1.0)] };
    let text = prometheus(&[family]).unwrap();
    assert_eq!(text.lines().last(), Some("stuck{queue=\"a\\\"} 1\\nb{c=\\\"\\\\\u{fffd}é\",state=\"RUNNING\"} 1"));
}

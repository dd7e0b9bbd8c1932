use super::bars::level;
use super::{Present, ROWS, jobs};
use crate::model::age;
use crate::render::{Cell, Format, Screen, Table, Tone, grouped, inert};
use crate::report::{KindRuntimes, StatsRuntimes};
use std::io::{self, Write};
use std::ops::Range;
use std::time::Duration;

impl Present for StatsRuntimes {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let span = filled(&self.kinds);
        let columns = vec![
            jobs::column(if self.by == "kind" { "kind" } else { "queue" }, 0, Some(12)),
            jobs::right("jobs", 0),
            jobs::right("p50", 2),
            jobs::right("p95", 3),
            jobs::right("p99", 0),
            jobs::right("max", 1),
            jobs::right("would hit", 0),
            jobs::right("unusable", 5),
            jobs::column("spread", 4, None),
        ];
        let mut table = Table { columns, rows: Vec::new() };
        table.rows.extend(self.kinds.iter().take(rows).map(|kind| row(kind, span.clone())));
        let mut text = if self.kinds.is_empty() { String::new() } else { table.render(screen) };
        if let Some(edges) = edges(&self.kinds, span) {
            text.push_str(&format!("spread: {edges}\n"));
        }
        for finding in &self.findings {
            text.push_str(&format!("! {}\n", inert(finding)));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        super::csv_of(&KindRuntimes::COLUMNS, self.kinds.iter().map(Ok), |kind| kind.values(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        let names = self.kinds.iter().filter_map(|kind| kind.kind.as_ref().or(kind.queue.as_ref()));
        names.into_iter().try_for_each(|name| writeln!(out, "{name}"))
    }
}

fn row(kind: &KindRuntimes, span: Range<usize>) -> Vec<Cell> {
    let name = kind.kind.as_deref().or(kind.queue.as_deref());
    let time = |seconds: Option<f64>| jobs::text(seconds.map(run_time).as_deref());
    let rare = |n: u64| jobs::text(Some(n).filter(|n| *n > 0).map(grouped).as_deref());
    let hit = match kind.would_hit {
        Some(hit) => Cell::new(grouped(hit), if hit > 0 { Tone::Warn } else { Tone::Plain }),
        None => jobs::text(None),
    };
    vec![
        name.map_or_else(|| Cell::new("(not named)", Tone::Warn), Cell::from),
        grouped(kind.jobs).into(),
        time(kind.p50_seconds),
        time(kind.p95_seconds),
        time(kind.p99_seconds),
        time(kind.max_seconds),
        hit,
        rare(kind.unusable),
        bars(kind, span).into(),
    ]
}

/// The buckets from the first to the last that has a job of any kind.
fn filled(kinds: &[KindRuntimes]) -> Range<usize> {
    let has = |at: usize| kinds.iter().any(|kind| kind.buckets.get(at).is_some_and(|bucket| bucket.jobs > 0));
    let places = kinds.first().map_or(0, |kind| kind.buckets.len());
    let first = (0..places).find(|at| has(*at)).unwrap_or(0);
    first..(0..places).rev().find(|at| has(*at)).map_or(first, |last| last + 1)
}

/// One sign a bucket, as high as its part of the fullest one.
fn bars(kind: &KindRuntimes, span: Range<usize>) -> String {
    let counts: Vec<u64> = kind.buckets.get(span).unwrap_or_default().iter().map(|bucket| bucket.jobs).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().map(|count| level(*count, most)).collect()
}

/// What the signs stand for.
fn edges(kinds: &[KindRuntimes], span: Range<usize>) -> Option<String> {
    let buckets = kinds.first()?.buckets.get(span)?;
    let edges: Vec<String> =
        buckets.iter().map(|bucket| bucket.up_to_seconds.map_or_else(|| "longer".to_owned(), run_time)).collect();
    Some(format!("up to {}", edges.join(", "))).filter(|_| !edges.is_empty())
}

/// A run time in words: below ten seconds it is told more finely than an age.
pub(super) fn run_time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0}ms", s * 1000.0),
        s if s < 10.0 => format!("{}s", (s * 10.0).round() / 10.0),
        s => age(Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::RuntimeBucket;

    fn kind(jobs: &[u64]) -> KindRuntimes {
        let bucket = |(n, jobs): (usize, &u64)| RuntimeBucket { up_to_seconds: Some(n as f64), jobs: *jobs };
        KindRuntimes {
            kind: None,
            queue: None,
            jobs: 0,
            unusable: 0,
            p50_seconds: None,
            p95_seconds: None,
            p99_seconds: None,
            max_seconds: None,
            would_hit: None,
            buckets: jobs.iter().enumerate().map(bucket).collect(),
        }
    }

    #[test]
    fn bars_are_as_high_as_their_part() {
        let kinds = [kind(&[0, 0, 1, 1000, 500, 0, 0]), kind(&[0, 0, 0, 0, 0, 3, 0])];
        let span = filled(&kinds);
        assert_eq!(span, 2..6);
        assert_eq!(bars(&kinds[0], span.clone()), "▁█▄·");
        assert_eq!(bars(&kinds[1], span), "···█");
        assert_eq!((filled(&[]), filled(&[kind(&[0, 0])])), (0..0, 0..0));
    }

    #[test]
    fn run_times_in_words() {
        let cases = [
            (0.0, "0ms"),
            (0.34, "340ms"),
            (1.0, "1s"),
            (1.26, "1.3s"),
            (1.99, "2s"),
            (12.6, "12s"),
            (7500.0, "2h 5m"),
        ];
        for (seconds, words) in cases {
            assert_eq!(run_time(seconds), words);
        }
    }
}

use super::bars::bar;
use super::{Present, ROWS, jobs};
use crate::model::age;
use crate::render::{Cell, Format, Screen, Table, Tone, grouped};
use crate::report::{QueueStats, Stats};
use std::io::{self, Write};
use std::time::Duration;

/// Cells of a bar: together with an age it is no wider than the title of its column.
const CELLS: usize = 5;

impl Present for Stats {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let columns = vec![
            jobs::column("queue", 0, Some(12)),
            jobs::right("waiting", 2),
            jobs::right("in flight", 0),
            jobs::right("stuck", 0),
            jobs::right("unknown", 3),
            jobs::right("done", 4),
            jobs::right("failed", 4),
            jobs::right("cancelled", 6),
            jobs::right("other", 5),
            jobs::right("oldest claim", 1),
            jobs::right("longest stuck", 1),
        ];
        let longest = longest(&self.queues);
        let rows = self.queues.iter().take(rows).map(|queue| row(queue, longest)).collect();
        let table = Table { columns, rows };
        let mut text = if self.queues.is_empty() { String::new() } else { table.render(screen) };
        for finding in &self.findings {
            text.push_str(&format!("! {}\n", crate::render::inert(finding)));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        super::csv_of(&QueueStats::COLUMNS, self.queues.iter().map(Ok), |queue| queue.values(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.queues.iter().filter_map(|queue| queue.queue.as_ref()).try_for_each(|queue| writeln!(out, "{queue}"))
    }
}

/// What bars are compared with: the longest silence of all; `None` where there is nothing to compare.
fn longest(queues: &[QueueStats]) -> Option<f64> {
    queues.iter().filter_map(|queue| queue.oldest_stuck_seconds).reduce(f64::max).filter(|_| queues.len() > 1)
}

fn row(queue: &QueueStats, longest: Option<f64>) -> Vec<Cell> {
    let count = |count: Option<u64>| jobs::text(count.map(grouped).as_deref());
    let bad = |n: u64, tone: Tone| Cell::new(grouped(n), if n > 0 { tone } else { Tone::Plain });
    let span = |seconds: Option<f64>| {
        let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        jobs::text(span.map(age).as_deref())
    };
    let compared = |seconds: Option<f64>| match (seconds, longest) {
        (Some(silence), Some(longest)) => format!("{} {}", span(seconds).text, bar(silence, longest, CELLS)).into(),
        _ => span(seconds),
    };
    // A column without a number in it says nothing; the table drops it first.
    let rare = |rows: Option<u64>| count(rows.filter(|rows| *rows > 0));
    vec![
        queue.queue.as_deref().map_or_else(|| Cell::new("(no queue)", Tone::Warn), Cell::from),
        count(queue.waiting),
        bad(queue.in_flight, Tone::Plain),
        bad(queue.stuck, Tone::Bad),
        bad(queue.unknown, Tone::Warn),
        count(queue.done),
        count(queue.failed),
        count(queue.cancelled),
        rare(queue.other),
        span(queue.oldest_in_flight_seconds),
        compared(queue.oldest_stuck_seconds),
    ]
}

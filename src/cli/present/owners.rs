use super::{Present, ROWS, jobs};
use crate::model::age;
use crate::render::{Cell, Format, Screen, Table, Tone};
use crate::report::{OwnerEntry, Owners};
use std::io::{self, Write};
use std::time::Duration;

impl Present for Owners {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let columns = vec![
            jobs::column("owner", 0, Some(12)),
            jobs::column("status", 0, None),
            jobs::right("claims", 1),
            jobs::right("stuck", 1),
            jobs::right("unknown", 4),
            jobs::right("silent", 0),
            jobs::column("judged by", 5, None),
            jobs::column("queues", 3, Some(8)),
        ];
        let mut table = Table { columns, rows: Vec::new() };
        for owner in self.owners.iter().take(rows) {
            table.rows.push(vec![
                owner.owner.as_deref().map_or_else(|| Cell::new("(no owner)", Tone::Warn), Cell::from),
                status(owner),
                owner.claims.to_string().into(),
                owner.stuck.to_string().into(),
                owner.unknown.to_string().into(),
                last_seen(owner),
                jobs::text(owner.liveness.as_deref()),
                jobs::text(Some(&owner.queues.join(" "))),
            ]);
        }
        let mut text = if self.owners.is_empty() { String::new() } else { table.render(screen) };
        for finding in &self.findings {
            text.push_str(&format!("! {finding}\n"));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        super::csv_of(&OwnerEntry::COLUMNS, self.owners.iter().map(Ok), |owner| owner.values(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.owners.iter().filter_map(|owner| owner.owner.as_ref()).try_for_each(|owner| writeln!(out, "{owner}"))
    }
}

fn status(owner: &OwnerEntry) -> Cell {
    let tone = match owner.status.as_str() {
        "alive" => Tone::Good,
        "dead" => Tone::Bad,
        _ => Tone::Warn,
    };
    Cell::new(owner.status.as_str(), tone)
}

fn last_seen(owner: &OwnerEntry) -> Cell {
    match owner.silence_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(silence) => age(silence).into(),
        None => Cell::new("?", Tone::Dim),
    }
}

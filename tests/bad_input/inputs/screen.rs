//! Text on its way to a reader. To people nothing in it acts on the terminal or forges a line; machines get it as it was.
//! `\u{1e}` separates cells.

use super::eyes::must_be_harmless;
use jobdoctor::output::format::{
    Align, Cell, Column, Cut, Facts, Family, Plugin, Sample, Screen, Table, Tone, csv_line, inert, json, prometheus,
};

pub fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let cells: Vec<&str> = text.split('\u{1e}').collect();
    for_people(&cells);
    for_machines(&cells);
}

fn for_people(cells: &[&str]) {
    for cell in cells {
        let shown = inert(cell);
        must_be_harmless("a text", &shown);
        assert!(!shown.contains('\n'), "a text forges a line: {shown:?}");
        assert_eq!(inert(&shown), shown, "twice is not as once");
    }
    let columns: Vec<Column> = ["id", "queue", "why"]
        .map(|title| Column { title, align: Align::Left, importance: 1, shrinks_to: Some(6), cut: Cut::Middle })
        .into();
    let row = |row: &[&str]| row.iter().map(|text| Cell::new(*text, Tone::Bad)).collect();
    let table = Table { columns, rows: cells.chunks(3).map(row).collect(), are_examples: false };
    let mut facts = Facts::new();
    cells.iter().for_each(|cell| {
        facts.add(*cell, *cell);
    });
    for width in [None, Some(40)] {
        let screen = Screen { width, color: false, ..Screen::default() };
        let shown = table.render(&screen);
        must_be_harmless("a table", &shown);
        assert_eq!(shown.lines().count(), table.rows.len() + 1, "a cell forges a row: {shown}");
        must_be_harmless("facts", &facts.render(&screen));
        must_be_harmless("a heading", &screen.heading(cells[0]));
    }
    let more: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    let plugin = Plugin { text: cells[0].to_owned(), more, ..Plugin::default() }.render();
    must_be_harmless("a plugin", &plugin);
    assert_eq!(plugin.lines().count(), cells.len() + 1, "a text forges a line: {plugin}");
    assert!(!plugin.contains('|'), "a text forges performance data: {plugin}");
}

fn for_machines(cells: &[&str]) {
    let mut out = Vec::new();
    json(&cells, &mut out).expect("memory takes it");
    let read: Vec<String> = serde_json::from_slice(&out).expect("it is JSON");
    assert_eq!(read, cells);

    let mut out = Vec::new();
    let row: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    csv_line(cells.iter().map(|_| "x"), &mut out).expect("memory takes it");
    csv_line(row.iter(), &mut out).expect("memory takes it");
    let mut reader = csv::Reader::from_reader(out.as_slice());
    let rows: Vec<Vec<String>> = reader.deserialize().collect::<Result<_, _>>().expect("it is CSV");
    // A row without cells is an empty line, which is none.
    assert!(rows == [cells] || cells.concat().is_empty(), "{rows:?}");

    let sample = |value: &&str| Sample { labels: vec![("queue", (*value).to_owned())], value: 1.0 };
    let family = Family { name: "stuck", help: "x", samples: cells.iter().map(sample).collect() };
    let text = prometheus(&[family]).expect("memory takes it");
    let is_sample = |line: &&str| line.starts_with("stuck{queue=\"") && line.ends_with("\"} 1");
    assert_eq!(text.split('\n').filter(is_sample).count(), cells.len(), "a label forges a sample: {text}");
    assert_eq!(text.split('\n').count(), cells.len() + 3, "a label forges a line: {text}");
}

//! A rendered table has one line per row, and none is wider than the screen, whatever the cells are.

use super::tries;
use jobdoctor::output::format::{Align, Cell, Column, Cut, Facts, Screen, Table, Tone};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

const TITLES: [&str; 6] = ["id", "queue", "kind", "last sign of life", "größe", "漢字"];
const TONES: [Tone; 6] = [Tone::Plain, Tone::Dim, Tone::Amiss, Tone::Warn, Tone::Bad, Tone::Strong];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z -]{0,12}",
        "[ \n\r\t\x1b]{0,6}",
        "[漢字か\u{301}\u{200d}\u{fe0f}👍🏽❤☝🇩🇪\u{644}\u{627} ]{0,40}",
        Just("-".to_owned()),
    ]
}

fn cell() -> impl Strategy<Value = Cell> {
    (text(), proptest::sample::select(&TONES[..])).prop_map(|(text, tone)| Cell::new(text, tone))
}

fn column() -> impl Strategy<Value = Column> {
    let align = prop_oneof![Just(Align::Left), Just(Align::Right)];
    let shrinks_to = proptest::option::of(0usize..30);
    let cut = prop_oneof![Just(Cut::End), Just(Cut::Middle)];
    (proptest::sample::select(&TITLES[..]), align, 0u8..5, shrinks_to, cut)
        .prop_map(|(title, align, importance, shrinks_to, cut)| Column { title, align, importance, shrinks_to, cut })
}

fn table() -> impl Strategy<Value = Table> {
    let columns = proptest::collection::vec(column(), 1..12);
    let rows = proptest::collection::vec(proptest::collection::vec(cell(), 0..12), 0..6);
    (columns, rows).prop_map(|(columns, rows)| Table { columns, rows, are_examples: false })
}

fn plain(painted: &str) -> String {
    let mut parts = painted.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, text)| text))
}

proptest! {
    #![proptest_config(tries(300))]

    #[test]
    fn no_line_wraps(table in table(), width in 20usize..120) {
        let shown = table.render(&Screen { width: Some(width), color: false, ..Screen::default() });
        prop_assert!(shown.ends_with('\n'));
        prop_assert_eq!(shown.lines().count(), table.rows.len() + 1);
        for line in shown.lines() {
            prop_assert!(line.width() <= width, "{} > {width}: {line:?}", line.width());
            prop_assert!(!line.ends_with(' '), "{line:?}");
            prop_assert!(!line.contains(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn an_unlimited_screen_loses_nothing(table in table()) {
        let shown = table.render(&Screen { width: None, color: false, ..Screen::default() });
        prop_assert_eq!(shown.lines().count(), table.rows.len() + 1);
        for (line, row) in shown.lines().skip(1).zip(&table.rows) {
            for cell in row.iter().take(table.columns.len()) {
                prop_assert!(line.contains(jobdoctor::output::format::inert(&cell.text).trim_end_matches(' ')), "{line:?}");
            }
        }
    }

    #[test]
    fn colour_moves_nothing(table in table(), width in proptest::option::of(20usize..120)) {
        let painted = table.render(&Screen { width, color: true, ..Screen::default() });
        prop_assert_eq!(plain(&painted), table.render(&Screen { width, color: false, ..Screen::default() }));
    }

    #[test]
    fn facts_stay_on_the_screen(facts in proptest::collection::vec((text(), cell()), 0..6), width in 20usize..120) {
        let mut block = Facts::new();
        for (name, value) in facts {
            block.add(name, value);
        }
        let shown = block.render(&Screen { width: Some(width), color: false, ..Screen::default() });
        for line in shown.lines() {
            prop_assert!(line.width() <= width, "{} > {width}: {line:?}", line.width());
            prop_assert!(!line.contains(char::is_control), "{line:?}");
        }
        prop_assert_eq!(plain(&block.render(&Screen { width: Some(width), color: true, ..Screen::default() })), shown);
    }
}

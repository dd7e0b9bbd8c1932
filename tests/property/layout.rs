//! Tables on screens of all widths: what shrinks, what is cut, and what is left out.

use jobdoctor::output::format::{Align, Cell, Column, Cut, Page, Screen, Table, Tone, count, wrap};

fn column(title: &'static str, importance: u8, shrinks_to: Option<usize>) -> Column {
    Column { title, align: Align::Left, importance, shrinks_to, cut: Cut::End }
}

fn table() -> Table {
    Table {
        columns: vec![
            Column { align: Align::Right, ..column("id", 0, None) },
            column("kind", 2, Some(6)),
            column("note", 9, None),
            Column { cut: Cut::Middle, ..column("owner", 1, Some(5)) },
        ],
        rows: vec![
            vec!["42".into(), "SendMail".into(), "-".into(), Cell::new("web1:4211", Tone::Bad)],
            vec!["1000".into(), "漢字かな".into(), "".into(), "a\n\x1b[31mb".into()],
        ],
        are_examples: false,
    }
}

fn rendered(width: usize) -> String {
    table().render(&Screen { width: Some(width), color: false, ..Screen::default() })
}

#[test]
fn a_narrow_one_shrinks_then_drops() {
    let cases = [
        (80, "  ID  KIND      OWNER\n  42  SendMail  web1:4211\n1000  漢字かな  a\\n\\x1b[31mb\n"),
        (24, "  ID  KIND      OWNER\n  42  SendMail  web1…211\n1000  漢字かな  a\\n\\…1mb\n"),
        (20, "  ID  KIND    OWNER\n  42  SendM…  web…11\n1000  漢字…   a\\n…mb\n"),
        (12, "  ID  OWNER\n  42  web…11\n1000  a\\n…mb\n"),
        (4, "  ID\n  42\n1000\n"),
        (3, " ID\n 42\n10…\n"),
    ];
    for (width, shown) in cases {
        assert_eq!(rendered(width), shown, "in {width}");
    }
}

#[test]
fn what_says_nothing_is_left_out_and_told() {
    let mut table = table();
    table.columns[1].importance = 3;
    table.rows = vec![vec!["1".into(), "SendMail".into(), "-".into(), "web1".into()]; 3];
    let left_out = |table: &Table, width| {
        let mut page = Page::default();
        page.table("", table, &Screen { width: Some(width), ..Screen::default() });
        page.left_out()
    };
    let told = "columns left out: KIND (always SendMail), NOTE (empty)";
    assert_eq!(left_out(&table, 80).as_deref(), Some(told));
    assert_eq!(left_out(&table, 3), Some(format!("{told}, OWNER")));
    table.rows[0][1] = "Resize".into();
    assert_eq!(left_out(&table, 80), None, "an empty column is nothing to tell of");
    table.rows.truncate(1);
    table.rows[0][2] = "!".into();
    assert_eq!(left_out(&table, 80), None);
}

#[test]
fn breaks_between_words_where_there_are_any() {
    let cases: [(&str, usize, &[&str]); 9] = [
        ("", 5, &[""]),
        ("lease", 5, &["lease"]),
        ("lease expired 13m ago", 13, &["lease expired", "13m ago"]),
        ("lease expired 13m ago", 12, &["lease", "expired 13m", "ago"]),
        ("a  b", 2, &["a ", "b"]),
        ("  indented", 6, &["  inde", "nted"]),
        ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
        ("漢字かな", 3, &["漢", "字", "か", "な"]),
        ("漢字", 1, &["漢", "字"]),
    ];
    for (text, cells, lines) in cases {
        assert_eq!(wrap(text, cells), lines, "{text:?} in {cells}");
    }
}

#[test]
fn count_agrees_with_its_noun() {
    let cases = [
        (0, "0 jobs"),
        (1, "1 job"),
        (2, "2 jobs"),
        (999, "999 jobs"),
        (1000, "1,000 jobs"),
        (12_345, "12,345 jobs"),
        (u64::MAX, "18,446,744,073,709,551,615 jobs"),
    ];
    for (n, words) in cases {
        assert_eq!(count(n, "job", "jobs"), words);
    }
}

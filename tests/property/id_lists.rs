//! Lists of job ids: one id a line, or lines of `-o jsonl`.

use jobdoctor::cli::parse_id_list;

#[test]
fn ids_are_read_one_a_line() {
    let cases: [(&str, &[&str]); 9] = [
        ("\u{feff}42\r\n43", &["42", "43"]),
        ("{a}\n{\"b\":1}\n7", &["{a}", "{\"b\":1}", "7"]),
        ("7\n{\"type\":\"job\",\"id\":\"8\"}", &["7", "{\"type\":\"job\",\"id\":\"8\"}"]),
        (" 42 \n", &[" 42 "]),
        ("", &[]),
        ("\n \n", &[]),
        ("42\r\n7\n42\n", &["42", "7"]),
        ("web1/42\n", &["web1/42"]),
        (
            "{\"type\":\"head\",\"schema\":\"jobdoctor.stale/v1\"}\n{\"type\":\"job\",\"id\":\"42\",\"x\":1}\n\
             {\"type\":\"unknown\",\"id\":\"43\"}\n{\"type\":\"summary\",\"stuck\":1}\n",
            &["42"],
        ),
    ];
    for (text, ids) in cases {
        assert_eq!(parse_id_list(text).unwrap(), ids, "{text:?}");
    }
}

#[test]
fn other_lines_are_refused_with_their_number() {
    assert_eq!(parse_id_list("{\"type\":\"job\",\"id\":\"42\"}\n{\"type\":\"jo\n").unwrap_err().0, 2);
    assert_eq!(parse_id_list("{\n  \"schema\": \"jobdoctor.stale/v1\"\n}").unwrap_err().0, 1);
    assert_eq!(parse_id_list("{\"schema\":\"jobdoctor.stale/v1\"}").unwrap_err().0, 1);
    assert_eq!(parse_id_list("{\"type\":\"job\"}").unwrap_err(), (1, "the job in it has no id".to_owned()));
}

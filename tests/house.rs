//! Figures of the structure of `src/`: each may fall, and none may rise. Braces are counted, once strings and comments are
//! blanked.

use regex_lite::Regex;
use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

/// The text without the insides of comments, texts and characters, lines kept.
fn blank(text: &str) -> String {
    let skipped =
        Regex::new(r##"(?s)//[^\n]*|/\*.*?\*/|\bb?r"[^"]*"|\bb?r#".*?"#|"(?:\\.|[^"\\])*"|'(?:\\[^']*|[^\\'])'"##)
            .unwrap();
    let blanked = |found: &regex_lite::Captures<'_>| found[0].replace(|c: char| c != '\n', " ");
    skipped.replace_all(text, blanked).into_owned()
}

/// The place behind the bracket that closes the one at `from`.
fn end(code: &str, from: usize, brackets: (u8, u8)) -> usize {
    let mut depth = 0;
    for (n, byte) in code.bytes().enumerate().skip(from) {
        let is_arrow = n > 0 && b"-=".contains(&code.as_bytes()[n - 1]) && byte == b'>';
        depth += i32::from(byte == brackets.0) - i32::from(byte == brackets.1 && !is_arrow);
        if depth == 0 {
            return n + 1;
        }
    }
    code.len()
}

/// The parameters of a function besides `self`.
fn parameters(list: &str) -> Vec<&str> {
    let (mut depth, mut from, mut all) = (0, 0, Vec::new());
    for (n, c) in list.char_indices() {
        let is_arrow = c == '>' && list[..n].ends_with(['-', '=']);
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' if !is_arrow => depth -= 1,
            ',' if depth == 0 => {
                all.push(list[from..n].trim());
                from = n + 1;
            }
            _ => {}
        }
    }
    all.push(list[from..].trim());
    let is_self = Regex::new(r"^(&\s*)?('\w+\s+)?(mut\s+)?self(\s*:.*)?$").unwrap();
    all.retain(|parameter| !parameter.is_empty() && !is_self.is_match(parameter));
    all
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Figures {
    lines: usize,
    long_functions: usize,
    longest: usize,
    five_parameters: usize,
    tuple_parameters: usize,
    reader_methods: usize,
    files_that_judge: usize,
    sql_outside_store: usize,
}

impl AddAssign for Figures {
    fn add_assign(&mut self, of: Figures) {
        self.lines += of.lines;
        self.long_functions += of.long_functions;
        self.longest = self.longest.max(of.longest);
        self.five_parameters += of.five_parameters;
        self.tuple_parameters += of.tuple_parameters;
        self.reader_methods += of.reader_methods;
        self.files_that_judge += of.files_that_judge;
        self.sql_outside_store += of.sql_outside_store;
    }
}

/// Of a file at that path below `src/`.
fn of_file(path: &str, source: &str) -> Figures {
    let mut figures = Figures { lines: source.lines().count(), ..Figures::default() };
    let without_tests = |text: &str| text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
    let code = without_tests(&blank(source));
    for function in Regex::new(r"\bfn\s+\w+").unwrap().find_iter(&code) {
        let rest = &code[function.end()..];
        let behind = if rest.starts_with('<') { end(&code, function.end(), (b'<', b'>')) } else { function.end() };
        let Some(open) = code[behind..].find('(').map(|at| behind + at) else { continue };
        let closed = end(&code, open, (b'(', b')'));
        let parameters = parameters(&code[open + 1..closed - 1]);
        figures.five_parameters += usize::from(parameters.len() >= 5);
        figures.tuple_parameters += parameters.iter().filter(|parameter| parameter.starts_with('(')).count();
        let Some(body) = code[closed..].find(['{', ';']).map(|at| closed + at) else { continue };
        if code.as_bytes()[body] == b'{' {
            let size = code[function.start()..end(&code, body, (b'{', b'}'))].matches('\n').count() + 1;
            figures.long_functions += usize::from(size >= 60);
            figures.longest = figures.longest.max(size);
        }
    }
    if path == "store/port.rs" {
        let reader = code.find("trait Reader").map(|at| at + code[at..].find('{').unwrap_or_default());
        let methods = reader.map(|at| &code[at..end(&code, at, (b'{', b'}'))]).unwrap_or_default();
        figures.reader_methods = Regex::new(r"\bfn\s+\w+").unwrap().find_iter(methods).count();
    }
    let judges = Regex::new(r"\bjudge\(").unwrap();
    figures.files_that_judge = usize::from(path.starts_with("ops/") && judges.is_match(&code));
    if ["ops/", "cli/", "output/", "policy/", "history/", "preset/"].iter().any(|layer| path.starts_with(layer)) {
        let statement = Regex::new(r"^\s*(SELECT|UPDATE|INSERT|DELETE|WITH|EXPLAIN|SHOW|SET)\s[A-Z_a-z{(*]").unwrap();
        let texts = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
        let code = without_tests(source);
        let texts = texts.captures_iter(&code).filter(|text| text[1].len() > 18 && statement.is_match(&text[1]));
        figures.sql_outside_store = texts.count();
    }
    figures
}

fn sources(directory: &Path, each: &mut dyn FnMut(PathBuf)) {
    for entry in fs::read_dir(directory).expect("a folder of the source").flatten() {
        match entry.path() {
            path if path.is_dir() => sources(&path, each),
            path if path.extension().is_some_and(|extension| extension == "rs") => each(path),
            _ => {}
        }
    }
}

/// What they are. A change that lowers one lowers it here.
const MOST: Figures = Figures {
    lines: 60_095,
    long_functions: 14,
    longest: 110,
    five_parameters: 54,
    tuple_parameters: 1,
    reader_methods: 14,
    files_that_judge: 1,
    sql_outside_store: 3,
};

#[test]
fn no_figure_rises() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut figures = Figures::default();
    sources(&src, &mut |path| {
        let below = path.strip_prefix(&src).expect("a file below src").display().to_string();
        figures += of_file(&below, &fs::read_to_string(&path).expect("a source file"));
    });
    let pairs = [
        (figures.lines, MOST.lines),
        (figures.long_functions, MOST.long_functions),
        (figures.longest, MOST.longest),
        (figures.five_parameters, MOST.five_parameters),
        (figures.tuple_parameters, MOST.tuple_parameters),
        (figures.reader_methods, MOST.reader_methods),
        (figures.files_that_judge, MOST.files_that_judge),
        (figures.sql_outside_store, MOST.sql_outside_store),
    ];
    assert!(pairs.iter().all(|(now, most)| now <= most), "{figures:#?} of {MOST:#?}");
}

/// The mutant: each figure of a source that has one of its kind.
#[test]
fn what_is_counted() {
    let long =
        format!("fn f<T: Fn(u8) -> u8>(&self, (a, b): (u8, T), c: u8, d: u8, e: u8, g: u8) {{{}}}", "\n".repeat(60));
    let source = format!("{long}\n// fn g((a, b): (u8, u8))\nfn h() {{ judge(\"SELECT a, b FROM jobs AS j\"); }}\n");
    let expected = Figures {
        lines: 63,
        long_functions: 1,
        longest: 61,
        five_parameters: 1,
        tuple_parameters: 1,
        files_that_judge: 1,
        sql_outside_store: 1,
        ..Figures::default()
    };
    assert_eq!(of_file("ops/f.rs", &source), expected);
    let port = "pub trait Reader {\n    fn a(&self);\n    fn b(&mut self);\n}\ntrait Other { fn c(); }";
    assert_eq!(of_file("store/port.rs", port).reader_methods, 2);
}

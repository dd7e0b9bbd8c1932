//! Figures of the structure of `src/`: each may fall, and none may rise. Braces are counted, once strings and comments are
//! blanked.

use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet};
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
    circles: usize,
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

/// The paths of `use a::{b, c::d as e};`, without what stands before the braces repeated by hand.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, list)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let (mut depth, mut all) = (0, vec![String::new()]);
    for c in list.trim_end().trim_end_matches('}').chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match all.last_mut() {
            Some(one) if c != ',' || depth > 0 => one.push(c),
            _ => all.push(String::new()),
        }
    }
    let within = all.iter().filter(|one| !one.trim().is_empty());
    within.flat_map(|one| paths(&format!("{}{}", before.trim(), one.trim()))).collect()
}

/// The modules of a path as seen from one of them.
fn absolute(module: &[String], path: &str, modules: &BTreeMap<Vec<String>, String>) -> Option<Vec<String>> {
    let mut base = module.to_vec();
    let mut parts = path.split("::").map(str::to_owned).peekable();
    match parts.peek().map(String::as_str)? {
        "crate" => base.clear(),
        "self" | "super" => {}
        first if modules.contains_key(&[module, &[first.to_owned()]].concat()) => base.push(parts.next()?),
        _ => return None,
    }
    for part in parts {
        match part.as_str() {
            "crate" | "self" => {}
            "super" => drop(base.pop()),
            _ => base.push(part),
        }
    }
    Some(base)
}

/// How many circles the imports of these modules make: groups of files that reach each other. What a file takes from the
/// face of its own folder (`mod.rs`) is no arrow, and a name is followed to the file below the face that defines it.
fn circles(modules: &BTreeMap<Vec<String>, String>) -> usize {
    let definition = Regex::new(r"\b(?:struct|enum|trait|type|fn|const|static)\s+(\w+)").unwrap();
    let defined: BTreeMap<&Vec<String>, BTreeSet<&str>> = modules
        .iter()
        .map(|(module, code)| {
            (module, definition.captures_iter(code).map(|one| one.get(1).unwrap().as_str()).collect())
        })
        .collect();
    let imports = Regex::new(r"(?m)^\s*use\s+([^;]+);").unwrap();
    let mut arrows: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> = BTreeMap::new();
    for (module, code) in modules {
        let trees = imports.captures_iter(code).flat_map(|found| paths(&found[1].replace('\n', " ")));
        for path in trees.filter_map(|path| absolute(module, &path, modules)) {
            let Some(face) = (0..path.len()).rev().map(|n| path[..n].to_vec()).find(|face| modules.contains_key(face))
            else {
                continue;
            };
            let name = path[face.len()].as_str();
            let mut definers = defined.iter().filter(|(of, names)| of.starts_with(&face) && names.contains(name));
            let definer = definers.by_ref().map(|(of, _)| *of).min_by_key(|of| of.len());
            if let Some(definer) = definer.filter(|of| !modules.contains_key(&path) && !module.starts_with(of)) {
                arrows.entry(module).or_default().insert(definer);
            }
        }
    }
    let reached = |from: &Vec<String>| {
        let (mut seen, mut next) = (BTreeSet::new(), arrows.get(from).cloned().unwrap_or_default());
        while let Some(one) = next.pop_first() {
            if seen.insert(one) {
                next.extend(arrows.get(one).into_iter().flatten());
            }
        }
        seen
    };
    let reach: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> =
        arrows.keys().map(|from| (*from, reached(from))).collect();
    let circle = |of: &Vec<String>| -> BTreeSet<&Vec<String>> {
        let back = |to: &&&Vec<String>| reach.get(**to).is_some_and(|reached| reached.contains(of));
        reach[of].iter().filter(back).copied().collect()
    };
    let all: BTreeSet<BTreeSet<&Vec<String>>> =
        arrows.keys().map(|of| circle(of)).filter(|one| one.len() > 1).collect();
    all.len()
}

/// What they are. A change that lowers one lowers it here.
const MOST: Figures = Figures {
    lines: 59_158,
    long_functions: 13,
    longest: 110,
    five_parameters: 54,
    tuple_parameters: 1,
    reader_methods: 14,
    files_that_judge: 1,
    sql_outside_store: 3,
    circles: 8,
};

#[test]
fn no_figure_rises() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut figures, mut modules) = (Figures::default(), BTreeMap::new());
    sources(&src, &mut |path| {
        let below = path.strip_prefix(&src).expect("a file below src").display().to_string();
        let source = fs::read_to_string(&path).expect("a source file");
        figures += of_file(&below, &source);
        let module = below.trim_end_matches(".rs").split('/').filter(|part| !["mod", "lib"].contains(part));
        modules.insert(module.map(str::to_owned).collect::<Vec<_>>(), blank(&source));
    });
    figures.circles = circles(&modules);
    let pairs = [
        (figures.lines, MOST.lines),
        (figures.long_functions, MOST.long_functions),
        (figures.longest, MOST.longest),
        (figures.five_parameters, MOST.five_parameters),
        (figures.tuple_parameters, MOST.tuple_parameters),
        (figures.reader_methods, MOST.reader_methods),
        (figures.files_that_judge, MOST.files_that_judge),
        (figures.sql_outside_store, MOST.sql_outside_store),
        (figures.circles, MOST.circles),
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

/// The mutant: two files that import each other, one of them through the face of its folder.
#[test]
fn a_circle_is_counted() {
    let modules = |of_b: &str| {
        let module = |path: &str, code: &str| (path.split('/').map(str::to_owned).collect::<Vec<_>>(), code.to_owned());
        let face = module("b", "mod c;\npub use c::{C, D};");
        let a = module("a", "use crate::b::{C as Other, E};\npub struct A;");
        BTreeMap::from([a, face, module("b/c", &format!("{of_b}\npub struct C;\npub struct D;"))])
    };
    assert_eq!(circles(&modules("use super::Face;\nuse crate::x::{y::{Z}, A};")), 0);
    assert_eq!(circles(&modules("use crate::{x::{y::{Z}}, a::A};")), 1);
}

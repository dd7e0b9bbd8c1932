//! What was written down about a stage, compared with what was played.

use std::fs;
use std::path::Path;

pub fn compare(path: &Path, played: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "a test is asked to bless through the environment")]
    let bless = std::env::var_os("JOBDOCTOR_BLESS").is_some();
    if bless {
        fs::write(path, played).expect("write the outcome");
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    if written == played {
        return String::new();
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let mut scene = "";
    for (line, (a, b)) in written.lines().chain(std::iter::repeat("")).zip(played.lines()).enumerate() {
        if let Some(name) = b.strip_prefix("== ") {
            scene = name;
        }
        if a != b {
            return format!("{file} line {}, scene {scene}:\n  written: {a}\n  played:  {b}", line + 1);
        }
    }
    format!("{file}: more is written than was played")
}

//! Runs every block of the page.

use super::bench::Bench;
use super::block::{Block, blocks, page, path};
use super::redact::redact;
use std::fs::{self, metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Ages are whole seconds, so a run in which the second turns over differs; the next one will not.
const TRIES: usize = 20;

#[test]
fn every_block_is_understood_and_true() {
    #[expect(clippy::disallowed_methods, reason = "JOBDOCTOR_BLESS=1 writes what the program says into the page")]
    let bless = std::env::var_os("JOBDOCTOR_BLESS").is_some();
    let mut wrong = Vec::new();
    let mut page: Vec<String> = page().lines().map(str::to_owned).collect();
    // From the end, so that lines keep their numbers while blocks before them change.
    for block in blocks().into_iter().rev() {
        match truth(&block) {
            Ok(Some(real)) if bless => {
                let lines = block.text.lines().count();
                page.splice(block.line..block.line + lines, real.lines().map(str::to_owned));
            }
            Ok(Some(real)) => wrong.push(format!("line {}: really, it is\n{real}", block.line)),
            Ok(None) => {}
            Err(why) => wrong.push(format!("line {}, `{}`: {why}", block.line, block.title())),
        }
    }
    if bless {
        fs::write(path(), format!("{}\n", page.join("\n"))).expect("write README.md");
    }
    wrong.reverse();
    assert!(wrong.is_empty(), "README.md is not true.\n\n{}", wrong.join("\n\n"));
}

/// Nothing where the block is true, what it should be where it shows an output that is another one.
fn truth(block: &Block) -> Result<Option<String>, String> {
    let words: Vec<&str> = block.words.iter().map(String::as_str).collect();
    match (block.language.as_str(), words.as_slice()) {
        ("console", _) => session(block),
        ("sh", ["cargo"]) => block.text.lines().try_for_each(from_source).map(|()| None),
        ("sh", [_, ..]) => Bench::with(&block.words)?.say(&block.text).map(|_| None),
        ("text", ["crontab"]) => block.text.lines().try_for_each(cron).map(|()| None),
        ("ini", ["unit"]) => unit(&block.text).map(|()| None),
        ("toml", ["config"]) => Bench::with(&block.words)?.say("jobdoctor presets | grep orders").map(|_| None),
        // Run with those that need them, in the other files.
        ("sql", ["shop" | "roles"] | ["worker", "sqlite" | "postgres"] | ["grants", "lease" | "procrastinate"]) => {
            Ok(None)
        }
        _ => Err("nobody knows what to do with it: say so behind its language".to_owned()),
    }
}

/// Commands behind `$ `, each followed by what it prints.
fn session(block: &Block) -> Result<Option<String>, String> {
    let mut real = String::new();
    for _ in 0..TRIES {
        let bench = Bench::with(&block.words)?;
        real = String::new();
        for command in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            real.push_str(&format!("$ {command}\n{}", bench.say(command)?));
        }
        if redact(&real) == redact(&block.text) {
            return Ok(None);
        }
    }
    Ok(Some(real))
}

/// What a reader types in a copy of the repository: that it is there, and the program that it would build and run.
fn from_source(line: &str) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if let Some(arguments) = line.strip_prefix("cargo run --release -- ") {
        return Bench::new().say(&format!("jobdoctor {arguments}")).map(|_| ());
    }
    let is_there = match line {
        "cargo install --path . --locked" => root.join("Cargo.lock").exists(),
        "tests/run" => metadata(root.join(line)).is_ok_and(|file| file.permissions().mode() & 0o111 == 0o111),
        _ => return Err(format!("nobody knows how to check `{line}`")),
    };
    if is_there { Ok(()) } else { Err(format!("`{line}` would not work")) }
}

/// Five fields of time, then a command; run from cron it must be silent, or somebody gets a mail. The first run may say what
/// it did.
fn cron(line: &str) -> Result<(), String> {
    let command = line.splitn(6, ' ').nth(5).ok_or("a line of a crontab has six fields")?.trim();
    let bench = Bench::with(&["config".to_owned()])?;
    bench.say(command)?;
    let said = bench.say(command)?;
    if said.is_empty() { Ok(()) } else { Err(format!("cron would mail this every minute: {said}")) }
}

/// The command before the worker's own, with the unit's environment.
fn unit(text: &str) -> Result<(), String> {
    let bench = Bench::with(&["postgres".to_owned()])?;
    let value = |key| text.lines().find_map(|line| line.strip_prefix(key)).ok_or(format!("the unit has no {key}"));
    let (environment, before) = (value("Environment=")?, value("ExecStartPre=")?);
    bench.say(&format!("export {environment}\n{}", before.replace("%H", "\"$(hostname)\""))).map(|_| ())
}

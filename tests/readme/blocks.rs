//! Runs every block of the pages.

use super::bench::Bench;
use super::block::{Block, PAGES, WRITING, blocks_of, path, text, text_of};
use super::redact::redact;
use super::session::Session;
use crate::support::ages::Aged;
use std::fs::{self, metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

#[test]
fn every_block_is_understood_and_true() {
    #[expect(clippy::disallowed_methods, reason = "JOBDOCTOR_BLESS=1 writes what the program says into the pages")]
    let bless = std::env::var_os("JOBDOCTOR_BLESS").is_some();
    let _writing = bless.then(|| WRITING.lock());
    let wrong: Vec<String> = PAGES.into_iter().flat_map(|page| untrue(page, bless)).collect();
    assert!(wrong.is_empty(), "The pages are not true.\n\n{}", wrong.join("\n\n"));
}

/// What is wrong with a page.
fn untrue(name: &'static str, bless: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut page: Vec<String> = text(name).lines().map(str::to_owned).collect();
    let sessions = sessions(blocks_of(name));
    // In their order, so that the times of a page belong together.
    let truths: Vec<_> = sessions.iter().map(|blocks| truth(blocks, bless)).collect();
    // From the end, so that lines keep their numbers while blocks before them change.
    for (blocks, truth) in sessions.into_iter().zip(truths).rev() {
        match truth {
            Ok(real) => {
                for (block, real) in blocks.iter().zip(real).rev() {
                    match real {
                        Some(real) if bless => {
                            let lines = block.text.lines().count();
                            page.splice(block.line..block.line + lines, real.lines().map(str::to_owned));
                        }
                        Some(real) => wrong.push(format!("{name}, line {}: really, it is\n{real}", block.line)),
                        None => {}
                    }
                }
            }
            Err(why) => wrong.push(format!("{name}, line {}, `{}`: {why}", blocks[0].line, blocks[0].title())),
        }
    }
    if bless {
        fs::write(path(name), format!("{}\n", page.join("\n"))).unwrap_or_else(|error| panic!("write {name}: {error}"));
    }
    wrong.reverse();
    wrong
}

/// A block whose last word is `then` goes on where the one before it ended.
fn sessions(blocks: Vec<Block>) -> Vec<Vec<Block>> {
    let mut sessions: Vec<Vec<Block>> = Vec::new();
    for block in blocks {
        match sessions.last_mut() {
            Some(session) if block.goes_on() => session.push(block),
            _ => sessions.push(vec![block]),
        }
    }
    sessions
}

/// For each block of a session: nothing where it is true, what it should be where it shows an output that is another one.
fn truth(blocks: &[Block], bless: bool) -> Result<Vec<Option<String>>, String> {
    let block = &blocks[0];
    if block.language == "console" {
        return session(blocks, bless);
    }
    if blocks.len() > 1 {
        return Err(format!("line {} cannot go on from there", blocks[1].line));
    }
    let words: Vec<&str> = block.words.iter().map(String::as_str).collect();
    match (block.language.as_str(), words.as_slice()) {
        ("sh", ["tell"]) => tell(&block.text),
        ("sh", ["cargo"]) => block.text.lines().try_for_each(from_source),
        // Run by packaging/try, on what is released; tests/packaging.rs sees to it that none is left out.
        ("sh", ["install", _]) => Ok(()),
        ("sh", [_, ..]) => Bench::with(&block.words)?.say(&block.text).map(|_| ()),
        ("text", ["crontab"]) => block.text.lines().try_for_each(cron),
        ("text", ["crontab", "ping"]) => {
            let bench = Bench::with(&["config".to_owned()])?;
            bench.program("curl", "touch pinged");
            block.text.lines().try_for_each(|line| cron_in(&bench, line))?;
            bench.say("ls pinged").map(|_| ())
        }
        ("text", ["crontab", "metrics"]) => block.text.lines().try_for_each(metrics),
        ("text", ["plugin", _]) => plugin(&block.text),
        // Read by Prometheus' own reader, in tests/metrics.
        ("yaml", ["rules"]) => Ok(()),
        ("ini", ["service"]) => service(&block.text),
        ("text", ["commands"]) => commands(&block.text),
        ("toml", ["config"]) => Bench::with(&block.words)?.say("jobdoctor presets | grep orders").map(|_| ()),
        ("toml", ["written"]) => match written()? {
            written if written == block.text => Ok(()),
            written => return Ok(vec![Some(written)]),
        },
        // The same file is acted out in tests/sweeps.
        ("toml", ["scheduler"]) => match block.text == include_str!("../../fixtures/scheduler/config.toml") {
            true => Ok(()),
            false => Err("it is not fixtures/scheduler/config.toml".to_owned()),
        },
        ("toml", ["shape", _]) => Ok(()),
        // Run with those that need them, in the other files.
        (
            "sql",
            ["shop" | "roles" | "scheduler" | "close"]
            | ["worker", "sqlite" | "postgres"]
            | ["grants", "lease" | "procrastinate"]
            | ["look" | "act" | "shape", _],
        ) => Ok(()),
        _ => Err("nobody knows what to do with it: say so behind its language".to_owned()),
    }?;
    Ok(vec![None])
}

/// What `adopt --write` writes for the commands of the page, without its comments.
fn written() -> Result<String, String> {
    let bench = Bench::with(&["shop".to_owned()])?;
    bench.say(&text_of("sh shop"))?;
    let config = bench.config_file();
    let lines = config.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let (work, plain) = (bench.work(), lines.trim_start().replace("\n\n\n", "\n\n"));
    Ok(format!("{}\n", plain.replace(&work.display().to_string(), "/srv/app").trim_end()))
}

/// Commands behind `$ `, each followed by what it prints; all of it if all is written anew.
fn session(blocks: &[Block], anew: bool) -> Result<Vec<Option<String>>, String> {
    let began = Instant::now();
    let mut session = Session::on(Bench::with(&blocks[0].words)?);
    blocks
        .iter()
        .map(|block| {
            let said = session.play(block, anew).map_err(|why| format!("line {}: {why}", block.line))?;
            let compared = |text: &str| Aged::of(&redact(text));
            let is_true = compared(&said).is_like(&compared(&block.text), began.elapsed().as_secs());
            Ok((anew || !is_true).then_some(said))
        })
        .collect()
}

/// What a reader types in a copy of the repository: that it is there, and the program that it would build and run.
fn from_source(line: &str) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if let Some(arguments) = line.strip_prefix("cargo run --profile quick -- ") {
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
    cron_in(&Bench::with(&["config".to_owned()])?, line)
}

fn cron_in(bench: &Bench, line: &str) -> Result<(), String> {
    let command = line.splitn(6, ' ').nth(5).ok_or("a line of a crontab has six fields")?.trim();
    bench.say(command)?;
    let said = bench.say(command)?;
    if said.is_empty() { Ok(()) } else { Err(format!("cron would mail this every minute: {said}")) }
}

/// The same of a command that keeps metrics in node_exporter's directory, which this machine need not have.
fn metrics(line: &str) -> Result<(), String> {
    let bench = Bench::with(&["config".to_owned()])?;
    let directory = bench.work().join("metrics");
    fs::create_dir(&directory).map_err(|error| error.to_string())?;
    cron_in(&bench, &line.replace("/var/lib/prometheus/node-exporter", "metrics"))?;
    let files = fs::read_dir(&directory).map_err(|error| error.to_string())?.flatten();
    let names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    if matches!(names.as_slice(), [name] if name.ends_with(".prom")) {
        Ok(())
    } else {
        Err(format!("it leaves {names:?}"))
    }
}

/// A program for `on_run`: it hands over JSON.
fn tell(script: &str) -> Result<(), String> {
    let bench = Bench::with(&["demo".to_owned()])?;
    bench.program("tell", script);
    bench.program("curl", "cat >\"$HOME/body\"");
    bench.say("printf '[target.t]\\ndb = \"demo.db\"\\non_run = [\"%s\"]\\n' \"$(command -v tell)\" >c.toml")?;
    bench.say("jobdoctor reclaim --apply --config c.toml --target t && jq -e . \"$HOME/body\"").map(|_| ())
}

/// The configuration of a monitoring system: what it runs must find something, and understand its own arguments.
fn plugin(text: &str) -> Result<(), String> {
    let plain = text.replace(['"', ',', '[', ']'], "").replace("silence=", ",silence=").replace(" ,", " ");
    let command = plain.lines().find_map(|line| line.find("jobdoctor health").and_then(|at| line.get(at..)));
    let command = command.ok_or("it runs no `jobdoctor health`")?;
    let said = Bench::with(&["config".to_owned()])?.run(command);
    let line = String::from_utf8_lossy(&said.stdout).into_owned();
    let is_found = matches!(said.status.code(), Some(0..=2)) && line.contains(" | 'stuck'=");
    if is_found { Ok(()) } else { Err(format!("{command}: {}: {line}", said.status)) }
}

/// The environment of a unit, as lines of a shell. Without a HOME: systemd sets none where no user is named.
fn environment(text: &str) -> Result<String, String> {
    let variables = text.lines().filter_map(|line| line.strip_prefix("Environment="));
    let lines: String =
        variables.map(|variable| format!("export {}\n", variable.replace("%S", "$HOME/state"))).collect();
    let directory = text.lines().find_map(|line| line.strip_prefix("StateDirectory="));
    let directory = directory.ok_or("nobody makes the state directory")?;
    Ok(format!("{lines}mkdir -p \"$HOME/state/{directory}\"\nunset HOME\n"))
}

/// What it remembers is in the directory that the unit has.
fn keeps(bench: &Bench, what: &str) -> Result<(), String> {
    let kept = bench.say("ls \"$HOME\"/state/*")?;
    if kept.lines().any(|line| line == what) { Ok(()) } else { Err(format!("it keeps no {what}: {kept}")) }
}

/// The service of a timer, twice: the second run stands back, which the unit says is success.
fn service(text: &str) -> Result<(), String> {
    let bench = Bench::with(&["postgres".to_owned()])?;
    let value = |key| text.lines().find_map(|line| line.strip_prefix(key)).ok_or(format!("the unit has no {key}"));
    let (success, command) = (value("SuccessExitStatus=")?, value("ExecStart=")?.trim_start_matches("/usr/local/bin/"));
    let said = bench.say(&format!("{}{command}\n{command} || [ $? -eq {success} ]", environment(text)?))?;
    if !said.contains("keeps the next sweep off") {
        return Err(format!("the second one did not stand back: {said}"));
    }
    ["journal", "locks"].into_iter().try_for_each(|what| keeps(&bench, what))
}

/// Each command line of a Procfile, in a shell, with the programs that it stands before.
fn commands(text: &str) -> Result<(), String> {
    text.lines().try_for_each(|line| {
        let (_, line) = line.split_once(": ").ok_or("a line of a Procfile has a name")?;
        let bench = Bench::with(&["pods".to_owned()])?;
        bench.worker();
        bench.say(line).map(|_| ())
    })
}

/// What cron mails of it: not that it stood back, but every failure, and a death without a word.
#[test]
fn the_wrapper_of_cron_keeps_the_status() {
    let script = super::block::text_of("sh incident wrapper");
    for (ends, status, mailed) in [
        ("exit 0", 0, ""),
        ("echo moved; exit 0", 0, "moved"),
        ("echo held >&2; exit 75", 0, ""),
        ("exit 3", 3, ""),
        ("echo 'error: no' >&2; exit 69", 69, "error: no"),
        ("kill -9 $$", 137, "exited with 137"),
    ] {
        let bench = Bench::new();
        bench.program("jobdoctor", ends);
        let ran = bench.run(&script);
        let out = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(ran.status.code(), Some(status), "{ends}: {out}");
        assert!(if mailed.is_empty() { out.is_empty() } else { out.contains(mailed) }, "{ends}: {out}");
    }
}

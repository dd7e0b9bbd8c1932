//! Real shells on a terminal: what a person types, with the tabulator key, and the words that the command then gets.

use super::scene;
use crate::support::cli::{Doctor, until};
use crate::support::pty::{On, OnTerminal};
use insta::assert_snapshot;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What is typed, the key as `⇥`.
const LINES: [&str; 7] = [
    "jobdoctor rec⇥--to req⇥",
    "jobdoctor stale --target sh⇥",
    "jobdoctor --target shop stale --queue med⇥",
    "jobdoctor undo 20⇥",
    "jobdoctor reclaim --target shop --owner media1:⇥",
    "jobdoctor help exit⇥",
    // A queue that is called `x$(touch pwned)`.
    "jobdoctor stale --db hostile.db --queue x⇥",
];

/// Shows its words instead of running, unless a completion asks it.
const FUNCTION: &str = "jobdoctor() {
    if [ -n \"${JOBDOCTOR_COMPLETE-}\" ]; then command jobdoctor \"$@\"; else printf 'GOT'; printf ' <%s>' \"$@\"; echo ' END'; fi
}\n";
const FISH_FUNCTION: &str = "function jobdoctor
    if set -q JOBDOCTOR_COMPLETE; command jobdoctor $argv; else; printf 'GOT'; printf ' <%s>' $argv; echo ' END'; end
end\n";

/// A shell in the scene, with its start file; what is typed in it.
fn transcript(shell: &str, arguments: &[&str], start_file: &str, start: &str) -> String {
    let (doctor, run) = scene();
    doctor.run(&["demo", "hostile.db"]).exits(0);
    doctor.sql_in("hostile.db", "UPDATE jobs SET queue = 'x$(touch pwned)' WHERE id = 3");
    let script = doctor.run(&["completions", shell]).exits(0).stdout;
    fs::create_dir(doctor.path("functions")).unwrap();
    fs::write(doctor.path("functions/_jobdoctor"), &script).unwrap();
    fs::write(doctor.path("script"), script).unwrap();
    fs::write(doctor.path(start_file), start).unwrap();
    let terminal = OnTerminal::of(command(&doctor, shell, arguments), (200, 50), On::Both);
    let mut transcript = String::new();
    until("the prompt comes", || terminal.written().contains("READY"));
    for line in LINES {
        let unfinished = line.trim_end_matches('⇥').rsplit(['⇥', ' ']).next().unwrap();
        let mut words = String::new();
        // Again, while other tests keep the machine so busy that the program does not find them within its 200 ms.
        until(line, || {
            words = type_in(&terminal, line).replace(&run, "RUN");
            !words.ends_with(&format!("<{unfinished}>"))
        });
        transcript.push_str(&format!("{line}\n    {words}\n"));
    }
    assert!(!doctor.path("pwned").exists(), "{transcript}");
    transcript
}

fn type_in(terminal: &OnTerminal, line: &str) -> String {
    let begun = terminal.written().len();
    terminal.type_in(&format!("{}\r", line.replace('⇥', "\t")));
    let got = || {
        let written = terminal.written();
        let rest = written.get(begun..)?.split_once("GOT")?.1;
        Some(rest.split_once(" END")?.0.trim().to_owned())
    };
    until(line, || got().is_some());
    got().unwrap()
}

fn command(doctor: &Doctor, shell: &str, arguments: &[&str]) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_jobdoctor")).parent().unwrap();
    // With the terminal as its own, without which fish waits.
    let mut command = Command::new("setsid");
    command.args(["-c", shell]).args(arguments).env_clear().current_dir(doctor.path("")).env("HOME", doctor.home(""));
    command.env("ZDOTDIR", doctor.path("")).env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", program.display()));
    command
}

#[test]
fn bash() {
    let start = format!("source ./script\n{FUNCTION}PS1='READY '\n");
    assert_snapshot!(transcript("bash", &["--noprofile", "--rcfile", "start", "-i"], "start", &start));
}

/// The script as a file of `fpath`, where its first call must complete too.
#[test]
fn zsh() {
    let start =
        format!("fpath=($PWD/functions $fpath)\nautoload -Uz compinit\ncompinit -u -D\n{FUNCTION}PS1='READY '\n");
    assert_snapshot!(transcript("zsh", &["-d", "-i"], ".zshrc", &start));
}

#[test]
fn fish() {
    let start = format!("source ./script\n{FISH_FUNCTION}function fish_prompt; echo -n 'READY '; end\n");
    assert_snapshot!(transcript("fish", &["--no-config", "-i", "-C", "source start"], "start", &start));
}

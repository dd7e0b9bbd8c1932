//! `on_run`: a program gets what a run did, once, and cannot disturb it.

use crate::support::cli::{Ran, is_valid, until};
use crate::support::shop::Shop;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// A queue with a target whose `on_run` is this script.
fn reports_to(script: &str) -> Shop {
    let shop = Shop::empty_on_sqlite();
    let (path, work) = (shop.doctor.path("tell"), shop.doctor.path(""));
    fs::write(&path, format!("#!/bin/sh\ncd '{}'\n{script}\n", work.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!("[target.shop]\ndb = \"queue.db\"\non_run = [\"{}\", \"a b\"]\n", path.display());
    fs::write(shop.doctor.path("c.toml"), config).unwrap();
    shop
}

fn run(shop: &Shop, words: &[&str]) -> Ran {
    shop.doctor.run(&[words, &["--config", "c.toml", "--target", "shop"]].concat())
}

fn read(shop: &Shop, name: &str) -> Option<String> {
    fs::read_to_string(shop.doctor.path(name)).ok()
}

#[test]
fn it_gets_the_summary_and_nothing_else() {
    // The shell has opened its script; what it lists is its own, too.
    let shop = reports_to("echo \"$# $1\" >>args; env >vars; ls -l /proc/self/fd >fds; cat >document.json");
    shop.in_flight(1, 3, "'web1:' || n", 7200);
    for plan in [&["reclaim"][..], &["reclaim", "--dry-run=server"], &["sweep"], &["undo", "last"]] {
        run(&shop, plan);
        assert_eq!(read(&shop, "args"), None, "{plan:?} is only a plan");
    }
    run(&shop, &["check"]).exits(0).shows("gets the summary of each run");
    let opened = fs::File::open(shop.doctor.path("c.toml")).unwrap();
    let mut command = shop.doctor.command(&["reclaim", "--apply", "--config", "c.toml", "--target", "shop", "--json"]);
    command.stdin(opened);
    // Each variable that jobdoctor itself reads from is left out too.
    for name in jobdoctor::store::variables().map(|(name, _)| name).chain(["DATABASE_URL", "JOBDOCTOR_DB", "SECRET"]) {
        command.env(name, "queue.db");
    }
    let run_id =
        Ran::of(command.env("LANG", "C").env("PATH", "/usr/bin:/bin").output().unwrap()).exits(0).json()["run_id"]
            .clone();
    assert_eq!(read(&shop, "args").as_deref(), Some("1 a b\n"));
    let document: Value = serde_json::from_str(&read(&shop, "document.json").unwrap()).unwrap();
    is_valid("reclaim", &document);
    assert_eq!((&document["summary"]["outcomes"]["moved"], &document["steps"]), (&3.into(), &Value::Array(Vec::new())));
    let vars = read(&shop, "vars").unwrap();
    let mut names: Vec<&str> = vars.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    // These are the shell's own.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    assert_eq!(names, ["HOME", "JOBDOCTOR_RUN_ID", "LANG", "PATH"]);
    assert!(vars.contains(&format!("JOBDOCTOR_RUN_ID={}\n", run_id.as_str().unwrap())), "{vars}");
    // There is nothing to do: nobody is told.
    fs::remove_file(shop.doctor.path("args")).unwrap();
    run(&shop, &["sweep", "--apply"]).exits(0);
    assert_eq!(read(&shop, "args"), None);
    // What a guard refuses, somebody should know.
    shop.in_flight(4, 9, "'web1:' || n", 7200);
    run(&shop, &["sweep", "--apply", "--max-jobs", "2"]).exits(4);
    let document: Value = serde_json::from_str(&read(&shop, "document.json").unwrap()).unwrap();
    assert!(document["refused"].as_str().unwrap().contains("--max-jobs"), "{document}");
}

/// A shell opens descriptors that it leaves to its children; this one comes from the caller.
#[test]
fn it_inherits_no_descriptor() {
    let shop = reports_to("exec ls /proc/self/fd >fds");
    shop.in_flight(1, 3, "'web1:' || n", 7200);
    let program = env!("CARGO_BIN_EXE_jobdoctor");
    let script = format!("exec 7</dev/null; exec '{program}' reclaim --apply --config c.toml --target shop -q");
    let mut sh = std::process::Command::new("sh");
    let home = shop.doctor.home("").display().to_string();
    let ran = sh
        .args(["-c", &script])
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(shop.doctor.path(""));
    assert!(ran.output().unwrap().status.success());
    // The fourth is the listing's own.
    assert_eq!(read(&shop, "fds").as_deref(), Some("0\n1\n2\n3\n"));
}

#[test]
fn whatever_becomes_of_it_the_run_ends_as_it_would() {
    for (script, warning) in [
        ("exit 3", "ended with exit status: 3"),
        ("kill -9 $$", "ended with signal: 9"),
        ("sleep 600 & echo $! >child; exit 0", ""),
        ("sleep 600 & echo $! >child; trap '' TERM; sleep 600", "was ended after 10s"),
    ] {
        let shop = reports_to(script);
        shop.in_flight(1, 300, "'web1:' || n", 7200);
        let began = Instant::now();
        let ran = run(&shop, &["reclaim", "--apply", "--max-jobs", "999"]).exits(0);
        assert!(began.elapsed() < Duration::from_secs(60));
        assert_eq!(ran.stderr.contains("on_run: "), !warning.is_empty(), "{ran:#?}");
        assert!(ran.stderr.contains(warning), "{warning} in {ran:#?}");
        // What it has left behind ends with it.
        if let Some(child) = read(&shop, "child") {
            until("its child has ended", || {
                let stat = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
                stat.is_empty() || stat.contains(") Z ")
            });
        }
    }
}

/// It was done when the time was over: so it is said, and the program does not live on.
#[test]
fn a_hook_does_not_wait_for_it() {
    let shop = reports_to("echo $$ >child; exec sleep 600");
    shop.in_flight(1, 3, "'web1:' || n", 7200);
    let began = Instant::now();
    let ran = run(&shop, &["sweep", "--best-effort", "--timeout", "3s", "--apply", "-o", "json"]).exits(0);
    assert!(began.elapsed() < Duration::from_secs(5), "{ran:#?}");
    ran.says("would have ended with 0 (done)").says("on_run: ");
    assert_eq!(ran.json()["summary"]["outcomes"]["moved"], 3);
    let child = read(&shop, "child").unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{}", child.trim())).exists());
}

#[test]
fn a_program_that_is_missing_is_a_warning_and_a_relative_path_is_refused() {
    let shop = reports_to("exit 0");
    shop.in_flight(1, 3, "'web1:' || n", 7200);
    fs::remove_file(shop.doctor.path("tell")).unwrap();
    run(&shop, &["check"]).exits(0).shows("cannot be run: No such file");
    run(&shop, &["reclaim", "--apply"]).exits(0).says("cannot be run: No such file");
    for wrong in ["[\"tell\"]", "[]", "\"/bin/true\""] {
        fs::write(shop.doctor.path("c.toml"), format!("[target.shop]\ndb = \"queue.db\"\non_run = {wrong}\n")).unwrap();
        run(&shop, &["reclaim"]).exits(78).says("on_run");
    }
}

//! What people type by habit: options before the command, words of other tools, `-h`, `config path`, and waiting.

use super::scene::incident;
use crate::support::cli::{Doctor, each};
use std::fs;
use std::time::Duration;

#[test]
fn shared_options_may_stand_first() {
    let doctor = incident();
    let run = |line: &str| doctor.run(&line.split(' ').collect::<Vec<_>>());
    let behind = run("stale --db queue.db -o name").exits(0).stdout;
    assert_eq!(run("--db queue.db -o name stale").exits(0).stdout, behind);
    assert_eq!(run("-qoname --db=queue.db stale").exits(0).stdout, behind);
    // The printed command is complete.
    run("--db queue.db reclaim").exits(0).says("jobdoctor reclaim --db queue.db --expect");
    // A monitoring plugin stays one.
    assert!(run("--db gone.db health").exits(2).stdout.starts_with("JOBDOCTOR CRITICAL"));
    let before = fs::read(doctor.path("queue.db")).unwrap();
    run("--apply reclaim --db queue.db").exits(2);
    run("--db queue.db man").exits(2);
    assert_eq!(fs::read(doctor.path("queue.db")).unwrap(), before);
}

/// One screen: the program's own lists the commands too.
#[test]
fn the_short_help_is_one_screen() {
    let doctor = Doctor::new();
    for command in jobdoctor::cli::command().get_subcommands() {
        let said = doctor.run(&[command.get_name(), "-h"]).stdout;
        let examples = said.split("Examples:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        assert!(said.lines().count() <= 30 && examples.lines().count() <= 3, "{said}");
    }
    assert!(doctor.run(&["-h"]).exits(0).stdout.lines().count() <= 42);
}

#[test]
fn words_of_other_tools_are_answered() {
    let doctor = Doctor::new();
    for (line, answer) in [
        ("top", "jobdoctor stale --watch"),
        ("ls", "jobdoctor stale"),
        ("list", "jobdoctor stale"),
        ("ps", "jobdoctor owners"),
        ("workers", "jobdoctor owners"),
        ("describe", "`jobdoctor show` ID"),
        ("explain", "`jobdoctor show` ID"),
        ("retry", "jobdoctor reclaim"),
        ("version", "jobdoctor --version"),
        ("reclaim --yes", "--apply carries out a plan"),
        ("owners --since 5m", "jobdoctor stale --older 5m"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = doctor.run(&words).exits(2);
        assert!(ran.stdout.is_empty() && ran.stderr.contains(answer), "{ran:#?}");
        assert_eq!(ran.stderr.matches("tip:").count(), 1, "{ran:#?}");
        doctor.run(&[&words[..], &["-o", "json"]].concat()).exits(2).says(answer);
    }
}

#[test]
fn the_config_file_is_found_and_checked() {
    let doctor = Doctor::new();
    let file = doctor.home(".config/jobdoctor/config.toml");
    let none = doctor.run(&["config", "path"]).exits(0);
    assert_eq!(none.stdout, format!("{}\n", file.display()));
    none.says("no config file yet");
    assert!(doctor.run(&["config", "check"]).exits(78).stderr.contains(file.to_str().unwrap()));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[target.shop]\ndb = \"shop.db\"\n").unwrap();
    assert_eq!(doctor.run(&["config", "path"]).exits(0).stderr, "");
    assert!(doctor.run(&["config", "check"]).exits(0).stdout.contains("target shop: shop.db"));
    fs::write(
        &file,
        "[target.shop]\ndb = \"postgres://u:secret@h/d?nosuch=1\"\n[target.mail]\ndb = \"q.db\"\npreset = \"rivr\"\n\
         [mapping.orders]\nclaim = 1\n",
    )
    .unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let ran = doctor.run(&["config", "check", "--json"]).exits(78);
    let document = ran.document("config-check");
    let found = document["findings"].as_array().unwrap();
    assert_eq!(each(&document, "findings", "id"), ["target shop", "target mail", "mapping orders"]);
    assert!(found.iter().all(|finding| finding["severity"] == "error"), "{document:#}");
    assert!(found[1]["detail"].as_str().unwrap().contains("did you mean `river`"), "{document:#}");
    assert!(!format!("{ran:?}").contains("secret"), "{ran:#?}");
    fs::write(&file, "[target.shop]\ndbb = \"shop.db\"\n").unwrap();
    assert!(doctor.run(&["config", "check"]).exits(78).stdout.contains("did you mean `db`"));
}

#[test]
fn waiting_ends_with_the_last_stuck_job_or_with_the_time() {
    let doctor = Doctor::new();
    doctor.run(&["demo"]).exits(0);
    let ran = doctor.run(&["stale", "--db", "demo.db", "--wait", "1s", "-o", "name"]).exits(1);
    assert_eq!(ran.stdout.lines().count(), 5, "what is stuck in the end: {ran:#?}");
    let waiting = doctor.start(&["stale", "--db", "demo.db", "--wait", "1m", "--json"]);
    std::thread::sleep(Duration::from_millis(300));
    doctor.sql_in("demo.db", "UPDATE jobs SET status = 'SUCCEEDED' WHERE status IN ('RUNNING', 'CLAIMED')");
    let ran = waiting.wait().exits(0);
    assert_eq!(ran.json()["summary"]["stuck"], 0, "{ran:#?}");
    assert_eq!(ran.stderr, "", "a script sees no progress");
    doctor.run(&["stale", "--db", "gone.db", "--wait", "1m"]).exits(66);
    doctor.run(&["stale", "--db", "demo.db", "--wait", "1m", "--watch", "1s"]).exits(2);
}

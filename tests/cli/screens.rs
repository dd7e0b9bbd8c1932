//! The screens of an on-call engineer, on terminals of 60, 80 and 120 columns, with names as long as Kubernetes and Ruby make them.

use super::scene::JOBS;
use crate::support::cli::{Doctor, Ran};
use crate::support::pty::{On, OnTerminal, plain};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;

const PODS: [(&str, &str); 3] = [
    ("billing-worker-7f9c5d6b8-x2x4z:4111", "Billing::Invoices::GenerateMonthlyStatementJob"),
    ("billing-worker-7f9c5d6b8-q8l7m:4112", "Billing::Invoices::SendPaymentReminderJob"),
    ("media-transcoder-6c4b9d7f5-tt9wp:71", "Media::Transcoding::ResizeUploadedVideoJob"),
];

/// Six jobs of three pods that died at different times, in `queue.db`.
fn pods(id: impl Fn(usize) -> String) -> Doctor {
    let doctor = Doctor::new().env("TZ", "Asia/Kolkata");
    doctor.sql(&JOBS.replace("id INTEGER PRIMARY KEY", "id PRIMARY KEY"));
    for n in 0..6 {
        let ((pod, kind), silent) = (PODS[n % 3], [7830, 19_230, 97_230][n % 3]);
        let attempts = if n == 4 { 4 } else { n % 3 };
        doctor.sql(&format!(
                "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at,
                    attempts)
                VALUES ({}, 'default', '{kind}', 'RUNNING', '{pod}', 't', unixepoch() - {silent} - 1200,
                    unixepoch() - {silent}, unixepoch() - {silent} + 60, {attempts})",
                id(n)
            ));
    }
    doctor
}

fn numbers() -> Doctor {
    pods(|n| (4120 + n).to_string())
}

fn uuids() -> Doctor {
    pods(|n| format!("'0190a1b2-{:04x}-7c3d-8e4f-a5b6c7d8e9f{n}'", n * 4099))
}

/// What the program writes to a terminal of so many columns, without colours.
fn screen(doctor: &Doctor, columns: u16, arguments: &[&str]) -> String {
    let (end, written) = OnTerminal::start(doctor, arguments, (columns, 40), On::Both).end();
    let ran = Ran {
        stdout: same_digest(&plain(&written.replace("\r\n", "\n"))),
        stderr: String::new(),
        code: end.unwrap(),
        signal: None,
    };
    let whole = ran.exits(0).whole();
    format!("$ jobdoctor {}\n{}\n", arguments.join(" "), whole.replace("[stdout]\n", "").replace("[exit 0]\n[EOF]", ""))
}

/// The text with one digest for every other, also where it stands at the beginning of a line.
fn same_digest(text: &str) -> String {
    let is_digest = |word: &str| word.len() == 16 && word.bytes().all(|c| c.is_ascii_hexdigit());
    text.split(' ').map(|word| if is_digest(word) { "0123456789abcdef" } else { word }).collect::<Vec<_>>().join(" ")
}

fn screens(doctor: &Doctor, arguments: &[&str]) -> String {
    [60, 80, 120]
        .map(|columns| format!("{}\n{}", "-".repeat(columns.into()), screen(doctor, columns, arguments)))
        .concat()
}

#[test]
fn on_three_widths() {
    for (name, doctor, line) in [
        ("stale_with_uuids", uuids(), "stale --db queue.db"),
        ("reclaim", numbers(), "reclaim --db queue.db"),
        ("owners", numbers(), "owners --db queue.db"),
        ("show", numbers(), "show 4121 --db queue.db"),
    ] {
        assert_snapshot!(name, screens(&doctor, &line.split(' ').collect::<Vec<_>>()));
    }
}

/// A run of another day by somebody else, in place of the one that was recorded.
#[test]
fn history() {
    let doctor = numbers();
    let reason = "node pool drained before it was empty, INC-4711";
    doctor.on_queue(&["reclaim", "--apply", "--max-jobs", "9", "--reason", reason]).exits(0);
    let directory = doctor.home(".local/state/jobdoctor/journal");
    let path = fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(head).unwrap();
    head["run_id"] = "20261120093000-a1b2c3".into();
    head["store_time"] = "2026-11-20T09:30:00.123456Z".into();
    head["actor"] = json!({ "user": "oncall", "uid": 1000 });
    head["host"] = "ops-bastion-1".into();
    fs::remove_file(path).unwrap();
    fs::write(directory.join("20261120093000-a1b2c3.jsonl"), format!("{head}\n{rest}")).unwrap();
    assert_snapshot!(screens(&doctor, &["history", "-q"]));
    let shown = |style| doctor.run(&["history", "--time", style]).exits(0).stdout;
    assert!(shown("local").contains(" 2026-11-20T15:00:00+05:30 ") && shown("relative").contains(" ago "));
}

#[test]
fn a_command_has_a_line_of_its_own_and_can_be_pasted() {
    let doctor = numbers();
    let arguments = ["reclaim", "--db", "queue.db", "--reason", "node pool drained before it was empty"];
    let shown = plain(&OnTerminal::start(&doctor, &arguments, (60, 40), On::Both).end().1).replace('\r', "");
    let (_, command) = shown.split_once("to do exactly this:\n").unwrap();
    assert_eq!(command.trim().lines().count(), 1, "{command}");
    let pasted = command.trim().replacen("jobdoctor ", "", 1);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("\"$0\" {pasted} --max-jobs 9"), env!("CARGO_BIN_EXE_jobdoctor")]);
    let home = doctor.home("").display().to_string();
    let ran = Ran::of(shell.env_clear().env("HOME", home).current_dir(doctor.path("")).output().unwrap()).exits(0);
    ran.says("requeued 5 jobs, failed 1 job");
}

fn first_column(doctor: &Doctor, arguments: &[&str]) -> Vec<String> {
    let ran = doctor.run(arguments).exits(0);
    let rows = ran.stdout.lines().skip_while(|line| !line.starts_with("ID ") && !line.starts_with("OWNER ")).skip(1);
    rows.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn rows_are_sorted_by_a_column_of_the_table() {
    let doctor = numbers();
    let sorted = |more: &[&str]| first_column(&doctor, &[&["stale", "--db", "queue.db"], more].concat());
    let default = ["4122", "4125", "4121", "4124", "4120", "4123"];
    assert_eq!(sorted(&[]), default);
    assert_eq!(sorted(&["--sort", "silent"]), default);
    assert_eq!(sorted(&["--sort", "tries"])[0], "4124");
    assert_eq!(sorted(&["--sort", "kind"])[..2], ["4120", "4123"]);
    // What is shown is chosen first: the longest silent.
    assert_eq!(sorted(&["--limit", "4", "--sort", "tries"]), ["4124", "4122", "4125", "4121"]);
    assert_eq!(sorted(&["-o", "wide", "--sort", "judged-by"]), default);
    assert_eq!(first_column(&doctor, &["owners", "--db", "queue.db", "--sort", "owner"])[0], PODS[1].0);
}

/// Asked for, a column is shown in its place, also on a screen that is too narrow for it or where it says nothing.
#[test]
fn columns_are_those_that_were_asked_for() {
    let doctor = numbers().env("COLUMNS", "40");
    let ran = doctor.on_queue(&["stale", "--columns", "tries,ID", "--columns", "why,owner,state"]).exits(0);
    let header = ran.stdout.lines().find(|line| line.starts_with("TRIES"));
    let header = header.unwrap_or_else(|| panic!("{ran:#?}")).split_whitespace().collect::<Vec<_>>();
    assert_eq!(header[..3], ["TRIES", "ID", "WHY"]);
    assert_eq!(header.len(), 5, "{header:?}");
    assert!(!ran.stderr.contains("--columns"), "the next command has other columns: {ran:#?}");
    doctor.on_queue(&["stale", "--columns", "id,age"]).exits(2).says("no column `age`");
    doctor.on_queue(&["stale", "--columns", "id", "-o", "json"]).exits(2).says("-o json is not one");
}

#[test]
fn an_unknown_column_is_refused_before_anything_is_done() {
    let doctor = numbers();
    let before = doctor.rows("SELECT * FROM jobs");
    for (arguments, columns) in [
        (
            &["reclaim", "--apply", "--sort", "age"][..],
            "id, queue, kind, owner, silent, action, becomes, tries-after, outcome, why",
        ),
        (&["reclaim", "--sort", "outcome"], "id, queue, kind, owner, silent, action, becomes, tries-after, why"),
        (&["stale", "--sort", "host"], "id, queue, kind, state, owner, silent, tries, action, why"),
        (&["stale", "--by", "host", "--sort", "id"], "host, stuck, unknown, silent, owners"),
        (&["stale", "--time", "utc", "--sort", "silent"], "last-seen"),
        (&["owners", "--sort", "age"], "owner, host, status, claims"),
        (&["stats", "--sort", "age"], "queue, waiting, in-flight"),
        (&["stats", "--runtimes", "--sort", "age"], "kind, queue, jobs, p50"),
        (&["sweep", "--older", "5m", "--sort", "age"], "id, queue"),
        (&["history", "--sort", "age"], "run, when, command"),
        (&["undo", "2026", "--sort", "age"], "id, queue"),
    ] {
        let ran = doctor.on_queue(arguments).exits(2);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("no column `"), "{ran:#?}");
        assert!(ran.stderr.contains(&format!("its columns are {columns}")) || ran.stderr.contains(columns), "{ran:#?}");
    }
    doctor.on_queue(&["stale", "--sort", "id", "-o", "csv"]).exits(2).says("-o csv is not one");
    assert_eq!(doctor.rows("SELECT * FROM jobs"), before);
}

#[test]
fn the_line_of_titles_can_be_left_out() {
    let doctor = numbers();
    let with = doctor.on_queue(&["owners"]).exits(0).stdout;
    let without = doctor.on_queue(&["owners", "--no-header"]).exits(0).stdout;
    assert_eq!(with.split_once('\n').unwrap().1, without);
}

#[test]
fn instants_are_spans_or_of_the_zone_that_is_asked_for() {
    let doctor = numbers();
    let shown = |arguments: &[&str]| doctor.on_queue(arguments).exits(0).stdout;
    assert!(shown(&["show", "4120", "--time", "relative"]).contains("claimed:     2h 30m ago\n"));
    let local = shown(&["show", "4120", "--time", "local"]);
    assert!(local.contains("+05:30\n") && !local.contains('Z'), "{local}");
    for (zone, ends) in [("local", "+05:30"), ("utc", "Z")] {
        let listed = shown(&["stale", "--time", zone]);
        assert!(listed.contains("LAST SEEN") && !listed.contains("SILENT"), "{listed}");
        let row = listed.lines().find(|line| line.starts_with("4120")).unwrap();
        assert!(row.split_whitespace().any(|word| word.contains('T') && word.ends_with(ends)), "{listed}");
    }
    assert!(shown(&["stale", "--time", "relative", "-o", "wide"]).contains("2h 30m ago"));
    // Programs get what they always got.
    let json = |more: &[&str]| doctor.on_queue(&[&["show", "4120", "-o", "json"], more].concat()).json();
    assert_eq!(json(&["--time", "local"])["jobs"][0]["claimed_at"], json(&[])["jobs"][0]["claimed_at"]);
}

#[test]
fn nothing_is_left_out_of_a_file() {
    let doctor = numbers();
    let mut command = doctor.command(&["stale", "--db", "queue.db"]);
    let ran = Ran::of(command.env_remove("COLUMNS").output().unwrap()).exits(0);
    let titles = "ID    QUEUE    KIND ";
    ran.shows(titles).shows("STATE    OWNER");
    assert!(!ran.stdout.contains('…') && !ran.stderr.contains("left out"), "{ran:#?}");
}

//! `systemd-analyze verify` has nothing to say about the units.

use crate::support::cli::Doctor;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What it says of the units in a directory; nothing if all is well.
fn verified(directory: &Path, unit: &str) -> String {
    let output = Command::new("systemd-analyze")
        .args(["verify", "--man=no", "--recursive-errors=no"])
        .arg(directory.join(unit))
        .env("SYSTEMD_UNIT_PATH", format!("{}:", directory.display()))
        .output()
        .expect("systemd-analyze of the package systemd: tests/run installs it");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let ours = |line: &&str| line.contains(unit) || line.contains("jobdoctor") || line.contains("worker");
    let said: Vec<&str> = said.lines().filter(ours).collect();
    if output.status.success() { said.join("\n") } else { format!("{}: {}", output.status, said.join("\n")) }
}

/// Writes the files under the names that stand above them.
fn written(text: &str, directory: &Path) -> Vec<String> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("# /etc/systemd/system/") {
            files.push((path.to_owned(), String::new()));
        }
        let (_, file) = files.last_mut().expect("a name stands above");
        file.push_str(&format!("{line}\n"));
    }
    for (name, file) in &files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    files.into_iter().map(|(name, _)| name).collect()
}

/// Targets on a server and in a file with a nasty path.
fn doctor() -> Doctor {
    let doctor = Doctor::new();
    let config = "[target.shop]\ndb = 'postgres://ops@db/app'\n[target.'50% $x \"y\"']\ndb = '/a b%c\"/q.db'\n";
    fs::write(doctor.path("c.toml"), config).unwrap();
    doctor
}

#[test]
fn services_and_timers_are_understood() {
    let doctor = doctor();
    for (n, (target, more)) in [
        ("shop", &["--every", "1m", "--name", "other-name", "--program", "/bin/true"][..]),
        ("shop", &["--every", "6h"]),
        ("50% $x \"y\"", &["--every", "1h", "--user", "root"]),
        ("50% $x \"y\"", &["--every", "1d"]),
    ]
    .into_iter()
    .enumerate()
    {
        let all = [&["generate", "systemd", "--config", "c.toml", "--target", target], more].concat();
        let text = doctor.run(&all).exits(0).stdout;
        let directory = doctor.path(&format!("units{n}"));
        let names = written(&text, &directory);
        assert_eq!(names.len(), 2, "{text}");
        for name in names {
            assert_eq!(verified(&directory, &name), "", "{all:?}\n{text}");
        }
        assert_eq!(text.contains("ReadWritePaths=\"/a b%%c\\\"\"\n"), target != "shop", "{text}");
        // And the two can be had one by one.
        let only = |file| doctor.run(&[&all[..], &["--only", file]].concat()).exits(0).stdout;
        assert_eq!(format!("{}\n{}", only("service"), only("timer")), text);
    }
}

#[test]
fn a_drop_in_is_understood_with_its_unit() {
    let doctor = doctor();
    let directory = doctor.path("units");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("worker.service"), "[Service]\nExecStart=/bin/true\n").unwrap();
    let arguments = ["generate", "systemd", "--restart", "--config", "c.toml", "--target", "50% $x \"y\""];
    let text = doctor.run(&arguments).exits(0).stdout;
    assert_eq!(written(&text, &directory), ["worker.service.d/jobdoctor.conf"]);
    assert_eq!(verified(&directory, "worker.service"), "", "{text}");
}

#[test]
fn what_is_wrong_in_a_unit_is_seen() {
    let doctor = doctor();
    let text = doctor.run(&["generate", "systemd", "--target", "shop", "--config", "c.toml"]).exits(0).stdout;
    for (n, (right, wrong)) in [
        ("OnCalendar=*-*-* *:0/5:00", "OnCalendar=every five minutes"),
        ("Type=oneshot", "Type=once"),
        ("ProtectSystem=strict", "ProtectTheSystem=strict"),
        ("ExecStart=/", "ExecStart=/nowhere/"),
        ("--target shop", "--target \"shop"),
    ]
    .into_iter()
    .enumerate()
    {
        assert!(text.contains(right), "{right}");
        let directory = doctor.path(&format!("broken{n}"));
        let names = written(&text.replace(right, wrong), &directory);
        let said: String = names.iter().map(|name| verified(&directory, name)).collect();
        assert_ne!(said, "", "nothing is said of {wrong}");
    }
}

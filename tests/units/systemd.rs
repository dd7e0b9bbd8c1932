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

/// Has the units written into a directory, and gives their names.
fn written(doctor: &Doctor, arguments: &[&str], directory: &Path) -> Vec<String> {
    fs::create_dir_all(directory).unwrap();
    let place = ["--output-dir", directory.to_str().unwrap()];
    let ran = doctor.run(&[&["generate", "systemd"], arguments, &place].concat()).exits(0);
    let names = ran.stderr.lines().filter_map(|line| line.strip_prefix(&format!("wrote {}/", directory.display())));
    names.map(str::to_owned).collect()
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
        let all = [&["--config", "c.toml", "--target", target], more].concat();
        let directory = doctor.path(&format!("units{n}"));
        let names = written(&doctor, &all, &directory);
        let texts: Vec<String> = names.iter().map(|name| fs::read_to_string(directory.join(name)).unwrap()).collect();
        let text = doctor.run(&[&["generate", "systemd"], &all[..]].concat()).exits(0).stdout;
        assert_eq!(texts.join("\n"), text);
        for name in names {
            assert_eq!(verified(&directory, &name), "", "{all:?}\n{text}");
        }
        assert_eq!(text.contains("ReadWritePaths=\"/a b%%c\\\"\"\n"), target != "shop", "{text}");
    }
}

#[test]
fn a_drop_in_is_understood_with_its_unit() {
    let doctor = doctor();
    let directory = doctor.path("units");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("worker.service"), "[Service]\nExecStart=/bin/true\n").unwrap();
    let arguments = ["--restart", "--config", "c.toml", "--target", "50% $x \"y\""];
    let drop_in = "worker.service.d/jobdoctor.conf";
    // Its own file is replaced, and no other.
    for _ in 0..2 {
        assert_eq!(written(&doctor, &arguments, &directory), [drop_in]);
        assert_eq!(verified(&directory, "worker.service"), "");
    }
    doctor.run(&[&["generate", "systemd", "--output-dir", "nowhere/units"], &arguments[..]].concat()).exits(78);
    assert!(!doctor.path("nowhere").exists());
    fs::write(directory.join(drop_in), "[Service]\n").unwrap();
    let place = ["generate", "systemd", "--output-dir", directory.to_str().unwrap()];
    doctor.run(&[&place[..], &arguments].concat()).exits(2).says("another file has that name");
    assert_eq!(fs::read_to_string(directory.join(drop_in)).unwrap(), "[Service]\n");
}

#[test]
fn what_is_wrong_in_a_unit_is_seen() {
    let doctor = doctor();
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
        let directory = doctor.path(&format!("broken{n}"));
        let names = written(&doctor, &["--target", "shop", "--config", "c.toml"], &directory);
        for path in names.iter().map(|name| directory.join(name)) {
            fs::write(&path, fs::read_to_string(&path).unwrap().replace(right, wrong)).unwrap();
        }
        let said: String = names.iter().map(|name| verified(&directory, name)).collect();
        assert_ne!(said, "", "nothing is said of {wrong}");
    }
}

//! The config file: where it is looked for, what beats it, and what it is told when it is wrong.

use super::scene::{incident, orders};
use crate::support::cli::{Doctor, Ran, fails, until};
use crate::support::users::others_for;
use insta::assert_snapshot;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown};
use std::path::Path;

/// Three databases that can be told apart, and a place for config files.
fn three() -> Doctor {
    let doctor = incident();
    for name in ["flag.db", "variable.db", "file.db", "url.db"] {
        std::fs::copy(doctor.path("queue.db"), doctor.path(name)).unwrap();
    }
    doctor
}

fn write(doctor: &Doctor, text: &str) {
    std::fs::write(doctor.path("config.toml"), text).unwrap();
}

fn database(ran: Ran) -> String {
    ran.exits(0).json()["target"]["database"].as_str().unwrap().to_owned()
}

#[test]
fn the_database_is_named_by_flag_then_variable_then_file_then_url() {
    // An empty variable is none.
    let doctor = three().env("JOBDOCTOR_DB", "").env("DATABASE_URL", "sqlite:url.db");
    assert_eq!(database(doctor.run(&["stale", "--json"])), "url.db");
    write(&doctor, "[target.app]\ndb = \"file.db\"\n");
    let doctor = doctor.env("JOBDOCTOR_CONFIG", "config.toml");
    assert_eq!(database(doctor.run(&["stale", "--json"])), "file.db");
    assert_eq!(database(doctor.run(&["stale", "--json", "--no-config"])), "url.db");
    let doctor = doctor.env("JOBDOCTOR_DB", "variable.db");
    assert_eq!(database(doctor.run(&["stale", "--json"])), "variable.db");
    assert_eq!(database(doctor.run(&["stale", "--json", "--db", "flag.db"])), "flag.db");
    // Who names a target means its database.
    assert_eq!(database(doctor.run(&["stale", "--json", "--target", "app"])), "file.db");
    assert_eq!(database(doctor.run(&["stale", "--json", "--target", "app", "--db", "flag.db"])), "flag.db");
}

#[test]
fn older_is_said_by_flag_then_file_then_the_preset() {
    let doctor = three();
    write(&doctor, "[target.app]\ndb = \"file.db\"\nolder = \"4h\"\n");
    let listed = |more: &[&str]| doctor.run(&[&["reclaim", "-o", "name"], more].concat()).exits(0).stdout;
    assert_eq!(listed(&["--config", "config.toml"]), "5\n1\n");
    assert_eq!(listed(&["--config", "config.toml", "--older", "20h"]), "5\n");
    assert_eq!(listed(&["--no-config", "--db", "file.db"]), "5\n1\n2\n3\n4\n");
    let planned = doctor.run(&["sweep", "--config", "config.toml", "-o", "name"]).exits(0);
    assert_eq!(planned.stdout, "5\n1\n");
}

#[test]
fn files_are_looked_for_in_their_order() {
    let doctor = three();
    let at = |name: &str| format!("[target.app]\ndb = \"{}\"\n", doctor.path(name).display());
    let name = |ran: Ran| database(ran).rsplit('/').next().unwrap().to_owned();
    std::fs::create_dir_all(doctor.home(".config/jobdoctor")).unwrap();
    std::fs::write(doctor.home(".config/jobdoctor/config.toml"), at("file.db")).unwrap();
    assert_eq!(name(doctor.run(&["stale", "--json"])), "file.db");
    std::fs::create_dir_all(doctor.home("xdg/jobdoctor")).unwrap();
    std::fs::write(doctor.home("xdg/jobdoctor/config.toml"), at("url.db")).unwrap();
    std::fs::write(doctor.path("variable.toml"), at("variable.db")).unwrap();
    std::fs::write(doctor.path("flag.toml"), at("flag.db")).unwrap();
    let xdg = doctor.home("xdg").display().to_string();
    let doctor = doctor.env("XDG_CONFIG_HOME", xdg);
    assert_eq!(name(doctor.run(&["stale", "--json"])), "url.db");
    let doctor = doctor.env("JOBDOCTOR_CONFIG", "variable.toml");
    assert_eq!(name(doctor.run(&["stale", "--json"])), "variable.db");
    assert_eq!(name(doctor.run(&["stale", "--json", "--config", "flag.toml"])), "flag.db");
    fails(&doctor, &["stale", "--no-config"], 2);
}

/// Whoever can write there could point a tool that writes at another database.
#[test]
fn never_from_the_working_directory() {
    let doctor = three();
    let text = "[target.app]\ndb = \"file.db\"\n";
    write(&doctor, text);
    std::fs::write(doctor.path("jobdoctor.toml"), text).unwrap();
    std::fs::write(doctor.path(".jobdoctor.toml"), text).unwrap();
    std::fs::create_dir(doctor.path("jobdoctor")).unwrap();
    std::fs::write(doctor.path("jobdoctor/config.toml"), text).unwrap();
    fails(&doctor, &["stale"], 2);
    // A relative XDG_CONFIG_HOME is to be ignored, says its specification.
    fails(&doctor.env("XDG_CONFIG_HOME", "."), &["stale"], 2);
}

#[test]
fn targets() {
    let doctor = three();
    write(&doctor, "[target.a]\ndb = \"file.db\"\n[target.b]\ndb = \"url.db\"\n");
    let config = ["stale", "--json", "--config", "config.toml"];
    assert_eq!(database(doctor.run(&[&config[..], &["--target", "b"]].concat())), "url.db");
    fails(&doctor, &["stale", "--config", "config.toml"], 2).says("a, b; name one with --target");
    write(&doctor, "default_target = \"a\"\n[target.a]\ndb = \"file.db\"\n[target.b]\ndb = \"url.db\"\n");
    assert_eq!(database(doctor.run(&config)), "file.db");
    let doctor = doctor.env("JOBDOCTOR_TARGET", "b");
    assert_eq!(database(doctor.run(&config)), "url.db");
    assert_eq!(database(doctor.run(&[&config[..], &["--target", "a"]].concat())), "file.db");
}

#[test]
fn rules_and_warnings_of_a_target() {
    let doctor = incident();
    write(&doctor, "[target.app]\ndb = \"queue.db\"\nrules = [\"deadline_passed\"]\nwarn_above = 5\n");
    let ran = doctor.run(&["sweep", "--config", "config.toml", "--apply", "-o", "none"]).exits(0);
    assert_snapshot!(ran.stderr, @r"
requeued 3 jobs, failed 2 jobs, cancelled 1 job
warning: that is more than 5: workers die often here (warn_above of target app): web2 lost 3, (no owner) lost 1, media1 lost 1, 1 other 1
");
    assert_eq!(doctor.rows("SELECT status FROM jobs WHERE id = 8"), ["FAILED"]);
}

fn complaint(text: &str) -> String {
    let doctor = orders();
    write(&doctor, text);
    let preset = if text.contains("mapping.lease") { "lease" } else { "orders" };
    fails(&doctor, &["stale", "--db", "orders.db", "--config", "config.toml", "--preset", preset], 78).stderr
}

#[test]
fn a_mistake_is_named_with_line_and_suggestion() {
    let mapping = fs::read_to_string(orders().path("config.toml")).unwrap();
    let said = [
        "[target.app]\ndb = \"x\"\nreadonly = true\n",
        "\n\ndefault_tarjet = \"app\"\n",
        "[targets.app]\ndb = \"x\"\n",
        "[target.app]\nolder = \"5M\"\n",
        "[target.app]\nolder = 300\n",
        "[target.app]\nread_only = \"yes\"\n",
        "[target.app]\nmax_jobs = -1\n",
        "[target.app]\nrules = [\"deadline\"]\n",
        "default_target = \"ap\"\n[target.app]\n",
        "[target.app\n",
        "[target.app]\ndb = \"a\"\ndb = \"b\"\n",
        &mapping.replace("heartbeat = ", "heart_beat = "),
        &mapping.replace("\"2m\"", "\"2M\""),
        &mapping.replace("to = \"new\"", "to = \"knew\""),
        &mapping.replace("mapping.orders", "mapping.lease"),
        &mapping.replace("key        = \"id\"\n", ""),
    ];
    assert_snapshot!(said.map(complaint).concat());
}

const TARGET: &str = "[target.app]\ndb = \"queue.db\"\n";

#[test]
fn a_file_that_others_could_change_is_not_used() {
    let doctor = incident();
    let (top, sub, file) = (doctor.path("top"), doctor.path("top/sub"), doctor.path("top/sub/c.toml"));
    fs::create_dir_all(&sub).unwrap();
    fs::write(&file, TARGET).unwrap();
    std::os::unix::fs::symlink(&file, doctor.path("link.toml")).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    [&top, &sub].iter().for_each(|path| mode(path, 0o755));
    mode(&file, 0o644);
    let run = |config: &str| doctor.run(&["stale", "-o", "name", "--config", config]);
    for (path, wrong, right, word) in [
        (&file, 0o666, 0o644, "everybody"),
        (&file, 0o646, 0o644, "everybody"),
        (&sub, 0o777, 0o755, "everybody"),
        (&top, 0o757, 0o1777, "everybody"),
    ] {
        mode(path, wrong);
        for config in ["top/sub/c.toml", "link.toml", "top/../top/sub/c.toml"] {
            let ran = run(config).exits(78);
            assert!(ran.stderr.contains(word) && ran.stderr.contains("chmod "), "{wrong:o}: {ran:#?}");
            assert_eq!(doctor.run(&["config", "check", "--config", config]).code, 78);
        }
        mode(path, right);
        run("link.toml").exits(0);
    }
    // A link is replaced by whoever may write where it lies.
    fs::create_dir(doctor.path("open")).unwrap();
    std::os::unix::fs::symlink(&file, doctor.path("open/link.toml")).unwrap();
    std::os::unix::fs::symlink("open/link.toml", doctor.path("far.toml")).unwrap();
    run("far.toml").exits(0);
    mode(&doctor.path("open"), 0o777);
    run("far.toml").exits(78);
    // So is a directory that is a link, wherever on the path it stands.
    std::os::unix::fs::symlink(&sub, doctor.path("open/way")).unwrap();
    std::os::unix::fs::symlink("open/way", doctor.path("way")).unwrap();
    for config in ["way/c.toml", "open/../open/way/c.toml"] {
        mode(&doctor.path("open"), 0o777);
        assert!(run(config).exits(78).stderr.contains("everybody"), "{config}");
        mode(&doctor.path("open"), 0o1777);
        run(config).exits(0);
    }
    // A named pipe is as good as its mode and its directory. Nobody writes to it: a program that opened it would wait.
    let pipe = doctor.path("top/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    for (path, wrong, right) in [(&pipe, 0o666, 0o600), (&top, 0o777, 0o755)] {
        mode(path, wrong);
        assert!(run("top/pipe").exits(78).stderr.contains("everybody"));
        mode(path, right);
    }
    let Some([daemon, _]) = others_for("that a config file of another user or group is refused") else { return };
    mode(&file, 0o664);
    run("top/sub/c.toml").exits(0);
    chown(&file, None, Some(daemon.uid)).unwrap();
    assert!(run("top/sub/c.toml").exits(78).stderr.contains("chmod g-w"));
    mode(&file, 0o644);
    run("top/sub/c.toml").exits(0);
    for path in [&file, &sub] {
        daemon.takes(path);
        run("top/sub/c.toml").exits(78).says("belongs to daemon").says("chown ");
        [&sub, &file].iter().for_each(|path| chown(path, Some(0), Some(0)).unwrap());
    }
    // In a sticky directory a link is its owner's.
    for (path, config) in [(doctor.path("open/way"), "way/c.toml"), (pipe, "top/pipe")] {
        lchown(&path, Some(daemon.uid), None).unwrap();
        run(config).exits(78).says("belongs to daemon").says("chown ");
    }
    // A private group is no longer one once it is the primary group of somebody else.
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    mode(&file, 0o664);
    for (more, code) in [("alice:x:4321:0::/:/bin/sh\n", 78), ("alice:x:4321:4321::/:/bin/sh\n", 0)] {
        fs::write(doctor.path("passwd"), format!("{passwd}{more}")).unwrap();
        let command = doctor.command(&["stale", "-o", "name", "--config", "top/sub/c.toml"]);
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", "mount --bind passwd /etc/passwd && exec \"$@\"", "sh"]);
        unshare.arg(command.get_program()).args(command.get_args()).current_dir(doctor.path(""));
        unshare.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(unshare.output().unwrap()).exits(code);
    }
}

#[test]
fn a_pipe_is_read_to_its_end_and_a_device_never() {
    let doctor = incident();
    let piped = |script: &str| {
        let command = doctor.command(&[]);
        let program = command.get_program().to_owned();
        let mut shell = std::process::Command::new("bash");
        shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("D", program).current_dir(doctor.path("")).args(["-c", script]);
        Ran::of(shell.output().unwrap())
    };
    fs::write(doctor.path("c.toml"), TARGET).unwrap();
    for script in [
        "\"$D\" stale -o name --config <(sleep 0.1; cat c.toml)",
        "cat c.toml | \"$D\" stale -o name --config /dev/stdin",
        "\"$D\" stale -o name --config /dev/stdin < c.toml",
        "cat c.toml | { [ $UID != 0 ] || chown daemon /dev/stdin; \"$D\" stale -o name --config /dev/stdin; }",
        "\"$D\" stale -o name --config - < c.toml",
        "cat c.toml | \"$D\" stale -o name --config -",
        "cp c.toml d.toml; exec 5< d.toml; rm d.toml; \"$D\" stale -o name --config /dev/fd/5",
        "\"$D\" stale -o none --all-targets --config <(cat c.toml)",
    ] {
        assert!(piped(script).exits(0).stdout.len() < 20, "{script}");
    }
    piped("\"$D\" stale --config <(head -c 3000000 /dev/zero)").exits(78).says("longer than 1 MiB");
    fs::create_dir(doctor.path("directory")).unwrap();
    std::os::unix::net::UnixListener::bind(doctor.path("socket")).unwrap();
    for config in ["/dev/zero", "/dev/tty", "/dev/null", "directory", "socket"] {
        doctor.run(&["stale", "--config", config]).exits(78).says(&format!("config file {config} cannot be read"));
    }
    for arguments in
        [["--password-file", "/dev/zero", "--db", "postgres:///x"], ["--alive-from", "/dev/zero", "--db", "queue.db"]]
    {
        let ran = doctor.run(&[&["stale"][..], &arguments].concat());
        assert!([66, 78].contains(&ran.code) && ran.stderr.contains("it is a device"), "{ran:#?}");
    }
    assert!(doctor.on_queue(&["reclaim", "--from-file", "/dev/zero"]).exits(66).stderr.contains("device"));
}

#[test]
fn a_signal_ends_the_wait_for_a_pipe() {
    let doctor = incident();
    let pipe = doctor.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    // A writer that writes nothing.
    let _writer = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    for arguments in
        [&["stale", "--config", "pipe"][..], &["stale", "--password-file", "pipe", "--db", "postgres:///x"]]
    {
        for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
            let running = doctor.start(arguments);
            until("it reads the pipe", || running.has_open(&pipe));
            running.signal(signal);
            let ran = running.wait();
            assert_eq!(ran.signal, Some(number), "{arguments:?}: {ran:#?}");
            assert!(ran.stderr.contains("interrupted"), "{arguments:?}: {ran:#?}");
        }
    }
}

//! `--textfile`: whole or not at all, readable by everybody, and nothing of somebody else's.

use crate::support::cli::{Doctor, fails, is_valid, until};
use crate::support::promtool::{accepts_metrics, samples, sum, value};
use crate::support::shop::{Shop, on_both};
use crate::support::users::others_for;
use rustix::fs::{CWD, Mode, mkfifoat};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn shop(claims: u32) -> Shop {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, claims, "'web1:1'", 900);
    shop
}

#[test]
fn everybody_may_read_it_whatever_the_umask() {
    on_both(|shop| {
        shop.in_flight(1, 2, "'web1:1'", 900);
        fs::create_dir(shop.doctor.path("metrics")).unwrap();
        let script = format!(
            "umask 077; exec {} stats -o none --db '{}' --textfile metrics/q.prom",
            env!("CARGO_BIN_EXE_jobdoctor"),
            shop.url
        );
        for _ in 0..2 {
            let ended = Command::new("sh").args(["-c", &script]).current_dir(shop.doctor.path("")).status().unwrap();
            assert!(ended.success());
            let file = shop.doctor.path("metrics/q.prom");
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
            let text = fs::read_to_string(&file).unwrap();
            accepts_metrics(&text);
            assert_eq!(sum(&samples(&text), "stuck_jobs"), 2.0);
            let names: Vec<_> =
                fs::read_dir(shop.doctor.path("metrics")).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert_eq!(names, ["q.prom"], "nothing is left beside it");
        }
    });
}

#[test]
fn the_report_is_printed_all_the_same() {
    let shop = shop(2);
    let ran = shop.run(&["stats", "--json", "--textfile", "q.prom"]).exits(0);
    is_valid("stats", &ran.json());
    let text = shop.run(&["stats", "-o", "prometheus", "--textfile", "q.prom"]).exits(0).stdout;
    let file = fs::read_to_string(shop.doctor.path("q.prom")).unwrap();
    let untimed = |text: &str| samples(text).into_iter().filter(|s| !s.name.contains("_seconds")).collect::<Vec<_>>();
    assert_eq!(untimed(&text), untimed(&file));
}

/// Large enough to take more than one write.
#[test]
fn who_reads_all_the_time_never_sees_half_a_file() {
    let shop = shop(200);
    shop.sql("UPDATE jobs SET queue = 'a queue with a name of some length, number ' || id");
    let path = shop.doctor.path("q.prom");
    shop.run(&["stats", "-o", "none", "--textfile", "q.prom"]).exits(0);
    let (done, files) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut seen, mut last) = (BTreeSet::new(), String::new());
            while !done.load(Ordering::SeqCst) {
                let text = fs::read_to_string(&path).unwrap();
                assert!(text.len() > 100_000 && text.ends_with('\n'), "half a file: {} bytes", text.len());
                // Reading it line by line takes long, in which the file would not be looked at.
                if text != last {
                    let samples = samples(&text);
                    assert_eq!(sum(&samples, "in_flight_jobs"), 200.0);
                    seen.insert(value(&samples, "last_run_timestamp_seconds", &[]).unwrap().to_string());
                    files.store(seen.len(), Ordering::SeqCst);
                    last = text;
                }
            }
        });
        let mut runs = 0;
        until("many files were read", || {
            let command = if runs % 2 == 0 { &["stats", "-o", "none"][..] } else { &["sweep", "-o", "none"] };
            shop.run(&[command, &["--textfile", "q.prom"]].concat()).exits(0);
            runs += 1;
            reader.is_finished() || runs >= 10 && files.load(Ordering::SeqCst) >= 3
        });
        done.store(true, Ordering::SeqCst);
        reader.join().unwrap();
    });
}

#[test]
fn what_is_somebody_elses_stays() {
    let shop = shop(2);
    fs::write(shop.doctor.path("other.prom"), "# HELP node_load1 x\n").unwrap();
    fs::write(shop.doctor.path("behind"), "").unwrap();
    symlink("behind", shop.doctor.path("link.prom")).unwrap();
    fs::create_dir(shop.doctor.path("directory.prom")).unwrap();
    mkfifoat(CWD, shop.doctor.path("pipe.prom"), Mode::from_raw_mode(0o600)).unwrap();
    let jobs = shop.jobs();
    for name in ["other.prom", "link.prom", "directory.prom", "pipe.prom"] {
        for command in [&["stats"][..], &["sweep", "--apply"]] {
            let ran = fails(&shop.doctor, &shop.with_db(&[command, &["--textfile", name]].concat()), 2);
            ran.says("another file has that name");
        }
    }
    assert_eq!(fs::read_to_string(shop.doctor.path("other.prom")).unwrap(), "# HELP node_load1 x\n");
    assert_eq!(fs::read_to_string(shop.doctor.path("behind")).unwrap(), "");
    for (path, code) in [("nowhere/q.prom", 78), ("behind/q.prom", 78)] {
        fails(&shop.doctor, &shop.with_db(&["sweep", "--apply", "--textfile", path]), code);
    }
    assert_eq!(shop.jobs(), jobs, "nothing is done by a run that could not tell of it");
    // An empty file is what `touch` and `install` leave.
    fs::write(shop.doctor.path("empty.prom"), "").unwrap();
    shop.run(&["stats", "-o", "none", "--textfile", "empty.prom"]).exits(0);
}

/// In a directory where one may not write, and in one where another's file may not be replaced.
#[test]
fn without_the_right_to_write_it_nothing_is_done() {
    let what = "that a textfile which may not be written keeps a sweep from beginning";
    let Some([owner, other]) = others_for(what) else { return };
    let shop = shop(2);
    owner.takes(&shop.doctor.path(""));
    let jobs = shop.jobs();
    let directory = shop.doctor.path("metrics");
    fs::create_dir(&directory).unwrap();
    let file = directory.join("q.prom");
    let words = shop.with_db(&["sweep", "--apply", "--textfile", "metrics/q.prom"]);
    for (mode, is_there) in [(0o755, false), (0o755, true), (0o1777, true)] {
        if is_there {
            fs::write(&file, "# HELP jobdoctor_up x\n").unwrap();
        }
        other.takes(&directory);
        fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
        let ran = owner.runs(&shop.doctor, &words).exits(77);
        ran.says("the textfile metrics/q.prom cannot be written: permission denied");
        assert_eq!(shop.jobs(), jobs);
    }
    // The counterparts: a directory for all, and one that is sticky with a file of one's own.
    for mode in [0o777, 0o1777] {
        fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
        owner.runs(&shop.doctor, &words).exits(0);
        assert_eq!(sum(&samples(&fs::read_to_string(&file).unwrap()), "up"), 1.0);
    }
}

#[test]
fn a_run_that_stops_at_its_settings_is_told_too() {
    let doctor = Doctor::new();
    fs::write(doctor.path("c.toml"), "[target.shop]\ndb = \"queue.db\"\n").unwrap();
    doctor.run(&["init", "--config", "c.toml"]).exits(0);
    let words = ["stats", "-o", "none", "--config", "c.toml", "--textfile", "q.prom"];
    doctor.run(&words).exits(0);
    let read = || samples(&fs::read_to_string(doctor.path("q.prom")).unwrap());
    let before = read();
    fs::write(doctor.path("c.toml"), "[target.shop\n").unwrap();
    doctor.run(&words).exits(78);
    let after = read();
    let of = |samples: &[_], name| value(samples, name, &[("target", "shop")]);
    assert_eq!((of(&after, "up"), of(&after, "exit_code")), (Some(0.0), Some(78.0)));
    let kept = "last_success_timestamp_seconds";
    assert!(of(&after, kept).is_some() && of(&after, kept) == of(&before, kept));
}

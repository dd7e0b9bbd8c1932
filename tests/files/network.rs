//! A network file system: looked at with a word of warning, written to only where the operator says that it is safe. Here
//! it is FUSE, which anybody can mount who may; the decision for the others is tested where it is made.

use crate::cli::scene::{STATE, incident};
use crate::support::cli::{Doctor, fails};
use crate::support::files::Frozen;
use crate::support::users::say_what_is_missing;
use jobdoctor::store::{Address, Forbids, Store, open};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A directory as FUSE shows it. Dropped, it is unmounted.
struct Mount(PathBuf);

impl Mount {
    /// Shows the directory `disk` of a working directory at `net`. `None` where that cannot be done, which is said aloud.
    fn at(doctor: &Doctor) -> Option<Mount> {
        fs::create_dir(doctor.path("disk")).unwrap();
        fs::create_dir(doctor.path("net")).unwrap();
        let mut bindfs = Command::new("bindfs");
        bindfs.args(["--no-allow-other"]).args([doctor.path("disk"), doctor.path("net")]);
        let said = match bindfs.stdin(Stdio::null()).output() {
            Ok(done) if done.status.success() => return Some(Mount(doctor.path("net"))),
            Ok(done) => String::from_utf8_lossy(&done.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        say_what_is_missing(&format!("that a network file system is told through the program; bindfs: {said}"));
        None
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted = |program: &str, argument: &[&str]| {
            let done = Command::new(program).args(argument).arg(&self.0).stderr(Stdio::null()).status();
            done.is_ok_and(|status| status.success())
        };
        // A mount that stays would keep the temporary directory from going.
        assert!(unmounted("umount", &[]) || unmounted("fusermount3", &["-u"]) || unmounted("fusermount", &["-u"]));
    }
}

fn on_fuse(journal: &str) -> Option<(Doctor, Mount)> {
    let doctor = incident();
    let mount = Mount::at(&doctor)?;
    doctor.sql(&format!("PRAGMA journal_mode = {journal}"));
    fs::rename(doctor.path("queue.db"), doctor.path("disk/queue.db")).unwrap();
    Some((doctor, mount))
}

const DB: [&str; 2] = ["--db", "net/queue.db"];
const WHERE: &str = "net/queue.db is on a network file system (FUSE)";

#[test]
fn looking_is_allowed_and_worth_a_word() {
    for journal in ["delete", "wal"] {
        let Some((doctor, _mount)) = on_fuse(journal) else { return };
        let before = Frozen::of(&doctor.path("disk"));
        for look in [&["stale"][..], &["show", "1"], &["owners"], &["reclaim"], &["sweep"]] {
            let ran = doctor.run(&[look, &DB].concat()).exits(0);
            assert!(!ran.stderr.contains("network file system"), "cron would mail it every minute: {ran:#?}");
            doctor.run(&[look, &["-v"], &DB].concat()).exits(0).says(&format!("warning: {WHERE}"));
            before.must_be_unchanged();
        }
    }
}

#[test]
fn writing_is_refused() {
    for journal in ["delete", "wal"] {
        let Some((doctor, _mount)) = on_fuse(journal) else { return };
        let before = Frozen::of(&doctor.path("disk"));
        for act in [&["reclaim", "--apply"][..], &["sweep", "--apply"], &["reclaim", "--apply", "--queue", "none"]] {
            let ran = doctor.run(&[act, &["-o", "json"], &DB].concat()).exits(4);
            let document = ran.json();
            assert_eq!(document["applied"], false);
            assert!(document["refused"].as_str().unwrap().starts_with(WHERE), "{document:#}");
            let ran = doctor.run(&[act, &DB].concat()).exits(4);
            ran.says(&format!("refused: {WHERE}")).says("--network-files").says("nothing was written");
            before.must_be_unchanged();
        }
        fails(&doctor, &["check", DB[0], DB[1]], 78).says(WHERE).says("--network-files");
        fails(&doctor, &["init", "--table", "other", DB[0], DB[1]], 4).says(WHERE).says("--network-files");
        fails(&doctor, &["init", "--db", "net/new.db"], 4);
        before.must_be_unchanged();
        // The same file by its other name.
        doctor.run(&["reclaim", "--apply", "--db", "disk/queue.db"]).exits(0);
    }
}

#[test]
fn writing_is_done_where_it_is_said_to_be_safe() {
    use crate::support::doctor::{apply, built_in, fit, limits, outcomes, steps};
    use jobdoctor::policy::Policy;
    for journal in ["delete", "wal"] {
        let Some((doctor, _mount)) = on_fuse(journal) else { return };
        let store = |network_files| {
            open(&Address::Sqlite {
                path: doctor.path("net/queue.db"),
                network_files,
                second_name: false,
                foreign_keys: true,
            })
        };
        assert!(store(false).writer(&limits()).is_err());
        let store: Box<dyn Store> = store(true);
        assert!(store.caution().is_some_and(|caution| caution.forbids == Forbids::Nothing));
        let spec = fit(&*store, &built_in("lease"));
        let requeue: Vec<_> = steps(&*store, &spec, &Policy::default())
            .into_iter()
            .filter(|step| step.action == jobdoctor::model::Action::Requeue)
            .collect();
        let moved = outcomes(&apply(&*store, &spec, &requeue));
        assert!(!moved.is_empty() && moved.iter().all(|end| *end == jobdoctor::model::Outcome::Moved), "{moved:?}");
        assert_eq!(doctor.rows_in("disk/queue.db", STATE)[0], "1 QUEUED - 2", "{journal}");
    }
}

#[test]
fn a_disk_of_this_host_is_no_network() {
    let doctor = incident();
    let ran = doctor.on_queue(&["reclaim", "--apply", "-v"]).exits(0);
    assert!(!ran.stderr.contains("network"), "{ran:#?}");
}

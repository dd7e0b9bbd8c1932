//! The command that stands in a unit, taken out by the rules of who runs it, and run.

use crate::support::cli::{Doctor, Ran};
use crate::support::shop::{Shop, on_both};
use std::path::Path;

/// The words of systemd's `ExecStart=`: blanks part them, double quotes hold them together.
pub fn words_of_systemd(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_open, mut is_word) = (Vec::new(), String::new(), false, false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => (is_open, is_word) = (!is_open, true),
            '\\' => word.push(letters.next().unwrap()),
            ' ' if !is_open => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            '%' | '$' => {
                assert_eq!(letters.next(), Some(letter), "systemd would put something in its place: {line}");
                word.push(letter);
                is_word = true;
            }
            _ => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    assert!(!is_open, "a quote is open: {line}");
    words.extend(is_word.then_some(word));
    words
}

/// The value of a setting that stands once in a unit.
pub fn setting<'u>(unit: &'u str, key: &str) -> &'u str {
    let mut found = unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let value = found.next().unwrap_or_else(|| panic!("no {key} in\n{unit}"));
    assert_eq!(found.next(), None, "{key} stands twice in\n{unit}");
    value
}

/// Runs the words, the first of which is the program, in another directory than that of the test.
pub fn runs(doctor: &Doctor, words: &[String], variables: &[(&str, &str)]) -> Ran {
    assert_eq!(words[0], env!("CARGO_BIN_EXE_jobdoctor"));
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let mut command = doctor.command(&arguments);
    let state = doctor.path("state").display().to_string();
    command.env("JOBDOCTOR_STATE_DIR", state).envs(variables.iter().copied()).current_dir("/");
    Ran::of(command.output().unwrap())
}

/// Runs the one command of a crontab.
pub fn cron(doctor: &Doctor, text: &str) -> Ran {
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    assert_eq!(lines.next(), Some("SHELL=/bin/sh"));
    let line = lines.next().unwrap();
    assert_eq!(lines.next(), None, "{text}");
    let fields: Vec<&str> = line.splitn(7, ' ').collect();
    assert_eq!(fields[..6], ["*/5", "*", "*", "*", "*", "ops"], "{line}");
    // Cron ends the line at a `%` with no backslash before it, and takes the backslash away.
    let command = fields[6];
    for (at, _) in command.match_indices('%') {
        assert_eq!(&command[at - 1..at], "\\", "cron ends the command here: {}", &command[at..]);
    }
    let mut sh = std::process::Command::new("/bin/sh");
    sh.env_clear().env("HOME", doctor.home("")).env("PATH", "/usr/bin:/bin").current_dir("/");
    Ran::of(sh.arg("-c").arg(command.replace("\\%", "%")).output().unwrap())
}

/// Ten jobs of a dead worker.
fn orphans(shop: &Shop) {
    shop.in_flight(1, 10, "'web1:' || n", 7200);
}

fn are_back(shop: &Shop) {
    let states = shop.states();
    assert_eq!(states.len(), 10);
    assert!(states.iter().all(|row| row.ends_with(" QUEUED 1")), "{states:?}");
}

/// A name and a path that each reader has something of its own to say about.
const NASTY: &str = r#"50% of $HOME's "queue" \ ;#"#;

/// A config file in which that is the name of a target.
fn nasty_config(shop: &Shop, db: &str) {
    let (name, db) = (serde_json::Value::from(NASTY), serde_json::Value::from(db));
    let text = format!("[target.{name}]\ndb = {db}\nbrake = false\n");
    std::fs::write(shop.doctor.path("my config%$.toml"), text).unwrap();
}

#[test]
fn systemd_runs_it() {
    on_both(|shop| {
        orphans(shop);
        let unit = shop.run(&["generate", "systemd", "--only", "service", "--user", "ops", "--older", "10m"]).exits(0);
        assert_eq!(unit.stderr, "");
        let words = words_of_systemd(setting(&unit.stdout, "ExecStart"));
        // The brake would see that all of them are dead.
        let ran = runs(&shop.doctor, &[words, vec!["--max-jobs".to_owned(), "10".to_owned()]].concat(), &[]).exits(0);
        assert!(ran.stdout.contains("moved 10 of 10 stuck jobs"), "{ran:#?}");
        are_back(shop);
    });
}

#[test]
fn cron_runs_it() {
    on_both(|shop| {
        orphans(shop);
        // A path in a config file is taken from where the command is run.
        let db = if shop.is_postgres() { shop.url.clone() } else { shop.doctor.path("queue.db").display().to_string() };
        nasty_config(shop, &db);
        let arguments = ["generate", "cron", "--user", "ops", "--config", "my config%$.toml", "--target", NASTY];
        let text = shop.doctor.run(&arguments).exits(0).stdout;
        assert_eq!(text, shop.doctor.run(&arguments).exits(0).stdout, "the same each time");
        let ran = cron(&shop.doctor, &text).exits(0);
        assert!(ran.stdout.contains("moved 10 of 10 stuck jobs"), "{ran:#?}\n{text}");
        are_back(shop);
        // With nothing to do, it says nothing.
        let again = cron(&shop.doctor, &text).exits(0);
        assert_eq!((again.stdout.as_str(), again.stderr.as_str()), ("", ""));
    });
}

#[test]
fn a_nasty_name_goes_through_systemd_unharmed() {
    let shop = Shop::on_sqlite();
    let path = shop.doctor.path("a b%c$d'e\"f.db").display().to_string();
    shop.doctor.run(&["init", "--db", &path]).exits(0);
    nasty_config(&shop, &path);
    let arguments = ["--config", "my config%$.toml", "--target", NASTY];
    let unit =
        shop.doctor.run(&[&["generate", "systemd", "--only", "service"], &arguments[..]].concat()).exits(0).stdout;
    let words = words_of_systemd(setting(&unit, "ExecStart"));
    assert_eq!(words[1..4], ["sweep", "--target", NASTY]);
    assert!(unit.contains("StateDirectory=jobdoctor-sweep-50--of--home-s--queue\n"), "{unit}");
    runs(&shop.doctor, &words, &[]).exits(0);
    // And without a target, the path itself.
    let unit = shop.doctor.run(&["generate", "systemd", "--only", "service", "--db", &path]).exits(0).stdout;
    let words = words_of_systemd(setting(&unit, "ExecStart"));
    assert_eq!(words[1..], ["sweep", "--db", &path, "--apply"]);
    runs(&shop.doctor, &words, &[]).exits(0);
}

#[test]
fn what_the_environment_says_goes_along() {
    on_both(|shop| {
        orphans(shop);
        let doctor = Doctor::new();
        let url =
            if shop.is_postgres() { shop.url.clone() } else { shop.doctor.path("queue.db").display().to_string() };
        let mut command = doctor.command(&["generate", "systemd", "--only", "service", "--no-config"]);
        let unit = Ran::of(command.env("JOBDOCTOR_DB", &url).output().unwrap()).exits(0).stdout;
        let words = words_of_systemd(setting(&unit, "ExecStart"));
        assert_eq!(words[1..], ["sweep", "--no-config", "--apply"]);
        let said = unit.lines().find_map(|line| line.strip_prefix("Environment=")).unwrap();
        let said = words_of_systemd(said).remove(0);
        let (name, value) = said.split_once('=').unwrap();
        assert_eq!((name, value), ("JOBDOCTOR_DB", url.as_str()));
        let words = [words, vec!["--max-jobs".to_owned(), "10".to_owned()]].concat();
        runs(&doctor, &words, &[(name, value)]).exits(0);
        are_back(shop);
    });
}

/// A database of the environment counts more than that of a target of the environment, and less than that of a named one.
#[test]
fn a_target_of_the_environment_stays_one() {
    let shop = Shop::on_sqlite();
    shop.run(&["init"]).exits(0);
    orphans(&shop);
    std::fs::write(shop.doctor.path("c.toml"), "[target.other]\ndb = \"/nowhere/other.db\"\nbrake = false\n").unwrap();
    let db = shop.doctor.path("queue.db").display().to_string();
    let variables = [("JOBDOCTOR_DB", db.as_str()), ("JOBDOCTOR_TARGET", "other")];
    let mut command = shop.doctor.command(&["generate", "cron", "--user", "ops", "--config", "c.toml"]);
    let text = Ran::of(command.envs(variables).output().unwrap()).exits(0).stdout;
    cron(&shop.doctor, &text).exits(0);
    are_back(&shop);
}

#[test]
fn a_restart_sweep_before_the_worker() {
    on_both(|shop| {
        shop.in_flight(1, 10, "'web1:' || n", 5);
        shop.in_flight(11, 12, "'web2:' || n", 5);
        let drop_in = shop.run(&["generate", "systemd", "--restart", "--worker", "shop@.service"]).exits(0).stdout;
        assert!(drop_in.starts_with("# /etc/systemd/system/shop@.service.d/jobdoctor.conf\n"), "{drop_in}");
        let before = setting(&drop_in, "ExecStartPre");
        let before = before.strip_prefix('-').expect("workers start whatever comes of it");
        let words = words_of_systemd(&before.replace("--host %H ", "--host web1 "));
        assert_eq!(words[1..5], ["sweep", "--db", words[3].as_str(), "--restart"]);
        runs(&shop.doctor, &words, &[]).exits(0);
        let states = shop.states();
        assert_eq!(states.iter().filter(|row| row.ends_with(" QUEUED 1")).count(), 10, "{states:?}");
        assert_eq!(shop.rows("SELECT id FROM jobs WHERE status = 'RUNNING' ORDER BY id"), ["11", "12"]);
    });
}

#[test]
fn files_that_are_named_are_found_from_anywhere() {
    let doctor = Doctor::new();
    doctor.run(&["init", "--db", "queue.db"]).exits(0);
    let text = doctor.run(&["generate", "cron", "--user", "ops", "--db", "queue.db"]).exits(0).stdout;
    assert!(text.contains(&doctor.path("queue.db").display().to_string()), "{text}");
    cron(&doctor, &text).exits(0);
    assert!(!Path::new("/queue.db").exists());
}

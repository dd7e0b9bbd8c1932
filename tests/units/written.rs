//! The command that stands in a unit, taken out by the rules of who runs it, and run.

use crate::support::cli::{Doctor, Ran};
use crate::support::shop::{Shop, on_both};

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

/// Writes a config file with that target and more, in which the brake is off.
pub fn config(shop: &Shop, target: &str, db: &str, more: &str) {
    let (name, db) = (serde_json::Value::from(target), serde_json::Value::from(db));
    let text = format!("[target.{name}]\ndb = {db}\nbrake = false\n{more}");
    std::fs::write(shop.doctor.path("c.toml"), text).unwrap();
}

/// The address of the shop's database, from anywhere.
fn address(shop: &Shop) -> String {
    if shop.is_postgres() { shop.url.clone() } else { shop.doctor.path("queue.db").display().to_string() }
}

/// A name that each reader has something of its own to say about.
const NASTY: &str = r#"-50% of $HOME's "queue" \ ;#"#;

#[test]
fn systemd_and_cron_run_it() {
    on_both(|shop| {
        let path = shop.doctor.path("my config%$.toml").display().to_string();
        config(shop, NASTY, &address(shop), "");
        std::fs::rename(shop.doctor.path("c.toml"), &path).unwrap();
        let target = format!("--target={NASTY}");
        let generate = |kind: &[&str]| {
            let options = ["--user", "ops", "--config", "my config%$.toml", &target];
            let ran = shop.doctor.run(&[&["generate"], kind, &options].concat()).exits(0);
            assert_eq!(ran.stderr, "");
            ran.stdout
        };
        shop.in_flight(1, 10, "'web1:' || n", 7200);
        let unit = generate(&["systemd"]);
        assert!(unit.contains("StateDirectory=jobdoctor-sweep-50--of--home-s--queue\n"), "{unit}");
        let words = words_of_systemd(setting(&unit, "ExecStart"));
        assert_eq!(words[1..], ["sweep", &target, "--config", &path, "--apply"]);
        runs(&shop.doctor, &words, &[]).exits(0).shows("moved 10 of 10 stuck jobs");
        shop.in_flight(11, 20, "'web1:' || n", 7200);
        let text = generate(&["cron"]);
        let ran = cron(&shop.doctor, &text).exits(0);
        assert!(ran.stdout.contains("moved 10 of 10 stuck jobs"), "{ran:#?}\n{text}");
        let states = shop.states();
        assert!(states.len() == 20 && states.iter().all(|row| row.ends_with(" QUEUED 1")), "{states:?}");
        // With nothing to do, it says nothing.
        cron(&shop.doctor, &text).exits(0).is_silent();
    });
}

/// What names another database here changes nothing, and the default target needs no name.
#[test]
fn a_restart_sweep_before_the_worker() {
    on_both(|shop| {
        shop.in_flight(1, 10, "'web1:' || n", 5);
        shop.in_flight(11, 12, "'web2:' || n", 5);
        config(shop, "shop", &address(shop), "[target.other]\n");
        let variables =
            [("JOBDOCTOR_TARGET", "shop"), ("JOBDOCTOR_DB", "/nowhere/other.db"), ("JOBDOCTOR_CONFIG", "c.toml")];
        let mut command = shop.doctor.command(&["generate", "systemd", "--restart", "--worker", "shop@.service"]);
        let drop_in = Ran::of(command.envs(variables).output().unwrap()).exits(0).stdout;
        assert!(drop_in.starts_with("# /etc/systemd/system/shop@.service.d/jobdoctor.conf\n"), "{drop_in}");
        let before = setting(&drop_in, "ExecStartPre");
        let before = before.strip_prefix('-').expect("workers start whatever comes of it");
        let words = words_of_systemd(&before.replace("--host %H ", "--host web1 "));
        assert_eq!(words[1..4], ["sweep", "--target", "shop"]);
        assert!(words.ends_with(&["--best-effort".to_owned(), "--apply".to_owned()]), "{words:?}");
        runs(&shop.doctor, &words, &variables[1..2]).exits(0);
        let states = shop.states();
        assert_eq!(states.iter().filter(|row| row.ends_with(" QUEUED 1")).count(), 10, "{states:?}");
        assert_eq!(shop.rows("SELECT id FROM jobs WHERE status = 'RUNNING' ORDER BY id"), ["11", "12"]);
    });
}

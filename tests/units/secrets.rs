//! A password never stands in a unit, wherever it came from; and the unit works with the file that its comment asks for.

use super::written::cron;
use crate::support::cli::{Doctor, Ran};
use crate::support::shop::Shop;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const CANARY: &str = "hunter2";

/// How a database is named: arguments, and variables.
type Way<'a> = (Vec<&'a str>, Vec<(&'static str, &'a str)>);

#[test]
fn none_is_printed() {
    let doctor = Doctor::new();
    fs::write(doctor.path("password"), format!("{CANARY}\n")).unwrap();
    fs::write(doctor.path("c.toml"), format!("[target.a]\ndb = \"postgres://ops:{CANARY}@db/app\"\n")).unwrap();
    fs::set_permissions(doctor.path("c.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(doctor.home(".pgpass"), format!("*:*:*:*:{CANARY}\n")).unwrap();
    fs::set_permissions(doctor.home(".pgpass"), fs::Permissions::from_mode(0o600)).unwrap();
    let url = format!("postgres://ops:{CANARY}@db/app");
    let parts = format!("host=db dbname=app password='{CANARY}'");
    let ways: [Way<'_>; 9] = [
        (vec!["--db", &url], vec![]),
        (vec!["--db", &parts], vec![]),
        (vec![], vec![("JOBDOCTOR_DB", &url)]),
        (vec![], vec![("DATABASE_URL", &url)]),
        (vec![], vec![("PGHOST", "db"), ("PGPASSWORD", CANARY), ("PGUSER", "ops")]),
        (vec!["--db", "postgres://ops@db/app"], vec![("PGPASSWORD", CANARY)]),
        (vec!["--db", "postgres://ops@db/app"], vec![]),
        (vec!["--config", "c.toml", "--target", "a"], vec![]),
        (vec!["--config", "c.toml", "--target", "a", "--db", &url], vec![]),
    ];
    for kind in [
        vec!["systemd"],
        vec!["systemd", "--restart"],
        vec!["cron"],
        vec!["kubernetes", "--image", "i"],
        vec!["kubernetes", "--image", "i", "--restart"],
    ] {
        for (arguments, variables) in &ways {
            let arguments = [vec!["generate"], kind.clone(), arguments.clone()].concat();
            let mut command = doctor.command(&arguments);
            let ran = Ran::of(command.envs(variables.iter().copied()).output().unwrap()).exits(0);
            assert!(!format!("{ran:?}").contains(CANARY), "{arguments:?} {variables:?}: {ran:#?}");
        }
    }
    // One in a file is no more printed than the file's name says.
    let ran =
        doctor.run(&["generate", "cron", "--db", "postgres://ops@db/app", "--password-file", "password"]).exits(0);
    assert!(ran.stdout.contains(&doctor.path("password").display().to_string()), "{ran:#?}");
    assert!(!ran.stdout.contains(CANARY));
}

/// One that nobody recognised is refused rather than printed.
#[test]
fn one_in_another_place_is_refused() {
    let ran = Doctor::new().run(&["generate", "cron", "--db", "q.db", "--option", "x=password=hunter2"]).exits(2);
    assert!(!format!("{ran:?}").contains(CANARY), "{ran:#?}");
}

#[test]
fn the_file_that_the_comment_asks_for_is_read() {
    let shop = Shop::on_postgres();
    shop.run(&["init"]).exits(0);
    shop.in_flight(1, 3, "'web1:' || n", 7200);
    let db = format!("{} password={CANARY}", shop.url);
    let text = shop.doctor.run(&["generate", "cron", "--user", "ops", "--db", &db]).exits(0).stdout;
    let file = "/etc/jobdoctor/jobdoctor-sweep.env";
    let comment = "# JOBDOCTOR_DB not shown: it holds a password. Put NAME='value' into ";
    assert!(text.contains(&format!("{comment}{file}")), "{text}");
    // This place is not ours.
    let own = shop.doctor.path("sweep.env");
    fs::write(&own, format!("JOBDOCTOR_DB='{db}'\n")).unwrap();
    let text = text.replace(file, &own.display().to_string()).replace("--apply", "--apply --max-jobs 3");
    cron(&shop.doctor, &text).exits(0);
    assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1"]);
}

/// The workers' own variables are left as they are.
#[test]
fn a_drop_in_sets_nothing_that_workers_read() {
    let doctor = Doctor::new();
    let mut command = doctor.command(&["generate", "systemd", "--restart"]);
    let variables = [("DATABASE_URL", "postgres://ops:hunter2@db/app"), ("PGAPPNAME", "me"), ("PGPASSWORD", CANARY)];
    let text = Ran::of(command.envs(variables).output().unwrap()).exits(0).stdout;
    assert!(!text.lines().any(|line| line.starts_with("Environment")), "{text}");
    assert!(text.contains("The workers' own environment says where the database is: "), "{text}");
    assert!(text.contains("DATABASE_URL") && text.contains("PGAPPNAME"), "{text}");
}

//! Every setting in force, where it came from, and nothing secret.

use super::scene::incident;
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn setting<'d>(document: &'d Value, name: &str) -> (&'d str, &'d str) {
    let settings = document["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let text = |key: &str| found[key].as_str().unwrap_or("-");
    (text("value"), text("origin"))
}

fn shown(doctor: &Doctor, more: &[&str]) -> Value {
    doctor.run(&[&["env", "--json"], more].concat()).exits(0).document("env")
}

#[test]
fn of_an_address() {
    let doctor = Doctor::new()
        .env("JOBDOCTOR_STATE_DIR", "/state")
        .env("XDG_CONFIG_HOME", "/home/ops/.config")
        .env("PGUSER", "ops")
        .env("PGPORT", "5433")
        .env("PGPASSWORD", "c4n4ry");
    let ran = doctor.run(&["env", "--db", "postgres://db.example.com/app?sslmode=require"]).exits(0);
    assert_snapshot!(format!("{}{}", ran.stdout, ran.stderr));
}

#[test]
fn of_nothing() {
    Doctor::new().run(&["env"]).exits(0).says("no database is named");
    assert_eq!(shown(&Doctor::new(), &[])["database"], Value::Null);
}

#[test]
fn of_a_file() {
    let doctor = incident();
    let document = shown(&doctor, &["--db", "queue.db", "--preset", "lease", "--timeout", "90s"]);
    assert_eq!((&document["engine"], &document["database"]), (&"sqlite".into(), &"queue.db".into()));
    assert_eq!(setting(&document, "preset"), ("lease", "--preset"));
    assert_eq!(setting(&document, "timeout"), ("1m 30s", "--timeout"));
    assert_eq!(setting(&document, "older"), ("the queue library's own threshold", "default"));
}

#[test]
fn of_what_nothing_sets() {
    let doctor = Doctor::new();
    assert_eq!(setting(&shown(&doctor, &[]), "brake"), ("true", "default"));
    let user = doctor.home(".config/jobdoctor/config.toml");
    let tried = format!("default: no file at {}, /etc/jobdoctor/config.toml", user.display());
    assert_eq!(setting(&shown(&doctor, &[]), "config"), ("-", tried.as_str()));
    assert_eq!(setting(&shown(&doctor, &["--no-config"]), "config"), ("-", "--no-config"));
    fs::write(doctor.path("c.toml"), "[target.app]\ndb = \"a.db\"\nbrake = false\n").unwrap();
    let document = shown(&doctor, &["--config", "c.toml"]);
    assert_eq!(setting(&document, "brake"), ("false", "target app of c.toml"));
}

#[test]
fn of_a_target() {
    let doctor = Doctor::new();
    let config = "[target.app]\ndb = \"host=h user=u\"\nolder = \"5m\"\nread_only = true\nmax_jobs = 7\nrules = \
                  [\"max_runtime\"]\npassword_file = \"p\"\n[target.b]\ndb = \"b.db\"\n";
    fs::write(doctor.path("c.toml"), config).unwrap();
    fs::write(doctor.path("p"), "c4n4ry\n").unwrap();
    let doctor = doctor.env("JOBDOCTOR_CONFIG", "c.toml").env("JOBDOCTOR_TARGET", "app");
    let document = shown(&doctor, &[]);
    assert_eq!(setting(&document, "config"), ("c.toml", "JOBDOCTOR_CONFIG"));
    assert_eq!(setting(&document, "target"), ("app", "JOBDOCTOR_TARGET"));
    for (name, value) in
        [("older", "5m"), ("read_only", "true"), ("max_jobs", "7"), ("rules", "max_runtime"), ("password_file", "p")]
    {
        assert_eq!(setting(&document, name), (value, "target app of c.toml"));
    }
    assert_eq!(setting(&document, "postgres.host"), ("h", "target app of c.toml"));
    assert_eq!(setting(&document, "postgres.password"), ("(hidden)", "p"));
    // The flag beats the variable, and the variable the file.
    fs::write(doctor.path("q"), "c4n4ry\n").unwrap();
    let document = shown(&doctor.env("JOBDOCTOR_PASSWORD_FILE", "q"), &["--target", "app", "--preset", "x"]);
    assert_eq!(setting(&document, "password_file"), ("q", "JOBDOCTOR_PASSWORD_FILE"));
    assert_eq!(setting(&document, "target"), ("app", "--target"));
    assert_eq!(setting(&document, "preset"), ("x", "--preset"));
}

#[test]
fn of_a_service_and_a_password_file() {
    let doctor = Doctor::new().env("PGSERVICE", "app");
    fs::write(doctor.home(".pg_service.conf"), "[app]\nhost=db\ndbname=shop\nuser=ops\n").unwrap();
    fs::write(doctor.home(".pgpass"), "# mine\ndb:*:shop:ops:c4n4ry\n").unwrap();
    fs::set_permissions(doctor.home(".pgpass"), fs::Permissions::from_mode(0o600)).unwrap();
    let document = shown(&doctor, &[]);
    let service = format!("{}, line 3", doctor.home(".pg_service.conf").display());
    let password = format!("{}, line 2", doctor.home(".pgpass").display());
    assert_eq!(setting(&document, "postgres.service"), ("app", "PGSERVICE"));
    assert_eq!(setting(&document, "postgres.dbname"), ("shop", service.as_str()));
    assert_eq!(setting(&document, "postgres.password"), ("(hidden)", password.as_str()));
    assert_eq!(setting(&document, "postgres.port"), ("5432", "default"));
    // libpq leaves it unused and says so where few look.
    fs::set_permissions(doctor.home(".pgpass"), fs::Permissions::from_mode(0o644)).unwrap();
    let document = shown(&doctor, &[]);
    assert!(document["warnings"][0].as_str().unwrap().contains("0644"), "{document:#}");
    assert!(!document.to_string().contains("postgres.password"), "{document:#}");
}

#[test]
fn a_frameworks_words_are_dropped_from_its_own_variable_alone() {
    let url = "postgresql+asyncpg://ops@db/app?pool=5&schema=shop&sslmode=verify-full";
    let doctor = Doctor::new().env("DATABASE_URL", url);
    let document = shown(&doctor, &[]);
    assert_eq!(setting(&document, "postgres.sslmode"), ("verify-full", "DATABASE_URL"));
    assert_eq!(
        document["warnings"],
        serde_json::json!([
            "ignored in DATABASE_URL, because the server does not know it: +asyncpg of the scheme, pool \
                            (Rails), schema (Prisma)"
        ])
    );
    fails(&Doctor::new(), &["env", "--db", url], 2);
    let ran = fails(&Doctor::new(), &["env", "--db", "postgres://ops@db/app?pool=5"], 2);
    assert_snapshot!(ran.stderr, @"error: `pool` is a word of Rails that means nothing to a server: leave it out. jobdoctor drops it only from DATABASE_URL, where frameworks look");
    // Whom to trust is never dropped.
    fails(&Doctor::new().env("DATABASE_URL", "postgres://ops@db/app?ssl=no-verify"), &["env"], 2);
}

#[test]
fn what_cannot_be_honoured_is_refused_by_name() {
    for (key, value) in [
        ("gssencmode", "require"),
        ("require_auth", "scram-sha-256"),
        ("sslpassword", "c4n4ry"),
        ("sslcertmode", "require"),
    ] {
        let ran = fails(&Doctor::new(), &["env", "--db", &format!("host=h {key}={value}")], 2);
        assert!(ran.stderr.contains(&format!("`{key}`")) && !ran.stderr.contains("c4n4ry"), "{key}: {ran:#?}");
    }
    fails(&Doctor::new().env("PGREQUIREPEER", "postgres").env("PGHOST", "/tmp"), &["env"], 2).says("PGREQUIREPEER");
    // What `docker --env-file` leaves in a variable, and what somebody pastes.
    let ran = fails(&Doctor::new().env("DATABASE_URL", "\"postgres://ops@h/app\""), &["env"], 2);
    ran.says("DATABASE_URL begins with a quote");
    for harmless in ["gssencmode=prefer", "client_encoding=UTF8", "sslcompression=0", "ssl_min_protocol_version=TLSv1"]
    {
        shown(&Doctor::new(), &["--db", &format!("host=h {harmless}")]);
    }
}

#[test]
fn a_service_that_is_not_there() {
    let doctor = Doctor::new().env("PGSYSCONFDIR", "/nonexistent");
    fails(&doctor, &["env", "--db", "service=app"], 78).says("no service `app`");
    fs::write(doctor.path("services"), "[app]\nhost=h\nbogus\n").unwrap();
    let doctor = doctor.env("PGSERVICEFILE", "services");
    let ran = fails(&doctor, &["env", "--db", "service=app"], 78);
    assert_snapshot!(ran.stderr, @"error: service file services, line 3: it is not a key=value pair");
    // A pipe that nobody writes to would be read for ever.
    let services = doctor.path("services");
    fs::remove_file(&services).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &services, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let ran = fails(&doctor, &["env", "--db", "service=app"], 78);
    assert_snapshot!(ran.stderr, @"error: service file services cannot be read: it is not a plain file");
}

#[test]
fn a_config_file_with_a_password_is_its_owners_alone() {
    let doctor = Doctor::new();
    let path = doctor.path("config.toml");
    fs::write(&path, "[target.app]\ndb = \"postgres://ops:c4n4ry@db/app\"\n").unwrap();
    for (mode, code) in [(0o600, 0), (0o400, 0), (0o604, 78), (0o660, 78), (0o602, 78)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let ran = doctor.run(&["env", "--config", "config.toml"]).exits(code);
        assert_eq!(code == 78, ran.stderr.contains("chmod "), "{mode:o}: {ran:#?}");
    }
    // Where there is none, anybody may read it.
    fs::write(&path, "[target.app]\ndb = \"postgres://ops@db/app\"\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    doctor.run(&["env", "--config", "config.toml"]).exits(0);
}

/// `--password-file <(pass show db)`: a pipe can be read only once.
#[test]
fn a_password_from_a_pipe() {
    let doctor = Doctor::new();
    let pipe = doctor.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let writer = std::thread::spawn(move || fs::write(&pipe, "c4n4ry\n").unwrap());
    let document = shown(&doctor, &["--db", "host=h", "--password-file", "pipe"]);
    assert_eq!(setting(&document, "postgres.password"), ("(hidden)", "pipe"));
    writer.join().unwrap();
    // One that holds none.
    fs::write(doctor.path("empty"), "\n").unwrap();
    for name in ["empty", "missing"] {
        fails(&doctor, &["env", "--db", "host=h", "--password-file", name], 78).says(&format!("password file {name}"));
    }
}

#[test]
fn a_targets_password_stays_with_its_database() {
    let doctor = Doctor::new().env("JOBDOCTOR_TARGET", "app").env("JOBDOCTOR_CONFIG", "c.toml");
    fs::write(doctor.path("c.toml"), "[target.app]\ndb = \"host=h user=u\"\npassword_file = \"p\"\n").unwrap();
    fs::write(doctor.path("p"), "c4n4ry\n").unwrap();
    assert!(shown(&doctor, &[]).to_string().contains("postgres.password"));
    assert!(!shown(&doctor, &["--db", "host=elsewhere user=u"]).to_string().contains("postgres.password"));
}

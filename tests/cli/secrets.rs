//! A password never comes back: not in an error, not in a document, not in a hint, not in help.

use crate::support::cli::{Doctor, Ran, is_valid, until};
use crate::support::dice::one_in;
use crate::support::impostor::Impostor;
use crate::support::postgres::fresh;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

const CANARY: &str = "c4n4ry-p4ss";

#[track_caller]
fn says_nothing(doctor: &Doctor, arguments: &[&str]) -> Ran {
    let ran = doctor.run(arguments);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!said.contains("c4n4ry"), "{arguments:?}: {ran:#?}");
    ran
}

#[track_caller]
fn keeps_quiet(doctor: &Doctor, arguments: &[&str], code: i32) {
    for more in [&["-v"][..], &["--json"]] {
        let ran = says_nothing(doctor, &[arguments, more].concat()).exits(code);
        if let Ok(document) = serde_json::from_str(&ran.stderr) {
            is_valid("error", &document);
        }
    }
}

fn private(doctor: &Doctor, file: &str, text: &str) {
    fs::write(doctor.path(file), text).unwrap();
    fs::set_permissions(doctor.path(file), fs::Permissions::from_mode(0o600)).unwrap();
}

/// Addresses that lead nowhere, each with a password; and the code it ends in.
fn addresses() -> Vec<(String, i32)> {
    [
        ("postgres://ops:PASS@127.0.0.1:1/app", 69),
        ("postgresql://ops:PASS@localhost:1/app?connect_timeout=1", 69),
        ("host=127.0.0.1 port=1 user=ops password=PASS dbname=app", 69),
        ("host=/nonexistent user=ops password='PASS' dbname=app", 69),
        ("postgres://ops@127.0.0.1:1/app?password=PASS", 69),
        ("postgres://ops:PASS@db.invalid/app", 69),
        ("postgres://ops:PA@SS@db.invalid/app", 2),
        ("postgres://ops:12/PASS@db.invalid/app", 2),
        ("postgres://ops:PA@SS@db:internal:x/app", 2),
        ("postgres://ops:PASS@127.0.0.1:port/app", 2),
        ("host=127.0.0.1 password=PASS bogus=1", 2),
        ("password=PASS port=x", 2),
        ("mysql://ops:PASS@db/app", 2),
        ("postgres:/ops:PASS@db/app", 2),
    ]
    .iter()
    .map(|(address, code)| (address.replace("PASS", CANARY).replace("PA@SS", "c4n4ry@p4ss"), *code))
    .collect()
}

#[test]
fn of_an_address_wherever_it_is_given() {
    for (address, code) in addresses() {
        keeps_quiet(&Doctor::new(), &["stale", "--db", &address], code);
        keeps_quiet(&Doctor::new(), &["check", &format!("--db={address}")], code);
        keeps_quiet(&Doctor::new().env("DATABASE_URL", &address), &["stale"], code);
        keeps_quiet(&Doctor::new().env("JOBDOCTOR_DB", &address), &["reclaim"], code);
        let doctor = Doctor::new();
        private(&doctor, "config.toml", &format!("[target.app]\ndb = \"{address}\"\n"));
        keeps_quiet(&doctor, &["stale", "--config", "config.toml"], code);
    }
    let doctor = Doctor::new().env("PGHOST", "127.0.0.1").env("PGPORT", "1").env("PGPASSWORD", CANARY);
    keeps_quiet(&doctor, &["owners"], 69);
    keeps_quiet(&doctor.env("PGPORT", "x"), &["owners"], 2);
    // A mistake near it must not quote it.
    let (doctor, address) = (Doctor::new(), &addresses()[0].0);
    for text in [
        format!("dbb = \"{address}\"\n"),
        format!("db = [\"{address}\"]\n"),
        format!("db = {address}\n"),
        format!("db = \"{address}\n"),
        format!("db = \"{address}\" ; preset = \"lease\"\n"),
    ] {
        private(&doctor, "config.toml", &format!("[target.app]\n{text}"));
        keeps_quiet(&doctor, &["stale", "--config", "config.toml"], 78);
    }
}

#[test]
fn of_a_mistyped_command_line() {
    for address in ["postgres://ops:PASS@127.0.0.1:1/app", "host=127.0.0.1 user=ops password=PASS dbname=app"] {
        let address = address.replace("PASS", CANARY);
        let (flag, to) = (format!("--bd={address}"), format!("--to={address}"));
        for arguments in [
            &["stale", &address][..],
            &[&address],
            &["stale", &flag],
            &["stale", "--bd", &address],
            &["stale", "--older", &address],
            &["stale", "--db", &address, "--older", "5M"],
            &["reclaim", "--to", &address],
            &["reclaim", &to],
            &["completions", &address],
        ] {
            keeps_quiet(&Doctor::new(), arguments, 2);
        }
    }
}

#[test]
fn of_a_help_text() {
    let doctor = Doctor::new()
        .env("JOBDOCTOR_DB", format!("postgres://ops:{CANARY}@127.0.0.1:1/app"))
        .env("DATABASE_URL", format!("postgres://ops:{CANARY}@127.0.0.1:1/app"))
        .env("PGPASSWORD", CANARY);
    for arguments in
        [&["--help"][..], &["-h"], &["stale", "--help"], &["reclaim", "-h"], &["man", "stale"], &["init", "--help"]]
    {
        says_nothing(&doctor, arguments).exits(0);
    }
}

struct Place {
    name: &'static str,
    doctor: Doctor,
    arguments: Vec<String>,
    /// Whether the server is told it; if not, it must be refused.
    arrives: bool,
}

/// Every place that a password can come from. `rest` is what comes behind user and password in a URL, `pairs` the same
/// as `key=value`.
fn places(rest: &str, pairs: &str) -> Vec<Place> {
    let place = |name, doctor, arguments: &[&str]| Place {
        name,
        doctor,
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        arrives: true,
    };
    let url = format!("postgres://ops:{CANARY}@{rest}");
    let plain = format!("postgres://ops@{rest}");
    let in_pairs = format!("{pairs} user=ops password={CANARY}");
    let absent = |name, arguments: &[&str]| Place { arrives: false, ..place(name, Doctor::new(), arguments) };
    let with = |file: &str, text: String| {
        let doctor = Doctor::new();
        private(&doctor, file, &text);
        doctor
    };
    let named = format!("[target.app]\ndb = \"{plain}\"\npassword_file = \"secret\"\n");
    let named_in_config = with("config.toml", named);
    private(&named_in_config, "secret", CANARY);
    let service = format!("[app]\n{}\nuser=ops\npassword={CANARY}\n", pairs.replace(' ', "\n"));
    let in_a_service = with("services", service).env("PGSERVICEFILE", "services").env("PGSERVICE", "app");
    let in_config = with("config.toml", format!("[target.app]\ndb = \"{url}\"\n"));
    let in_a_file = with("secret", format!("{CANARY}\nsecond line\n"));
    let in_a_named_file = with("secret", CANARY.to_owned()).env("JOBDOCTOR_PASSWORD_FILE", "secret");
    let in_pgpassfile = with("passes", format!("*:*:*:*:{CANARY}\n")).env("PGPASSFILE", "passes");
    let in_pgpass = with("../home/.pgpass", format!("# mine\n*:*:*:ops:{CANARY}\n"));
    let framework = format!("postgresql+asyncpg://ops:{CANARY}@{rest}?pool=5&schema=x&connection_limit=1");
    vec![
        place("a URL", Doctor::new(), &["--db", &url]),
        place("a URL's parameter", Doctor::new(), &["--db", &format!("{plain}?password={CANARY}")]),
        place("pairs", Doctor::new(), &["--db", &in_pairs]),
        place("pairs with quotes", Doctor::new(), &["--db", &in_pairs.replace(CANARY, &format!("'{CANARY}'"))]),
        place("JOBDOCTOR_DB", Doctor::new().env("JOBDOCTOR_DB", &url), &[]),
        place("DATABASE_URL", Doctor::new().env("DATABASE_URL", framework), &[]),
        place("PGPASSWORD", Doctor::new().env("PGPASSWORD", CANARY), &["--db", &plain]),
        place("PGPASSFILE", in_pgpassfile, &["--db", &plain]),
        place("~/.pgpass", in_pgpass, &["--db", &plain]),
        place("a service", in_a_service, &[]),
        place("the config file", in_config, &["--config", "config.toml"]),
        place("a file that the config file names", named_in_config, &["--config", "config.toml"]),
        place("a file", in_a_file, &["--db", &plain, "--password-file", "secret"]),
        place("a file that a variable names", in_a_named_file, &["--db", &plain]),
        absent("sslpassword", &["--db", &format!("{pairs} user=ops sslpassword={CANARY}")]),
        absent("a file that is not there", &["--db", &plain, "--password-file", "nowhere"]),
    ]
}

const COMMANDS: [&[&str]; 8] = [
    &["stale"],
    &["show", "1"],
    &["owners"],
    &["check"],
    &["reclaim"],
    &["reclaim", "--apply"],
    &["sweep", "--apply"],
    &["env"],
];

#[test]
fn of_any_place_where_the_server_wants_another() {
    let impostor = Impostor::new();
    let [port, _] = impostor.ports();
    for place in places(&format!("127.0.0.1:{port}/app"), &format!("host=127.0.0.1 port={port} dbname=app")) {
        let arguments: Vec<&str> = place.arguments.iter().map(String::as_str).collect();
        for command in COMMANDS {
            for more in [&["-v"][..], &["--json"]] {
                let ran = says_nothing(&place.doctor, &[command, &arguments, more].concat());
                let visits = impostor.visits();
                let code = match (place.arrives, command[0]) {
                    (true, "env") => 0,
                    (true, _) => 77,
                    (false, _) => [2, 78].into_iter().find(|code| *code == ran.code).unwrap_or(2),
                };
                assert_eq!(ran.code, code, "{}: {command:?}: {ran:#?}", place.name);
                // Else the test would prove nothing: the password was there, and was used.
                let arrived = visits.iter().any(|visit| visit.password.as_deref() == Some(CANARY));
                assert_eq!(arrived, code == 77, "{}: {command:?}: {visits:#?}", place.name);
            }
        }
    }
}

#[test]
fn of_any_place_where_all_is_well() {
    let database = fresh();
    let socket = database.socket().display().to_string();
    let name = database.url().rsplit_once('=').unwrap().1.to_owned();
    database.client().batch_execute("CREATE ROLE ops SUPERUSER LOGIN").ok();
    Doctor::new().run(&["init", "--db", &database.url()]).exits(0);
    let encoded = socket.replace('/', "%2F");
    for place in one_in(3, places(&format!("{encoded}/{name}"), &format!("host={socket} dbname={name}"))) {
        let arguments: Vec<&str> = place.arguments.iter().map(String::as_str).collect();
        database.client().batch_execute(DEAD).unwrap();
        for command in COMMANDS {
            for more in [&["-v"][..], &["--json"]] {
                let ran = says_nothing(&place.doctor, &[command, &arguments, more].concat());
                assert_eq!(ran.code == 0, place.arrives, "{}: {command:?}: {ran:#?}", place.name);
            }
        }
        // What was written holds it neither.
        let rows = database.client().query("SELECT jobs::text FROM jobs", &[]).unwrap();
        let rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert!(rows.len() == 1 && !rows[0].contains("c4n4ry"), "{}: {rows:?}", place.name);
        assert_eq!(rows[0].contains("QUEUED"), place.arrives, "{}: {rows:?}", place.name);
    }
}

const DEAD: &str = "DELETE FROM jobs;
    INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at)
    VALUES (1, 'mail', 'SendInvoice', 'RUNNING', 'web1:1', now() - interval '2h', now() - interval '1h')";

/// Who lists the processes of a machine sees no password that came from a file or the environment.
#[test]
fn of_the_list_of_processes() {
    let impostor = Impostor::silent();
    let [port, _] = impostor.ports();
    for place in places(&format!("127.0.0.1:{port}/app"), &format!("host=127.0.0.1 port={port} dbname=app")) {
        let typed = place.arguments.iter().any(|argument| argument.contains(CANARY));
        if typed || !place.arrives {
            continue;
        }
        let arguments: Vec<&str> = place.arguments.iter().map(String::as_str).collect();
        let mut command = place.doctor.command(&[&["reclaim"], &arguments[..], &["--apply"]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it has connected", || impostor.has_guests());
        let listed = Command::new("ps").args(["-ww", "-o", "args=", "-p", &child.id().to_string()]).output();
        let of_proc = fs::read(format!("/proc/{}/cmdline", child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        until("it has gone", || !impostor.has_guests());
        let listed = of_proc.unwrap_or_else(|_| listed.unwrap().stdout);
        let listed = String::from_utf8_lossy(&listed).replace('\0', " ");
        assert!(listed.contains("reclaim") && !listed.contains(CANARY), "{}: {listed}", place.name);
    }
}

/// What is meant for an address and is none is not shown as the name of a file that is not there.
#[test]
fn of_an_address_that_is_taken_for_a_path() {
    for address in [
        "ops:SECRET@127.0.0.1/app",
        "pasword=SECRET host=127.0.0.1",
        "PGPASSWORD=SECRET",
        "PGPASSWORD=SECRET postgres://ops@127.0.0.1/app",
        "jdbc:postgresql://127.0.0.1/app?user=ops&password=SECRET",
        "Postgres://ops:SECRET@127.0.0.1/app",
        "postgres:ops:SECRET@127.0.0.1/app",
        "postgresql//ops:SECRET@127.0.0.1/app",
    ] {
        let address = address.replace("SECRET", CANARY);
        for command in COMMANDS {
            says_nothing(&Doctor::new(), &[command, &["--db", &address]].concat());
        }
        says_nothing(&Doctor::new().env("DATABASE_URL", &address), &["stale"]);
        says_nothing(&Doctor::new(), &["stale", &address]);
    }
}

/// An address where no address belongs: in libpq's variables, in those of jobdoctor, in a service and in the config file.
#[test]
fn of_an_address_where_none_belongs() {
    let variables: Vec<&str> =
        jobdoctor::store::variables().map(|(name, _)| name).filter(|name| *name != "PGPASSWORD").collect();
    let own = ["JOBDOCTOR_CONFIG", "JOBDOCTOR_TARGET", "JOBDOCTOR_PASSWORD_FILE", "JOBDOCTOR_STATE_DIR"];
    let files = ["PGSERVICEFILE", "PGSYSCONFDIR"];
    for address in ["postgres://u:SECRET@h/d", "host=h password=SECRET", "u:SECRET@h/d", "pasword='SECRET' host=h"] {
        let address = address.replace("SECRET", CANARY);
        for name in variables.iter().copied().chain(own).chain(files) {
            for arguments in [&["env"][..], &["env", "--json"], &["stale", "-v"]] {
                let doctor = Doctor::new().env("PGHOST", "127.0.0.1").env("PGPORT", "1").env(name, &address);
                let ran = says_nothing(&doctor, arguments);
                let is_a_name =
                    ["PGDATABASE", "PGUSER", "PGHOST", "PGAPPNAME", "PGOPTIONS", "PGSERVICE"].contains(&name);
                assert!(!is_a_name || ran.code == 2, "{name}: {ran:#?}");
            }
        }
        for key in ["password_file", "preset", "schema", "table"] {
            let doctor = Doctor::new();
            private(&doctor, "config.toml", &format!("[target.app]\ndb = \"q.db\"\n{key} = \"{address}\"\n"));
            for command in ["env", "check"] {
                says_nothing(&doctor, &[command, "--config", "config.toml", "--json"]);
            }
        }
        let doctor = Doctor::new().env("PGSERVICEFILE", "services").env("PGSERVICE", "app");
        private(&doctor, "services", &format!("[app]\nhost=127.0.0.1\ndbname={address}\n"));
        says_nothing(&doctor, &["env"]).exits(78);
    }
    let doctor = Doctor::new();
    let on_run = format!("db = \"q.db\"\non_run = [\"/bin/true\", \"-d\", \"https://hooks.example/T0/{CANARY}\"]\n");
    private(&doctor, "config.toml", &format!("[target.app]\n{on_run}"));
    for more in [&[][..], &["--json"]] {
        says_nothing(&doctor, &[&["env", "--config", "config.toml"], more].concat())
            .exits(0)
            .shows("/bin/true (2 arguments");
        says_nothing(&doctor, &[&["config", "check", "--config", "config.toml"], more].concat()).exits(0);
    }
}

/// There is no flag for a password, and who thinks there is shall not see it again.
#[test]
fn of_a_flag_that_does_not_exist() {
    for flag in ["--password", "--pasword", "--password-fil", "-W", "-p", "--pass"] {
        // What is attached to a long flag is part of its name.
        let is_short = !flag.starts_with("--");
        let (joined, attached) = (format!("{flag}={CANARY}"), format!("{flag}{}", if is_short { CANARY } else { "" }));
        for arguments in [&["stale", flag, CANARY][..], &["stale", &joined], &["stale", &attached]] {
            keeps_quiet(&Doctor::new(), arguments, 2);
        }
    }
}

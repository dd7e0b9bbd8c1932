//! Times without a zone, written by workers in every zone that there is: a living one never loses its job, whatever is asked.

use crate::support::cli::Doctor;
use crate::support::postgres::fresh;
use std::fs::write;

/// A zone of each offset that never changes its clocks, with its minutes east of UTC.
fn zones() -> Vec<(String, i64)> {
    let whole = (-12..=14).map(|hours: i64| (format!("Etc/GMT{:+}", -hours), hours * 60));
    let parts = [
        ("Pacific/Marquesas", -570),
        ("Asia/Tehran", 210),
        ("Asia/Kabul", 270),
        ("Asia/Kolkata", 330),
        ("Asia/Kathmandu", 345),
        ("Asia/Yangon", 390),
        ("Australia/Eucla", 525),
        ("Australia/Darwin", 570),
    ];
    whole.chain(parts.map(|(name, minutes)| (name.to_owned(), minutes))).collect()
}

/// So many minutes ago, as a clock shows it that is so many minutes ahead of UTC.
type Ago = fn(i64, i64) -> String;

const SQLITE: Ago = |minutes, ahead| format!("strftime('%Y-%m-%d %H:%M:%S', 'now', '{} minutes')", ahead - minutes);
const NATIVE: Ago = |minutes, ahead| format!("(now() AT TIME ZONE 'UTC' + interval '{} minutes')", ahead - minutes);
const TEXT: Ago = |minutes, ahead| {
    format!("to_char(now() AT TIME ZONE 'UTC' + interval '{} minutes', 'YYYY-MM-DD HH24:MI:SS')", ahead - minutes)
};

/// A table of jobs of two hosts: `local` keeps local time, `utc` keeps UTC. Of each 1 or 4 lives, 2 has been dead for 40 hours
/// and 3 for two.
fn owned(ago: Ago, ahead: i64) -> String {
    let rows =
        [(1, "local", ago(2, ahead)), (2, "local", ago(2400, ahead)), (3, "utc", ago(120, 0)), (4, "utc", ago(1, 0))];
    rows.map(|(id, owner, at)| format!("INSERT INTO q VALUES ({id}, 'working', '{owner}', {at}, NULL);")).concat()
}

/// Jobs without owners, of an application that keeps local time: 1 lives, 2 has been dead for 40 hours, 3 for two; 4 waits.
fn ownerless(ago: Ago, ahead: i64, created: i64) -> String {
    let rows = [(1, ago(2, ahead)), (2, ago(2400, ahead)), (3, ago(120, ahead))];
    let rows = rows.map(|(id, at)| format!("INSERT INTO q VALUES ({id}, 'working', NULL, {at}, NULL);")).concat();
    format!("{rows} INSERT INTO q VALUES (4, 'new', NULL, NULL, {});", ago(created, ahead))
}

fn mapping(how: &str, zone: &str) -> String {
    format!(
        r#"[mapping.m]
time = {{ default = "{how}" }}
{zone}
states = {{ waiting = ["new"], in_flight = ["working"] }}
[mapping.m.claim]
table = "q"
key = "id"
state = "status"
claimed_at = "started"
created_at = "created"
liveness = [{{ by = "age", silent_after = "1h" }}]
[mapping.m.owner]
id = "worker"
[mapping.m.action]
requeue = {{ to = "new", clear = ["worker", "started"] }}
"#
    )
}

/// What each command calls stuck, and the verdict on each job by `show`.
fn asked(doctor: &Doctor, db: &str, commands: &[&str]) -> Vec<(String, String)> {
    let run = |arguments: &[&str]| {
        let ran = doctor.run(&[arguments, &["--config", "m.toml", "--preset", "m", "--db", db]].concat());
        assert!(ran.code == 0 || arguments[0] == "health", "{}", ran.whole());
        ran
    };
    let said = |command: &&str| {
        let stuck = match *command {
            "show" => {
                let shown = run(&["show", "1", "2", "3", "--json"]).json();
                let jobs = shown["jobs"].as_array().unwrap().clone();
                let stuck = jobs.iter().filter(|job| job["verdict"] == "stuck");
                stuck.map(|job| format!("{}\n", job["id"].as_str().unwrap())).collect()
            }
            // It counts only.
            "health" => "#".repeat(run(&["health", "--json"]).json()["summary"]["stuck"].as_u64().unwrap() as usize),
            listed => run(&[listed, "-o", "name"]).stdout,
        };
        ((*command).to_owned(), stuck)
    };
    commands.iter().map(said).collect()
}

const COMMANDS: [&str; 5] = ["stale", "show", "reclaim", "sweep", "health"];

/// Plays both tables in each zone; `play` makes the tables anew and gives their address.
fn never_moves_a_living_job(
    how: &str,
    ago: Ago,
    commands: fn(usize) -> Vec<&'static str>,
    play: &dyn Fn(&Doctor, &str) -> String,
) {
    for (n, (zone, ahead)) in zones().into_iter().enumerate() {
        let doctor = Doctor::new();
        let is = |rows: String, said: &str, stuck: &[&str], what: &str| {
            write(doctor.path("m.toml"), mapping(how, said)).unwrap();
            let db = play(&doctor, &rows);
            for (command, seen) in asked(&doctor, &db, &commands(n)) {
                let wanted =
                    if command == "health" { "#".repeat(stuck.len()) } else { format!("{}\n", stuck.join("\n")) };
                assert_eq!(seen, wanted, "{command}, {how} in {zone}: {what}");
            }
        };
        // The owner with a fresh time in UTC is shown, the other one's old claim is dead in any zone.
        is(owned(ago, ahead), "", &["2", "3"], "two owners");
        let shown = if ahead == 0 { vec!["2", "3"] } else { vec!["2"] };
        is(ownerless(ago, ahead, 3000), "", &shown, "no owner");
        let said = format!("time_zone = \"{zone}\"");
        is(ownerless(ago, ahead, 3000), &said, &["2", "3"], "no owner, and the zone is said");
    }
}

#[test]
fn text_on_sqlite() {
    never_moves_a_living_job("text YYYY-MM-DD HH:MM:SS", SQLITE, |_| COMMANDS.to_vec(), &|doctor, rows| {
        doctor.sql("q.db", "DROP TABLE IF EXISTS q; CREATE TABLE q (id integer primary key, status text, worker text, started text, created text)");
        doctor.sql("q.db", rows);
        "q.db".to_owned()
    });
}

fn on_postgres(how: &str, of_type: &str, ago: Ago) {
    let database = fresh();
    // One command each: they judge by the same snapshot.
    never_moves_a_living_job(how, ago, |n| vec![COMMANDS[n % COMMANDS.len()]], &|_, rows| {
        let table = format!(
            "CREATE TABLE q (id bigint primary key, status text, worker text, started {of_type}, created {of_type})"
        );
        database.client().batch_execute(&format!("DROP TABLE IF EXISTS q; {table}; {rows}")).unwrap();
        database.url()
    });
}

#[test]
fn timestamps_on_postgres() {
    on_postgres("native local", "timestamp", NATIVE);
}

#[test]
fn text_on_postgres() {
    on_postgres("text YYYY-MM-DD HH:MM:SS", "text", TEXT);
}

/// A table on SQLite, and what a command prints of it.
fn printed(rows: &str, command: &[&str]) -> String {
    let doctor = Doctor::new();
    write(doctor.path("m.toml"), mapping("text YYYY-MM-DD HH:MM:SS", "")).unwrap();
    doctor.sql("q.db", "CREATE TABLE q (id integer primary key, status text, worker text, started text, created text)");
    doctor.sql("q.db", rows);
    doctor
        .run(&[command, &["--config", "m.toml", "--preset", "m", "--db", "q.db", "-o", "name"]].concat())
        .exits(0)
        .stdout
}

/// A restart sweep is told who is dead; that a claim is older than the sweep, only its time tells.
#[test]
fn a_restart_sweep_believes_no_time_of_another_zone() {
    assert_eq!(printed(&owned(SQLITE, -300), &["sweep", "--restart", "--all-owners"]), "2\n3\n4\n");
}

#[test]
fn a_new_job_shows_the_zone_unless_another_one_is_ahead() {
    let dead = format!("INSERT INTO q VALUES (1, 'working', NULL, {}, NULL);", SQLITE(120, 0));
    let created = |id, minutes| format!("INSERT INTO q VALUES ({id}, 'new', NULL, NULL, {});", SQLITE(minutes, 0));
    for (rows, stuck) in [
        (dead.clone(), ""),
        (format!("{dead}{}", created(2, 9)), "1\n"),
        (format!("{dead}{}", created(2, 11)), ""),
        (format!("{dead}{}{}", created(2, 9), created(3, -2)), ""),
    ] {
        assert_eq!(printed(&rows, &["stale"]), stuck, "{rows}");
    }
}

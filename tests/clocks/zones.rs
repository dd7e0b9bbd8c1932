//! Times without a zone, written by workers in every zone that there is: a living one never loses its job, whatever is asked.

use crate::support::cli::{Doctor, Ran};
use crate::support::dice::one_in;
use crate::support::shop::Shop;
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
    for (n, (zone, ahead)) in one_in(3, zones()).into_iter().enumerate() {
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
        // What is dead in any zone is dead; no fresh value, of whatever owner, says more.
        is(owned(ago, ahead), "", &["2"], "two owners");
        let dead = if ahead == -720 { vec!["2", "3"] } else { vec!["2"] };
        is(ownerless(ago, ahead, 1), "", &dead, "no owner");
        let said = format!("time_zone = \"{zone}\"");
        is(ownerless(ago, ahead, 3000), &said, &["2", "3"], "no owner, and the zone is said");
    }
}

#[test]
fn text_on_sqlite() {
    never_moves_a_living_job("text YYYY-MM-DD HH:MM:SS", SQLITE, |_| COMMANDS.to_vec(), &|doctor, rows| {
        doctor.sql_in("q.db", &format!("DROP TABLE IF EXISTS q; {TABLE} {rows}"));
        "q.db".to_owned()
    });
}

fn on_postgres(how: &str, of_type: &str, ago: Ago) {
    let shop = Shop::on_postgres();
    // A type is called as ever, whatever the database says of names.
    shop.sql(&format!("ALTER DATABASE {} SET quote_all_identifiers = on", shop.server().name()));
    // One command each: they judge by the same snapshot.
    never_moves_a_living_job(how, ago, |n| vec![COMMANDS[n % COMMANDS.len()]], &|_, rows| {
        let table = format!(
            "CREATE TABLE q (id bigint primary key, status text, worker text, started {of_type}, created {of_type})"
        );
        shop.sql(&format!("DROP TABLE IF EXISTS q; {table}; {rows}"));
        shop.url.clone()
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

const TABLE: &str = "CREATE TABLE q (id integer primary key, status text, worker text, started text, created text);";

/// A new table on SQLite with these rows, looked at with that mapping.
fn on_sqlite(mapping: &str, rows: &str, command: &[&str]) -> Ran {
    let doctor = Doctor::new();
    write(doctor.path("m.toml"), mapping).unwrap();
    doctor.sql_in("q.db", &format!("{TABLE} {rows}"));
    doctor.run(&[command, &["--config", "m.toml", "--preset", "m", "--db", "q.db"]].concat()).exits(0)
}

fn printed(mapping: &str, rows: &str, command: &[&str]) -> String {
    on_sqlite(mapping, rows, &[command, &["-o", "name"]].concat()).stdout
}

fn plain() -> String {
    mapping("text YYYY-MM-DD HH:MM:SS", "")
}

/// An application east of UTC keeps local time: what lies ahead names the setting that nobody made.
#[test]
fn a_time_ahead_names_the_zone() {
    for (zone, is_named) in [("", true), ("time_zone = \"UTC\"", false)] {
        for command in [&["stale"][..], &["show", "1"], &["reclaim"]] {
            let mapping = mapping("text YYYY-MM-DD HH:MM:SS", zone);
            let said = on_sqlite(&mapping, &ownerless(SQLITE, 120, 0), command).whole();
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("ahead of the database's clock"), "{command:?}: {said}");
            assert_eq!(said.contains("clock, or `time_zone` is missing"), is_named, "{command:?}: {said}");
        }
    }
}

/// A restart sweep is told who is dead; that a claim is older than the sweep, its time tells in every zone or not at all.
#[test]
fn a_restart_sweep_believes_no_time_of_another_zone() {
    let rows = |local, utc| {
        let claim = |id, owner, at: String| format!("INSERT INTO q VALUES ({id}, 'working', '{owner}', {at}, NULL);");
        claim(1, "local", SQLITE(local, -300))
            + &claim(2, "local", SQLITE(local + 2400, -300))
            + &claim(3, "utc", SQLITE(utc, 0))
    };
    assert_eq!(printed(&plain(), &rows(5, 125), &["sweep", "--restart", "--all-owners"]), "2\n1\n3\n");
    assert_eq!(printed(&plain(), &rows(0, 120), &["sweep", "--restart", "--all-owners"]), "2\n");
    // What stays is said although nobody watches: workers start next.
    for (owner, unknown) in [("utc", "1 unknown claim was skipped, job "), ("web9", "no owner like web9 ")] {
        let ran = on_sqlite(&plain(), &rows(0, 120), &["sweep", "--restart", "--apply", "--owner", owner]);
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{ran:#?}");
        ran.says(unknown);
    }
}

/// Where one application writes all times, a fresh one shows that they are in UTC.
#[test]
fn a_fresh_time_shows_the_zone_unless_another_is_ahead() {
    let claimed = |id, ago: String| format!("INSERT INTO q VALUES ({id}, 'working', NULL, {ago}, NULL);");
    let created = |id, minutes| format!("INSERT INTO q VALUES ({id}, 'new', NULL, NULL, {});", SQLITE(minutes, 0));
    let dead = claimed(1, SQLITE(120, 0));
    let living = format!("INSERT INTO q VALUES (3, 'working', NULL, {}, {});", SQLITE(1, -300), SQLITE(400, 0));
    let filled = "DROP TABLE q; CREATE TABLE q (id integer primary key, status text, worker text, started text,
        created text DEFAULT CURRENT_TIMESTAMP);";
    for (rows, stuck) in [
        (dead.clone(), ""),
        (format!("{dead}{}", claimed(2, SQLITE(9, 0))), "1\n"),
        (format!("{dead}{}", claimed(2, SQLITE(11, 0))), ""),
        (format!("{dead}{}{}", claimed(2, SQLITE(9, 0)), created(3, -2)), ""),
        (format!("{dead}{}", created(2, 9)), "1\n"),
        (format!("{dead}{}", created(2, 11)), ""),
        // One value that cannot be read is one that may lie ahead.
        (format!("{dead}{}", claimed(2, SQLITE(9, 0)) + &claimed(3, "'soon'".to_owned())), ""),
        // The database writes when a job was created, the worker keeps New York's time.
        (format!("{filled}{living}{}", created(2, 1)), ""),
    ] {
        let shown = mapping("text YYYY-MM-DD HH:MM:SS", "time_zone = \"utc if shown\"");
        assert_eq!(printed(&shown, &rows, &["stale"]), stuck, "{rows}");
        // Nothing says that one application writes the times of a home-made table.
        assert_eq!(printed(&plain(), &rows, &["stale"]), "", "{rows}");
    }
}

/// A lease that outlasts the zone's distance reads as one that runs, and so does what no value can show: a deadline, an owner's start.
#[test]
fn what_may_lie_ahead_shows_no_zone() {
    let age = r#"[{ by = "age", silent_after = "1h" }]"#;
    let owner = "[mapping.m.owner]\nid = \"worker\"";
    let at = |minutes| SQLITE(minutes, -300);
    let row = |id, started, created| format!("INSERT INTO q VALUES ({id}, 'working', 'w', {started}, {created});");
    let beat = "CREATE TABLE workers (name text primary key, beat text, born text);";
    for (from, to, rows) in [
        (
            "claimed_at = \"started\"\ncreated_at = \"created\"\n",
            String::new(),
            row(1, "NULL".to_owned(), at(-360)) + &row(2, "NULL".to_owned(), at(-270)),
        ),
        (
            "[mapping.m.action]",
            "[mapping.m.rules]\ndeadline = \"created\"\n[mapping.m.action]".to_owned(),
            row(1, SQLITE(0, 0), at(-240)),
        ),
        (
            owner,
            format!(
                "{owner}\ntable = \"workers\"\nmatch = {{ name = \"worker\" }}\nheartbeat = \"beat\"\nstarted = \"born\""
            ),
            format!(
                "{beat} INSERT INTO workers VALUES ('w', {}, {}); {}",
                SQLITE(0, 0),
                SQLITE(70, 60),
                row(1, SQLITE(60, 0), "NULL".to_owned()) + &row(2, SQLITE(1, 0), "NULL".to_owned())
            ),
        ),
    ] {
        let mut mapping = plain().replace(from, &to);
        if to.is_empty() {
            mapping = mapping.replace(age, r#"[{ by = "lease", column = "created" }]"#);
        } else if to.contains("workers") {
            mapping = mapping.replace(age, r#"[{ by = "owner", silent_after = "1h" }]"#);
        }
        assert_eq!(printed(&mapping, &rows, &["reclaim", "--rule", "deadline_passed"]), "", "{from}");
    }
}

fn counted(shop: &Shop, zone: &str) -> (u64, u64) {
    let option = format!("time_zone={zone}");
    let summary = &shop.run(&["stale", "--json", "--option", &option]).exits(0).json()["summary"];
    (summary["stuck"].as_u64().unwrap(), summary["unknown"].as_u64().unwrap())
}

/// Ruby keeps New York's time and lives, SQLite stamps its claims in UTC.
#[test]
fn a_stamp_of_sqlite_shows_no_zone_of_ruby() {
    for stamp in ["%Y-%m-%d %H:%M:%f", "%Y-%m-%d %H:%M:%S"] {
        let shop = Shop::on_sqlite();
        shop.sql(include_str!("../../fixtures/schemas/solid-queue/sqlite/1.5.0.sql"));
        shop.sql(&format!(
            "INSERT INTO solid_queue_processes (id, kind, name, pid, hostname, last_heartbeat_at, created_at)
             SELECT 1, 'Worker', 'w', 7, 'web1', at, at FROM (SELECT strftime('%Y-%m-%d %H:%M:%f000', 'now', '-5 hours', '-3 seconds') AS at);
             INSERT INTO solid_queue_jobs (id, queue_name, class_name, created_at, updated_at)
             SELECT 1, 'mail', 'WelcomeJob', at, at FROM (SELECT strftime('%Y-%m-%d %H:%M:%f000', 'now', '-5 hours') AS at);
             INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at)
             VALUES (1, 1, strftime('{stamp}', 'now', '-8 minutes'));"
        ));
        assert_eq!((counted(&shop, "local"), counted(&shop, "utc").0), ((0, 1), 1), "{stamp}");
    }
}

/// GoodJob computes with its zone in SQL.
#[test]
fn a_preset_whose_sql_asks_the_zone_takes_local_time() {
    let shop = Shop::on_postgres();
    shop.sql(include_str!("../../fixtures/schemas/good-job/4.19.sql"));
    shop.sql(
        "SET timezone = 'America/New_York';
        INSERT INTO good_job_processes (id, created_at, updated_at, state, lock_type)
        VALUES ('aaaaaaaa-0000-0000-0000-000000000001', now(), now() - interval '2 min', '{\"hostname\": \"web1\", \"pid\": 7}', NULL);
        INSERT INTO good_jobs (id, active_job_id, queue_name, priority, job_class, serialized_params, created_at, updated_at,
            scheduled_at, performed_at, executions_count, locked_by_id, locked_at, lock_type)
        SELECT id, id, 'mail', 0, 'WelcomeJob', '{}', now(), now(), now(), now(), 1, 'aaaaaaaa-0000-0000-0000-000000000001', now() - interval '2 min', 0
        FROM (SELECT '00000000-0000-0000-0000-000000000001'::uuid AS id) AS j",
    );
    assert_eq!(counted(&shop, "local"), (0, 1));
    assert_eq!(counted(&shop, "America/New_York"), (1, 0), "90 s without a lock");
    assert_eq!(counted(&shop, "utc"), (1, 0));
    // Another process of the application shows which zone it is; a claim of just now is life without its lock.
    assert_eq!(counted(&shop, "utc if shown"), (0, 1));
    shop.sql("INSERT INTO good_job_processes (id, created_at, updated_at, state) SELECT gen_random_uuid(), at, at, '{}' FROM (SELECT now() AT TIME ZONE 'UTC' AS at) AS t");
    assert_eq!(counted(&shop, "utc if shown"), (1, 0));
    shop.sql("UPDATE good_jobs SET locked_at = now() AT TIME ZONE 'America/New_York'");
    assert_eq!(counted(&shop, "America/New_York"), (0, 0));
}

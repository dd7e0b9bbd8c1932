//! Who has the lock, who stands back and says so, and that it never outlives its holder.

use super::host::{KEY, locks, on_host, state};
use crate::support::cli::{Doctor, Ran, is_valid, until};
use crate::support::pgbouncer::pooler;
use crate::support::postgres::fresh;
use crate::support::shop::{Shop, on_both};
use ::postgres::{Client, NoTls};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::process::Child;

fn ended(child: Child) -> Ran {
    Ran::of(child.wait_with_output().expect("it ends"))
}

/// A sweep of host 0 that has the lock of the host and stays between two snapshots until it is killed.
fn long_sweep(shop: &Shop) -> Child {
    let sweep = on_host(shop, 0, &["sweep", "--apply", "--json", "--confirm-after", "10m"]).spawn().expect("it starts");
    until("it has signed the lock", || {
        locks(shop, 0).first().is_some_and(|lock| fs::read_to_string(lock).is_ok_and(|note| note.contains("process")))
    });
    sweep
}

fn kill(mut sweep: Child) {
    sweep.kill().expect("kill -9");
    sweep.wait().expect("it ends");
}

fn orphans(shop: &Shop) {
    shop.in_flight(1, 3, "'web1:7'", 600);
}

fn with_orphans(shop: Shop) -> Shop {
    shop.run(&["init"]).exits(0);
    orphans(&shop);
    shop
}

fn ran(shop: &Shop, words: &[&str], code: i32) -> Ran {
    Ran::of(on_host(shop, 0, words).output().expect("it runs")).exits(code)
}

#[test]
fn the_second_sweep_of_a_host_stands_back_and_says_why() {
    let shop = with_orphans(Shop::on_sqlite());
    let first = long_sweep(&shop);
    let before = shop.jobs();
    for format in ["table", "json", "name"] {
        let ran = ran(&shop, &["sweep", "--apply", "-o", format], 75);
        assert_eq!(ran.stdout, "", "never mistaken for nothing found");
        if format == "json" {
            let error: serde_json::Value = serde_json::from_str(&ran.stderr).expect("a document");
            is_valid("error", &error);
            assert_eq!((&error["code"], &error["kind"]), (&75.into(), &"try_again".into()));
        }
        let process = format!("process {}", first.id());
        for word in ["another sweep of main.jobs", &process, "since 20", "nothing was written", "--lock-wait"] {
            assert!(ran.stderr.contains(word), "{word}: {ran:#?}");
        }
    }
    // A dry run looks, whoever writes; and another host has a lock of its own.
    ran(&shop, &["sweep", "--json"], 0);
    assert_eq!(shop.jobs(), before);
    kill(first);
    // A killed sweep leaves no lock.
    assert_eq!(ran(&shop, &["sweep", "--apply", "--json"], 0).json()["summary"]["outcomes"]["moved"], 3);
}

#[test]
fn a_restart_sweep_of_some_owners_waits_for_nobody() {
    let shop = with_orphans(Shop::on_sqlite());
    fs::write(shop.doctor.path("alive.txt"), "web9\n").expect("a list");
    let first = long_sweep(&shop);
    let scopes: [&[&str]; 3] =
        [&["--host", "web2"], &["--owner", "web2:*"], &["--alive-from", "alive.txt", "--host", "web2"]];
    for scope in scopes {
        let ran = ran(&shop, &[&["sweep", "--restart", "--apply"], scope].concat(), 0);
        assert_eq!(ran.stdout, "", "nothing of web2, and no lock in the way");
    }
    ran(&shop, &["sweep", "--restart", "--all-owners", "--apply"], 75);
    for (flag, value) in [("--min-interval", "60s"), ("--lock-wait", "5s")] {
        let ran = ran(&shop, &["sweep", "--restart", "--host", "web1", "--apply", flag, value], 2);
        ran.says(&format!("{flag}: a restart sweep of some owners does not wait for other sweeps"));
    }
    kill(first);
}

#[test]
fn one_that_may_wait_does_and_looks_anew() {
    let shop = with_orphans(Shop::on_sqlite());
    let first = long_sweep(&shop);
    let lock = locks(&shop, 0).pop().expect("the lock");
    let second = on_host(&shop, 0, &["sweep", "--apply", "--json", "--lock-wait", "1m"]).spawn().expect("it starts");
    let queue = shop.doctor.path("queue.db");
    let waits = || {
        let entries = fs::read_dir(format!("/proc/{}/fd", second.id())).into_iter().flatten().flatten();
        let open: Vec<_> = entries.filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
        // It opens the lock while it looks, and gives up that snapshot before it waits.
        open.contains(&lock) && !open.contains(&queue)
    };
    until("the second one waits for the lock", waits);
    shop.sql("DELETE FROM jobs WHERE id < 3");
    kill(first);
    let document = ended(second).exits(0).json();
    assert_eq!(document["summary"]["planned"], 1, "it has looked after the first one had ended: {document:#}");
    // Its time ends: the same as without.
    let file = File::open(&lock).expect("the lock");
    file.lock().expect("the lock is free");
    let ran = ran(&shop, &["sweep", "--apply", "--lock-wait", "2s"], 75);
    ran.says("another sweep of main.jobs").says("gave up waiting for the other sweep");
}

#[test]
fn the_lock_of_a_host_is_private_and_where_it_cannot_be_nothing_is_lost() {
    on_both(|shop| {
        orphans(shop);
        let ran = |more: &[&str]| ran(shop, &[&["sweep", "--apply", "--json"], more].concat(), 0);
        assert_eq!(ran(&[]).json()["summary"]["outcomes"]["moved"], 3);
        let (lock, mode) =
            (locks(shop, 0), |path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777);
        assert_eq!((lock.len(), mode(state(shop, 0).join("locks")), mode(lock[0].clone())), (1, 0o700, 0o600));
        let name = lock[0].file_name().expect("a name").to_string_lossy().into_owned();
        assert!(!name.contains("jobs") && !name.contains("queue"), "{name}");
        // Another name for the same database is the same lock.
        let file = OpenOptions::new().write(true).open(&lock[0]).expect("the lock");
        file.lock().expect("it is free");
        if !shop.is_postgres() {
            let other = shop.doctor.path("./queue.db").display().to_string();
            let mut other = shop.doctor.command(&["sweep", "--apply", "--db", &other]);
            let other = other.env("JOBDOCTOR_STATE_DIR", state(shop, 0)).output().expect("it runs");
            Ran::of(other).exits(75);
        }
        drop(file);
        // Open to others, it is not used; and nothing rests on it.
        fs::set_permissions(state(shop, 0).join("locks"), fs::Permissions::from_mode(0o755)).expect("chmod");
        ran(&["-v"]).says("going on without a lock on this host");
        assert_eq!(ran(&[]).stderr, "", "cron would mail it every minute");
    });
}

/// A session that has the lock of docs/cron.md, as a sweep of another host would.
fn holder(shop: &Shop) -> Client {
    let mut client = Client::connect(&shop.url, NoTls).expect("a connection");
    client.batch_execute("SET application_name = 'jobdoctor/9 sweep'; BEGIN").expect("a transaction");
    let got = client.query_one(&format!("SELECT pg_try_advisory_xact_lock({KEY})"), &[]).expect("the lock");
    assert!(got.get::<_, bool>(0));
    client
}

#[test]
fn on_postgres_a_sweep_of_another_host_is_noticed_in_the_transaction() {
    let shop = with_orphans(Shop::on_postgres());
    let mut client = holder(&shop);
    let before = shop.jobs();
    for format in ["table", "json"] {
        let ran = ran(&shop, &["sweep", "--apply", "-o", format], 75);
        assert_eq!(ran.stdout, "");
        for word in ["another sweep is writing to public.jobs", "server process ", "jobdoctor/9 sweep", "--lock-wait"] {
            assert!(ran.stderr.contains(word), "{word}: {ran:#?}");
        }
    }
    assert_eq!(shop.jobs(), before, "nothing was written");
    assert!(!state(&shop, 0).join("journal").exists(), "and nothing recorded");
    // Workers must always start: a restart sweep of a host asks for no lock.
    ran(&shop, &["sweep", "--restart", "--host", "web2", "--apply"], 0);
    // One that may wait gets its turn as soon as the other one has ended.
    let waiting = on_host(&shop, 0, &["sweep", "--apply", "--json", "--lock-wait", "1m"]).spawn().expect("it starts");
    until("it has asked for its turn in vain", || stands_back(&shop));
    client.batch_execute("COMMIT").expect("the end");
    assert_eq!(ended(waiting).exits(0).json()["summary"]["outcomes"]["moved"], 3);
}

/// What is only watched needs no lock.
#[test]
fn a_sweep_that_watches_what_becomes_of_its_jobs_keeps_nobody_off() {
    on_both(|shop| {
        orphans(shop);
        let watches =
            on_host(shop, 0, &["sweep", "--apply", "-o", "none", "--verify", "10m"]).spawn().expect("it starts");
        until("it has moved them", || shop.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'") == ["3"]);
        shop.in_flight(11, 12, "'web1:8'", 600);
        until("another one has moved the others", || {
            let ran = Ran::of(on_host(shop, 0, &["sweep", "--apply", "--json"]).output().expect("it runs"));
            ran.code == 0 && ran.json()["summary"]["outcomes"]["moved"] == 2
        });
        kill(watches);
    });
}

/// A pooler in transaction mode: the lock goes with the transaction, not with the session that many share.
#[test]
fn behind_a_pooler_nothing_of_it_stays() {
    let database = fresh();
    let (pooled, doctor) = (database.url_through(pooler().socket()), Doctor::new());
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    let jobs = "INSERT INTO jobs (kind, status, owner_id, lease_token, claimed_at, lease_expires_at) \
        VALUES ('a', 'RUNNING', 'web1:7', 't', now() - interval '2 h', now() - interval '1 h')";
    let mut client = database.client();
    client.batch_execute(jobs).expect("a job");
    client.batch_execute(&format!("BEGIN; SELECT pg_advisory_xact_lock({KEY})")).expect("the lock");
    let sweep = |host: &str| {
        let mut command = doctor.command(&["sweep", "--apply", "--json", "--db", &pooled]);
        Ran::of(command.env("JOBDOCTOR_STATE_DIR", doctor.home(host)).output().expect("it runs"))
    };
    assert!(sweep("a").exits(75).stderr.contains("another sweep is writing to public.jobs"));
    client.batch_execute("COMMIT").expect("the end");
    for (host, moved) in [("b", 1), ("c", 0)] {
        assert_eq!(sweep(host).exits(0).json()["summary"]["outcomes"]["moved"], moved);
    }
    assert_eq!(pooler().left_behind(&database), Vec::<String>::new());
}

/// True while a sweep pauses because it has not got its turn.
fn stands_back(shop: &Shop) -> bool {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'ROLLBACK' \
        AND state = 'idle' AND application_name LIKE 'jobdoctor/% sweep'";
    shop.rows(sql) != ["0"]
}

/// Later batches do not give up: they pause, and go on.
#[test]
fn a_turn_that_is_lost_on_the_way_is_waited_for() {
    let shop = Shop::empty_on_postgres();
    shop.in_flight(1, 60, "'web1:7'", 600);
    // The first batch takes until somebody stands in line behind it.
    shop.sql(
        "CREATE SEQUENCE turns;
         CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('public.turns') > 1 THEN RETURN NULL; END IF;
             WHILE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) LOOP
                 PERFORM pg_sleep(0.05);
             END LOOP;
             RETURN NULL; END $$;
         CREATE TRIGGER slow AFTER UPDATE ON jobs FOR EACH STATEMENT EXECUTE FUNCTION slow()",
    );
    let sweep = on_host(&shop, 0, &["sweep", "--apply", "--json", "--max-jobs", "5000", "--timeout", "10m"])
        .spawn()
        .expect("it starts");
    let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    until("it has its turn", || shop.rows(held) != ["0"]);
    let mut other = Client::connect(&shop.url, NoTls).expect("a connection");
    other.batch_execute("BEGIN").expect("a transaction");
    other.query_one(&format!("SELECT pg_advisory_xact_lock({KEY})"), &[]).expect("the lock, once it is free");
    until("the sweep has asked for its next turn in vain", || stands_back(&shop));
    other.batch_execute("COMMIT").expect("the end");
    let document = ended(sweep).exits(0).json();
    assert_eq!(document["summary"]["outcomes"]["moved"], 60, "{}", document["summary"]);
    assert_eq!(shop.rows("SELECT DISTINCT status, attempts FROM jobs"), ["QUEUED 1"]);
}

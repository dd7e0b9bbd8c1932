//! Failover to a standby that lags (F13): there the past is shown as what it is, and nothing is applied; when it has become the
//! primary, what it never heard of has not happened, and the next run does it.

use crate::support::black_hole::BlackHole;
use crate::support::cli::{Doctor, until};
use crate::support::figures;
use crate::support::standby::{Pair, PairDatabase};
use postgres::Client;

const DEAD: i64 = 1_200;
const LIVING: i64 = 50;

/// The dead by their leases; the living by a heartbeat alone.
fn plant(client: &mut Client) {
    client
        .batch_execute(&format!(
            "INSERT INTO jobs (id, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at, attempts)
             SELECT n, 'RUNNING', 'lost:1', 'token', now() - interval '2h', now() - interval '2h', now() - interval '1h', 0
             FROM generate_series(1, {DEAD}) AS n;
             INSERT INTO jobs (id, status, owner_id, lease_token, claimed_at, heartbeat_at, attempts)
             SELECT n, 'RUNNING', 'web1:1', 'token', now() - interval '1h', now(), 0
             FROM generate_series({DEAD} + 1, {DEAD} + {LIVING}) AS n"
        ))
        .expect("plant");
}

fn told(client: &mut Client) -> Vec<String> {
    let sql =
        "SELECT status || ' ' || attempts || ' ' || stalls || ' ' || coalesce(owner_id, '-') || ' ' || count(*) AS told
        FROM jobs GROUP BY status, attempts, stalls, owner_id ORDER BY told";
    client.query(sql, &[]).expect("look").iter().map(|row| row.get(0)).collect()
}

const BEAT: &str = "UPDATE jobs SET heartbeat_at = now() WHERE owner_id = 'web1:1'";

/// A pair whose standby can be cut off, with a queue on it.
fn cut_off() -> (Pair, BlackHole, Doctor, PairDatabase) {
    let mut hole = None;
    let pair = Pair::alone(|primary| {
        let between = BlackHole::before(primary, usize::MAX);
        let socket = between.socket();
        hole = Some(between);
        socket
    });
    let (doctor, database) = (Doctor::new(), pair.fresh());
    doctor.run(&["init", "--db", &database.url(&[pair.primary()])]).exits(0);
    plant(&mut pair.client(&database));
    pair.catch_up();
    (pair, hole.expect("the standby follows through it"), doctor, database)
}

#[test]
fn what_a_standby_never_heard_of_is_done_again() {
    let (mut pair, hole, doctor, database) = cut_off();
    let done = vec![format!("QUEUED 1 1 - {DEAD}"), format!("RUNNING 0 0 web1:1 {LIVING}")];
    let undone = vec![format!("RUNNING 0 0 lost:1 {DEAD}"), format!("RUNNING 0 0 web1:1 {LIVING}")];
    let both = database.url(&[pair.primary(), pair.standby()]);
    let standby = database.url(&[pair.standby()]);
    hole.swallow();
    let apply = ["reclaim", "--apply", "--older", "3s", "--max-jobs", "99999", "-o", "json", "--db"];
    pair.client(&database).batch_execute(BEAT).expect("beat");
    doctor.run(&[&apply[..], &[&both]].concat()).exits(0);
    assert_eq!(told(&mut pair.client(&database)), done);
    // Long enough that by the server's clock the living would be dead, were it not known how old the picture is.
    std::thread::sleep(std::time::Duration::from_secs(5));
    let list = doctor.run(&["stale", "--older", "3s", "--json", "--db", &standby]).exits(0);
    list.says("standby");
    let document = list.json();
    assert!(
        document["target"]["standby"]["lag_seconds"].as_f64().is_some_and(|lag| lag >= 4.0),
        "{}",
        document["target"]
    );
    assert_eq!(document["summary"]["stuck"], DEAD, "{}", document["summary"]);
    doctor.run(&[&apply[..], &[&standby]].concat()).exits(4).says("standby");
    pair.fail_over();
    // The workers have come over, and are heard of.
    let mut client = pair.client_of_standby(&database);
    client.batch_execute(BEAT).expect("beat");
    assert_eq!(told(&mut client), undone, "the failover has lost what was done");
    doctor.run(&[&apply[..], &[&both]].concat()).exits(0);
    assert_eq!(told(&mut client), done);
    figures::add(1, "faults survived");
}

/// In the middle of a run. What its commits have come to, nobody can say any more: the server that is there is another one.
#[test]
fn in_the_middle_of_a_run() {
    let (mut pair, _hole, doctor, database) = cut_off();
    let both = database.url(&[pair.primary(), pair.standby()]);
    let apply = ["reclaim", "--apply", "--older", "1h", "--max-jobs", "99999", "-o", "json", "--timeout", "8s", "--db"];
    let mut holder = pair.client(&database);
    // It comes to one job that is locked for a while by a trigger: there the primary goes.
    holder
        .batch_execute(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN IF OLD.id = 700 THEN PERFORM pg_sleep(20); END IF; RETURN NEW; END $$;
             CREATE TRIGGER slow BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION slow()",
        )
        .expect("a slow trigger");
    pair.catch_up();
    let running = doctor.start(&[&apply[..], &[&both]].concat());
    let sleeps = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    until("it is in the middle", || !holder.query(sleeps, &[]).expect("look").is_empty());
    drop(holder);
    pair.fail_over();
    let ran = running.wait();
    assert!([5, 69].contains(&ran.code), "{ran:#?}");
    let mut client = pair.client_of_standby(&database);
    client.batch_execute(&format!("DROP TRIGGER slow ON jobs; {BEAT}")).expect("no more");
    let before = told(&mut client);
    let moved = ran.json()["summary"]["outcomes"]["moved"].as_i64().expect("a number");
    assert!(before.contains(&format!("QUEUED 1 1 - {moved}")), "what was committed had been sent: {before:?}, {moved}");
    doctor.run(&[&apply[..], &[&both]].concat()).exits(0);
    assert_eq!(told(&mut client), [format!("QUEUED 1 1 - {DEAD}"), format!("RUNNING 0 0 web1:1 {LIVING}")]);
    figures::add(1, "faults survived");
}

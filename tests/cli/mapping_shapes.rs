//! Home-made queues as people build them: states that are numbers and flags, counters that count down, logs of heartbeats,
//! times inside JSON.

use crate::support::cli::Ran;
use crate::support::shop::{Shop, on_both};
use serde_json::Value;
use std::fs;

struct Queue<'s> {
    shop: &'s Shop,
}

impl<'s> Queue<'s> {
    fn new(shop: &'s Shop, mapping: &str) -> Queue<'s> {
        fs::write(shop.doctor.path("m.toml"), mapping).expect("the config file");
        Queue { shop }
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.shop.run(&[words, &["--config", "m.toml", "--preset", "m"]].concat())
    }

    fn json(&self, words: &[&str]) -> Value {
        self.run(&[words, &["--json"]].concat()).exits(0).json()
    }

    fn stale(&self) -> Vec<String> {
        self.run(&["stale", "-o", "name"]).exits(0).stdout.lines().map(str::to_owned).collect()
    }

    fn and_back(&self, moved: u64, rows: &str, after: &[&str]) {
        let before = self.shop.rows(rows);
        self.run(&["check"]).exits(0);
        let applied = self.json(&["reclaim", "--apply"]);
        assert_eq!(applied["summary"]["outcomes"]["moved"], moved, "{applied:#}");
        assert_eq!(self.shop.rows(rows), after);
        self.run(&["undo", applied["run_id"].as_str().expect("a run"), "--apply"]).exits(0);
        assert_eq!(self.shop.rows(rows), before);
    }
}

const TIME: &str = "time = { default = { sqlite = 'epoch s', postgres = 'native' } }";
const AGE: &str = "claimed_at = 'started', liveness = [{ by = 'age', silent_after = '5m' }]";

#[test]
fn states_that_are_numbers_and_truth_values() {
    on_both(|shop| {
        shop.sql(
            "CREATE TABLE n (id integer PRIMARY KEY, status smallint, started {time}, hidden boolean, lost integer);
             INSERT INTO n VALUES (1, 1, {ago 900}, true, 7), (2, 0, NULL, true, 7), (3, 1, {ago 1}, true, 7);
             CREATE TABLE b (id integer PRIMARY KEY, busy boolean, started {time});
             INSERT INTO b VALUES (1, true, {ago 900}), (2, false, NULL), (3, true, {ago 1})",
        );
        let numbers = format!(
            "[mapping.m]\n{TIME}\nstates = {{ waiting = 0, in_flight = [1], done = {{ finished = 2 }} }}
             finished = {{ at = 'started', states = ['finished'] }}
             claim = {{ table = 'n', key = 'id', state = 'status', {AGE} }}
             action.requeue = {{ to = 0, clear = 'started', set = {{ hidden = false, lost = 0 }} }}"
        );
        let queue = Queue::new(shop, &numbers);
        assert_eq!(queue.stale(), ["1"]);
        assert_eq!(queue.json(&["show", "1"])["jobs"][0]["state"], "1");
        let rows = "SELECT id, status, CASE WHEN hidden THEN 'hidden' ELSE 'shown' END, lost FROM n ORDER BY id";
        queue.and_back(1, rows, &["1 0 shown 0", "2 0 hidden 7", "3 1 hidden 7"]);
        let truths = format!(
            "[mapping.m]\n{TIME}\nstates = {{ waiting = [false], in_flight = {{ busy = true }} }}
             claim = {{ table = 'b', key = 'id', state = 'busy', {AGE} }}
             action.requeue = {{ to = false, clear = 'started' }}"
        );
        let queue = Queue::new(shop, &truths);
        assert_eq!(
            (queue.stale(), &queue.json(&["show", "2"])["jobs"][0]["state"]),
            (vec!["1".into()], &"false".into())
        );
        assert_eq!(queue.json(&["stale"])["jobs"][0]["state"], "busy");
        let rows = "SELECT id, CASE WHEN busy THEN 'busy' ELSE 'free' END FROM b ORDER BY id";
        queue.and_back(1, rows, &["1 free", "2 free", "3 busy"]);
        // A number is no truth value to Postgres, and the message says what cannot be held.
        if shop.is_postgres() {
            let ran = Queue::new(shop, &truths.replace("busy = true", "busy = 3")).run(&["check"]).exits(78);
            assert!(ran.whole().contains("of type boolean, which cannot hold busy"), "{ran:#?}");
        }
    });
}

/// The condition alone tells; each action sets the flags, and `to` is a name for people.
#[test]
fn a_state_that_several_flags_tell() {
    on_both(|shop| {
        shop.sql(
            "CREATE TABLE q (id integer PRIMARY KEY, locked boolean, done boolean, started {time});
             INSERT INTO q VALUES (1, true, false, {ago 900}), (2, true, true, {ago 900}), (3, true, false, {ago 1})",
        );
        let mapping = format!(
            "[mapping.m]\n{TIME}\nclaim = {{ table = 'q', key = 'id', where = 'j.locked AND NOT j.done', {AGE} }}
             waiting.is = 'NOT j.locked AND NOT j.done'
             action.requeue = {{ to = 'waiting', set = {{ locked = false }} }}"
        );
        let queue = Queue::new(shop, &mapping);
        assert_eq!(queue.stale(), ["1"]);
        let rows = "SELECT id, CASE WHEN locked THEN 'locked' ELSE 'free' END FROM q ORDER BY id";
        queue.and_back(1, rows, &["1 free", "2 locked", "3 locked"]);
    });
}

const DOWN: &str = "attempts = { column = 'retries_left', direction = 'down', max = 5, counted = 'at reclaim' }";

fn counting_down(attempts: &str) -> String {
    format!(
        "[mapping.m]\n{TIME}\n{attempts}\nstates = {{ waiting = ['new'], in_flight = ['working'], failed = ['dead'] }}
         claim = {{ table = 'q', key = 'id', state = 'status', {AGE} }}
         action.requeue = {{ to = 'new', clear = ['started'] }}
         action.fail = {{ to = 'dead' }}"
    )
}

#[test]
fn a_counter_that_counts_down() {
    on_both(|shop| {
        shop.sql(
            "CREATE TABLE q (id integer PRIMARY KEY, status text, started {time}, retries_left integer, allowed integer);
             INSERT INTO q VALUES (1, 'working', {ago 900}, 3, 5), (2, 'working', {ago 900}, 1, 5), (3, 'working', {ago 900}, NULL, 5),
                (4, 'working', {ago 900}, 9, 5)",
        );
        let rows = "SELECT id, status, retries_left FROM q ORDER BY id";
        for attempts in [DOWN.to_owned(), DOWN.replace("max = 5", "max = 'allowed'")] {
            let queue = Queue::new(shop, &counting_down(&attempts));
            let shown = queue.json(&["reclaim"]);
            let tries = |id: &str, key: &str| {
                let step = shown["steps"].as_array().and_then(|steps| steps.iter().find(|step| step["id"] == id));
                step.map(|step| step[key].clone()).unwrap_or_default()
            };
            assert_eq!(
                (tries("1", "attempts"), tries("1", "max_attempts"), tries("1", "attempts_after")),
                (2.into(), 5.into(), 3.into())
            );
            assert_eq!((tries("2", "action"), tries("2", "attempts_after")), ("fail".into(), 5.into()));
            queue.and_back(4, rows, &["1 new 2", "2 dead 0", "3 new 4", "4 new 8"]);
        }
        // The last retry is gone only when none is left.
        let retries = DOWN.replace("max = 5", "max = 5, max_counts = 'retries'");
        Queue::new(shop, &counting_down(&retries)).and_back(4, rows, &["1 new 2", "2 new 0", "3 new 4", "4 new 8"]);
        let queue = Queue::new(shop, &counting_down(&DOWN.replace("max = 5, ", "")));
        assert!(queue.run(&["stale"]).exits(78).stderr.contains("`direction = \"down\"` needs `max`"));
    });
}

/// The mutants that subtract as SQL does: on Postgres the listing overflows, and SQLite takes a text for 0, which fails the job.
#[test]
fn a_counter_that_cannot_be_counted_down() {
    on_both(|shop| {
        let odd = if shop.is_postgres() { "-2147483648" } else { "'none'" };
        shop.sql(&format!(
            "CREATE TABLE q (id integer PRIMARY KEY, status text, started {{time}}, retries_left integer);
             INSERT INTO q VALUES (1, 'working', {{ago 900}}, {odd}), (2, 'working', {{ago 900}}, 3)"
        ));
        let plan = Queue::new(shop, &counting_down(DOWN)).json(&["reclaim"]);
        match shop.is_postgres() {
            true => assert_eq!(plan["steps"][0]["attempts"], 2_147_483_653_i64),
            false => assert_eq!(plan["skipped"][0]["reason"], "attempts_unreadable", "{plan:#}"),
        }
        assert!(plan["steps"].as_array().is_some_and(|steps| steps.iter().any(|step| step["id"] == "2")));
    });
}

/// The newest row of an owner counts, in a log with and without an index, whatever the order in which the rows were written.
#[test]
fn a_log_of_heartbeats() {
    on_both(|shop| {
        shop.sql(
            "CREATE TABLE q (id integer PRIMARY KEY, status text, worker text, started {time});
             INSERT INTO q VALUES (1, 'working', 'w1', {ago 5000}), (2, 'working', 'w2', {ago 5000}), (3, 'working', 'w3', {ago 5000});
             CREATE TABLE beats (worker text, at {time});
             INSERT INTO beats VALUES ('w1', {ago 900}), ('w1', {ago 4000}), ('w1', {ago 900}), ('w2', {ago 1}), ('w2', {ago 4000}), ('w2', NULL)",
        );
        let mapping = format!(
            "[mapping.m]\n{TIME}\nstates = {{ waiting = ['new'], in_flight = ['working'] }}
             claim = {{ table = 'q', key = 'id', state = 'status', claimed_at = 'started', liveness = [{{ by = 'owner', silent_after = '5m' }}] }}
             owner = {{ id = 'worker', table = 'beats', match = {{ worker = 'worker' }}, heartbeat = 'at', rows = 'newest', missing = 'dead' }}
             action.requeue = {{ to = 'new', clear = ['worker'] }}"
        );
        for index in ["", "CREATE INDEX ON_BEATS ON beats (worker, at)"] {
            shop.sql(index);
            let queue = Queue::new(shop, &mapping);
            let listed = queue.json(&["stale"]);
            assert_eq!(
                (&listed["summary"]["in_flight"], queue.stale()),
                (&3.into(), vec!["3".to_owned(), "1".to_owned()])
            );
            queue.and_back(2, "SELECT id, status FROM q ORDER BY id", &["1 new", "2 working", "3 new"]);
        }
        // Without that key it is a table of one row for each owner, which a unique index must promise.
        Queue::new(shop, &mapping.replace(", rows = 'newest'", "")).run(&["stale"]).exits(78).says("rows = \"newest\"");
        // Texts of several offsets are not in the order of time: the newest of them need not be the last.
        let offsets =
            mapping.replace("at'\nstates", "").replace("{ default", "{ at = 'text YYYY-MM-DDTHH:MM:SS+HH:MM', default");
        shop.sql("DROP TABLE beats; CREATE TABLE beats (worker text, at text)");
        Queue::new(shop, &offsets).run(&["stale"]).exits(78).says("is not that of time");
    });
}

/// Sorted byte by byte, whatever the column's collation: by that of many languages `9` of a word is before its dash.
#[test]
fn a_log_of_texts() {
    on_both(|shop| {
        let now = if shop.is_postgres() {
            "to_char(now() AT TIME ZONE 'UTC' - interval '{} s', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
        } else {
            "strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-{} seconds')"
        };
        let ago = |seconds: u32| now.replace("{}", &seconds.to_string());
        shop.sql(&format!(
            "CREATE TABLE q (id integer PRIMARY KEY, status text, worker text);
             INSERT INTO q VALUES (1, 'working', 'w1'), (2, 'working', 'w2');
             CREATE TABLE beats (worker text, at text);
             INSERT INTO beats VALUES ('w1', {}), ('w1', {}), ('w2', {}), ('w2', {})",
            ago(900),
            ago(4000),
            ago(4000),
            ago(1)
        ));
        let mapping = "[mapping.m]\ntime = { default = 'text YYYY-MM-DDTHH:MM:SSZ' }\nstates = { waiting = ['new'], in_flight = ['working'] }
             claim = { table = 'q', key = 'id', state = 'status', liveness = [{ by = 'owner', silent_after = '5m' }] }
             owner = { id = 'worker', table = 'beats', match = { worker = 'worker' }, heartbeat = 'at', rows = 'newest' }
             action.requeue = { to = 'new', clear = ['worker'] }";
        let queue = Queue::new(shop, mapping);
        assert_eq!(queue.stale(), ["1"]);
        queue.and_back(1, "SELECT id, status FROM q ORDER BY id", &["1 new", "2 working"]);
    });
}

#[test]
fn a_time_inside_json() {
    on_both(|shop| {
        let (kind, beat) = match shop.is_postgres() {
            true => ("jsonb", "(j.meta ->> 'beat')::bigint"),
            false => ("text", "j.meta ->> 'beat'"),
        };
        let epoch = if shop.is_postgres() { "extract(epoch FROM now())::bigint" } else { "unixepoch()" };
        let object = if shop.is_postgres() { "jsonb_build_object" } else { "json_object" };
        shop.sql(&format!(
            "CREATE TABLE q (id integer PRIMARY KEY, status text, meta {kind});
             INSERT INTO q VALUES (1, 'working', {object}('beat', {epoch} - 900)), (2, 'working', {object}('beat', {epoch} - 1)),
                 (3, 'working', {object}('by', 'hand'))"
        ));
        let mapping = format!(
            "[mapping.m]\nstates = {{ waiting = ['new'], in_flight = ['working'] }}
             time = {{ \"{beat}\" = 'epoch s' }}
             claim = {{ table = 'q', key = 'id', state = 'status', liveness = [{{ by = 'heartbeat', column = \"{beat}\", silent_after = '5m' }}] }}
             action.requeue = {{ to = 'new' }}"
        );
        let queue = Queue::new(shop, &mapping);
        let listed = queue.json(&["stale"]);
        assert_eq!((queue.stale(), &listed["unknown"][0]["id"]), (vec!["1".to_owned()], &"3".into()));
        let plan = queue.json(&["reclaim"]);
        assert!(!plan["warnings"].to_string().contains("cannot be locked"), "{plan:#}");
        // A worker that beats after the plan was made keeps its job: the value is part of the precondition.
        let digest = plan["digest"].as_str().expect("a digest");
        let old = shop.rows("SELECT meta FROM q WHERE id = 1");
        shop.sql(&format!("UPDATE q SET meta = {object}('beat', {epoch}) WHERE id = 1"));
        queue.run(&["reclaim", "--apply", "--expect", digest]).exits(4);
        shop.sql(&format!("UPDATE q SET meta = '{}' WHERE id = 1", old[0]));
        queue.and_back(1, "SELECT id, status FROM q ORDER BY id", &["1 new", "2 working", "3 working"]);
        // An expression of which [time] says nothing is no time, even with a default.
        let silent = mapping.replace("time = { \"", "time = { default = 'epoch s', \" ");
        Queue::new(shop, &silent).run(&["stale"]).exits(78).says("under the very same text");
    });
}

/// Keys that take an expression, and what else a mapping needs for it. `?` is the expression, `T` the encoding of it as a time.
const EXPRESSIONS: [(&str, &str); 17] = [
    ("claim.where", "claim.where = \"? = 1\""),
    ("claim.queue", "claim.queue = \"?\""),
    ("claim.kind", "claim.kind = \"?\""),
    ("claim.claimed_at", "claim.claimed_at = \"?\"\nT"),
    ("claim.liveness", "claim.liveness = [{ by = 'heartbeat', column = \"?\", silent_after = '5m' }]\nT"),
    ("claim.progress", "claim.progress = [\"?\"]"),
    ("claim.precondition", "claim.precondition = [\"?\"]"),
    ("owner.id", "owner.id = \"?\""),
    ("owner.name", "owner.id = 'meta'\nowner.name = \"?\""),
    ("owner.host", "owner.id = 'meta'\nowner.host = \"?\""),
    ("attempts.column", "attempts = { column = \"?\", counted = 'at claim' }"),
    ("attempts.max", "attempts = { column = 'beat', max = \"?\", counted = 'at claim' }"),
    ("rules.deadline", "rules.deadline = \"?\"\nT"),
    ("rules.cancel_requested", "rules.cancel_requested = \"? = 1\""),
    ("skip.odd.if", "skip.odd = { if = \"? = 1\", reason = 'it is odd' }"),
    ("show.odd", "show.odd = \"?\""),
    (
        "check.odd",
        "check.odd = { sql = \"SELECT count(*) FROM {q} AS j WHERE ? = 1\", finds = 'odd jobs', remedy = 'none' }",
    ),
];

/// A key is named where the database refuses its expression, and where a row's value does not suit it.
#[test]
fn an_expression_that_fails_is_named_by_its_key() {
    on_both(|shop| {
        shop.sql("CREATE TABLE q (id integer PRIMARY KEY, status text, beat bigint, meta text)");
        shop.sql("INSERT INTO q VALUES (1, 'working', 1000000000, '{')");
        let (value, text) = match shop.is_postgres() {
            true => ("(j.meta::json ->> 'a')::int", Some("j.meta || ''")),
            false => ("json_extract(j.meta, '$.a')", None),
        };
        for (key, line) in EXPRESSIONS {
            // Postgres compares no text with a time, and has a hint of its own for that.
            let text = text.filter(|_| key == "claim.liveness");
            for sql in ["nofunc(j.meta)", value].into_iter().chain(text) {
                let line = line.replace('?', sql).replace("\nT", &format!("\ntime.\"{sql}\" = 'epoch s'"));
                let liveness = if key == "claim.liveness" {
                    ""
                } else {
                    "claim.liveness = [{ by = 'heartbeat', column = 'beat', silent_after = '5m' }]"
                };
                let queue = Queue::new(
                    shop,
                    &format!(
                        "[mapping.m]\nstates = {{ waiting = ['new'], in_flight = ['working'], failed = ['dead'] }}
                     claim.table = 'q'\nclaim.key = 'id'\nclaim.state = 'status'\ntime.beat = 'epoch s'
                     action = {{ requeue = {{ to = 'new' }}, fail = {{ to = 'dead' }} }}\n{liveness}\n{line}"
                    ),
                );
                let commands: &[&[&str]] = match key {
                    "check.odd" => &[&["check"]],
                    "show.odd" => &[&["show", "1"]],
                    "claim.precondition" => &[&["check"], &["reclaim", "--apply"]],
                    _ if Some(sql) == text => &[&["check"], &["stale"], &["reclaim", "--apply"]],
                    _ => &[&["check"], &["stale"], &["reclaim", "--apply"], &["show", "1"]],
                };
                for command in commands {
                    let ran = queue.run(command);
                    assert!(ran.code != 0 || key == "check.odd", "{key} = {sql}: {ran:#?}");
                    assert!((ran.stdout.clone() + &ran.stderr).contains(key), "{key} = {sql}: {ran:#?}");
                    assert!(command[0] != "check" || ran.stdout.contains(key), "{key} = {sql}: {ran:#?}");
                }
            }
        }
    });
}

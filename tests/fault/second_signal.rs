//! A batch that takes long: the first signal says that it is being finished, the second one rolls it back at once (F30).

use super::ground::{BATCHES, Ground, SWEEP};
use crate::support::cli::{Ran, until};
use crate::support::labs::without_server;
use crate::support::shop::Shop;
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

/// How soon a batch is rolled back, on a busy machine too.
const AT_ONCE: Duration = Duration::from_secs(5);

/// One run whose second batch takes until `seconds` have passed unless something ends it.
struct Struck {
    ran: Ran,
    /// What stderr said after the first signal.
    said: String,
    standing: Vec<bool>,
    took: Duration,
}

impl Struck {
    /// Sends that many signals, of that kind, while the second batch is in hand.
    fn by(ground: &Ground, signal: Signal, signals: usize, seconds: u32) -> Struck {
        let shop = &ground.shop;
        slow_down(shop, seconds);
        let mut running = shop.doctor.start(&shop.with_db(&SWEEP));
        until("the first batch is done", || shop.rows("SELECT status FROM jobs WHERE id = 1") == ["QUEUED"]);
        std::thread::sleep(Duration::from_millis(500));
        running.signal(signal);
        let mut stderr = BufReader::new(running.stderr());
        let mut said = String::new();
        stderr.read_line(&mut said).expect("a line of stderr");
        let last = Instant::now();
        (1..signals).for_each(|_| running.signal(signal));
        let ran = running.wait();
        let took = last.elapsed();
        let standing = ground.standing(&mut shop.connect()).unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
        shop.sql(if shop.is_postgres() { "DROP TRIGGER slow ON jobs" } else { "DROP TRIGGER slow; DROP VIEW forever" });
        Struck { ran, said, standing, took }
    }

    /// Why the batch in hand was not rolled back at once, if so.
    fn is_rolled_back(&self) -> Result<(), String> {
        if self.standing != [true, false, false] {
            return Err(format!("the batches {:?} are done", self.standing));
        }
        if self.took > AT_ONCE { Err(format!("it took {:?}", self.took)) } else { Ok(()) }
    }
}

/// Has each write of a failed job take long: a server sleeps, SQLite counts.
fn slow_down(shop: &Shop, seconds: u32) {
    shop.sql(&match shop.is_postgres() {
        true => format!(
            "CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_sleep({seconds}); RETURN NEW; END $$;
            CREATE TRIGGER slow BEFORE UPDATE ON jobs FOR EACH ROW WHEN (NEW.status = 'FAILED') EXECUTE FUNCTION slow()"
        ),
        false => format!(
            "CREATE VIEW forever AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})
                SELECT max(i) AS i FROM n;
            CREATE TRIGGER slow BEFORE UPDATE ON jobs WHEN NEW.status = 'FAILED' BEGIN SELECT i FROM forever; END",
            u64::from(seconds) * 2_000_000
        ),
    });
}

fn on_each(test: impl Fn(&Ground)) {
    let kinds: [fn() -> Shop; 2] = [Shop::on_sqlite, Shop::on_postgres];
    for shop in kinds.into_iter().take(if without_server() { 1 } else { 2 }) {
        test(&Ground::of(shop(), BATCHES.len()));
    }
}

#[test]
fn it_rolls_the_batch_in_hand_back() {
    on_each(|ground| {
        for (signal, again) in [(Signal::INT, "press Ctrl-C again"), (Signal::TERM, "send SIGTERM again")] {
            let struck = Struck::by(ground, signal, 2, 600);
            assert_eq!(struck.is_rolled_back(), Ok(()), "{:#?}", struck.ran);
            assert_eq!(struck.said, format!("finishing the batch in hand (1 job); {again} to roll it back\n"));
            assert_eq!(struck.ran.signal, Some(signal.as_raw()), "{:#?}", struck.ran);
            let document = struck.ran.json();
            ground.is_honest(&document, &struck.standing);
            assert_eq!(document["summary"]["outcomes"]["not_tried"], 2, "{document:#}");
            if ground.shop.is_postgres() {
                let sleeping = "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' \
                    AND datname = current_database() AND pid <> pg_backend_pid()";
                assert!(ground.shop.rows(sleeping).is_empty(), "the server goes on with the statement");
            }
            // What was rolled back is done by the next run.
            ground.converges();
            ground.again();
        }
    });
}

/// The mutant is a program that ignores the second signal, which is one that is sent none.
#[test]
fn a_second_signal_that_is_ignored_is_seen() {
    on_each(|ground| {
        let struck = Struck::by(ground, Signal::INT, 1, 8);
        assert!(struck.is_rolled_back().is_err(), "{:#?}", struck.ran);
        // The first signal alone has the batch finished, and no other begun.
        assert_eq!((struck.standing.as_slice(), struck.ran.signal), (&[true, true, false][..], Some(2)));
        ground.is_honest(&struck.ran.json(), &struck.standing);
    });
}

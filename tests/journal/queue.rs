//! One queue of the reference schema, on either engine, with four dead jobs of every kind of value and one living.

use crate::support::postgres;
use crate::support::shop::Shop;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Every storage class there is, where no verdict rests on it: a NULL, an empty text, a zero, a text where an integer belongs,
/// a real, a blob, a text that is not UTF-8.
const SQLITE: &str = "INSERT INTO jobs (id, queue, kind, payload, status, run_at, owner_id, lease_token, claimed_at, heartbeat_at,
        lease_expires_at, attempts, max_attempts, stalls, cancel_requested_at, error_detail)
    VALUES (1, 'mail', 'Send', 'it''s', 'RUNNING', 'some day', 'web1:1', 'a', 1577836800, 1577836800, 1577836800, 0, 5, 0, NULL, NULL),
        (2, 'mail', 'Send', x'00ff', 'CLAIMED', 1.5, 'web1:2', '', 1577836800, NULL, 1577836800, 1, NULL, 0, NULL, ''),
        (3, 'media', 'Resize', '{}', 'RUNNING', 0, '', NULL, 1577836800, 1577836800, 1577836800, 4, 5, 2, NULL, x'6b00ff'),
        (4, 'media', 'Resize', '', 'RUNNING', -1, 'web2:1', CAST(x'61ff62' AS TEXT), 1577836800, 1577836800, 1577836800, 0, 5, 0, 1577836800, 'a' || char(10) || 'b'),
        (5, 'media', 'Resize', '', 'RUNNING', 0, 'web3:1', 'e', unixepoch(), unixepoch(), unixepoch() + 9000, 0, 5, 0, NULL, NULL)";

const POSTGRES: &str = "INSERT INTO jobs (id, queue, kind, payload, status, run_at, owner_id, lease_token, claimed_at, heartbeat_at,
        lease_expires_at, attempts, max_attempts, stalls, cancel_requested_at, error_detail)
    VALUES (1, 'mail', 'Send', 'it''s', 'RUNNING', '2020-02-29 23:59:59.999999+00', 'web1:1', 'a', '2020-01-01 00:00:00.000001+02',
            '2020-01-01', '2020-01-01 00:00:00.123456', 0, 5, 0, NULL, NULL),
        (2, 'mail', 'Send', '', 'CLAIMED', '-infinity', 'web1:2', '', '2020-01-01', NULL, '2020-01-01', 1, NULL, 0, NULL, ''),
        (3, 'media', 'Resize', '{}', 'RUNNING', '0044-03-15 12:00:00+00 BC', '', NULL, '2020-01-01', '2020-01-01', '2020-01-01', 4,
            5, 2, NULL, E'\\\\x00 \\\\N NULL'),
        (4, 'media', 'Resize', '', 'RUNNING', 'infinity', 'web2:1', '  x  ', '2020-01-01', '2020-01-01', '2020-01-01', 0, 5, 0,
            '2020-01-01', E'a\nb'),
        (5, 'media', 'Resize', '', 'RUNNING', now(), 'web3:1', 'e', now(), now(), now() + interval '1 hour', 0, 5, 0, NULL, NULL)";

pub fn on_both(test: impl Fn(&Shop)) {
    test(&on_sqlite());
    test(&on_postgres());
}

pub fn on_sqlite() -> Shop {
    filled(Shop::on_sqlite(), SQLITE)
}

pub fn on_postgres() -> Shop {
    filled(Shop::on_postgres(), POSTGRES)
}

pub fn without_encoding() -> Shop {
    filled(Shop::on(postgres::without_encoding()), POSTGRES)
}

fn filled(shop: Shop, jobs: &str) -> Shop {
    shop.run(&["init"]).exits(0);
    shop.sql(jobs);
    shop
}

impl Shop {
    #[track_caller]
    pub fn json(&self, arguments: &[&str], code: i32) -> Value {
        self.run(&[arguments, &["--json"]].concat()).exits(code).json()
    }

    #[track_caller]
    pub fn applied(&self, arguments: &[&str]) -> String {
        self.json(&[arguments, &["--apply"]].concat(), 0)["run_id"].as_str().expect("a run").to_owned()
    }

    #[track_caller]
    pub fn reclaimed(&self) -> String {
        let document = self.json(&["reclaim", "--apply"], 0);
        assert_eq!(document["summary"]["outcomes"]["moved"], 4, "{document:#}");
        document["run_id"].as_str().unwrap().to_owned()
    }

    /// Every row of a table, byte by byte, with its storage classes where the engine has such.
    pub fn dump(&self, table: &str) -> Vec<String> {
        if self.is_postgres() {
            let bytes = "encode(convert_to(t::text, getdatabaseencoding()), 'escape')";
            return self.rows(&format!("SELECT {bytes} FROM {table} AS t ORDER BY 1"));
        }
        let columns = self.rows(&format!("SELECT name FROM pragma_table_info('{table}')"));
        let value =
            |c: &String| format!("'{c}=' || typeof(\"{c}\") || ':' || coalesce(hex(CAST(\"{c}\" AS BLOB)), '-')");
        let values: Vec<String> = columns.iter().map(value).collect();
        self.rows(&format!("SELECT {} FROM {table} ORDER BY 1", values.join(" || ' ' || ")))
    }

    pub fn row(&self, id: i64) -> String {
        if self.is_postgres() {
            return self.rows(&format!("SELECT t::text FROM jobs AS t WHERE id = {id}")).concat();
        }
        let key = format!("id=integer:{}", id.to_string().bytes().map(|b| format!("{b:02X}")).collect::<String>());
        self.dump("jobs").into_iter().filter(|row| row.starts_with(&format!("{key} "))).collect()
    }

    pub fn journals(&self) -> PathBuf {
        self.doctor.home(".local/state/jobdoctor/journal")
    }

    pub fn journal(&self, run: &str) -> PathBuf {
        self.journals().join(format!("{run}.jsonl"))
    }

    pub fn lines(&self, run: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.journal(run)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

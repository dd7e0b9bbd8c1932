//! One home-made queue of `fixtures/adopt/`: its tables, and what `adopt` must make of them.

use crate::support::shop::Shop;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// `expect.toml`, with the script beside it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub schema: String,
    pub engine: String,
    /// As it is given to `adopt`.
    pub table: String,
    /// SQL: the id of a row as jobdoctor prints it.
    pub id: String,
    /// Keys of the draft that the data shows, with their values; a list is joined by commas.
    pub shown: BTreeMap<String, String>,
    /// Keys that names and types make likely.
    pub likely: BTreeMap<String, String>,
    /// The keys that are asked for where nothing is answered.
    pub asked: Vec<String>,
    pub answers: Vec<String>,
    /// Answers that would cost a living job its worker: they prove that the trap is one.
    #[serde(default)]
    pub wrong: Vec<String>,
    /// What living workers write, again and again.
    pub beats: Option<String>,
    /// What others write to rows in flight, whether their workers live or not: no look at it answers a question.
    pub noise: Option<String>,
    /// What `--watch` makes of the beats.
    pub watched: Option<Watched>,
    pub alive: Vec<String>,
    pub stuck: Vec<String>,
    /// The worker's own query for what it could claim.
    pub claim: String,
    /// What that finds once the stuck jobs are reclaimed.
    pub claimable: Vec<String>,
    /// What `reclaim --apply` writes, by id; `each` stands for all other stuck jobs. A column that is not named stays as it was.
    pub after: BTreeMap<String, BTreeMap<String, String>>,
}

/// What is left to ask after a look at workers that beat, and the column that beats.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watched {
    pub asked: Vec<String>,
    pub heartbeat: String,
}

/// A row: column by column, as text; `null` where nothing is set.
pub type Row = BTreeMap<String, String>;

impl Fixture {
    pub fn all(engine: &str) -> Vec<Fixture> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/adopt");
        let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let read = |path: &Path| {
            let text = fs::read_to_string(path.join("expect.toml")).unwrap();
            let fixture: Fixture = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let schema = fs::read_to_string(path.join("schema.sql")).unwrap();
            Fixture { name: path.file_name().unwrap().to_string_lossy().into_owned(), schema, ..fixture }
        };
        paths.iter().map(|path| read(path)).filter(|fixture| fixture.engine == engine).collect()
    }

    pub fn shop(&self) -> Shop {
        let shop = if self.engine == "sqlite" { Shop::on_sqlite() } else { Shop::on_postgres() };
        shop.sql(&self.schema);
        shop
    }

    pub fn rows(&self, shop: &Shop) -> BTreeMap<String, Row> {
        let table = self.table.split('.').map(quoted).collect::<Vec<_>>().join(".");
        let object = if shop.is_postgres() {
            "to_jsonb(t)".to_owned()
        } else {
            let columns = shop.rows(&format!("SELECT name FROM pragma_table_info({})", literal(&self.table)));
            let pair = |column: &String| {
                let value = quoted(column);
                format!("{}, CASE typeof({value}) WHEN 'blob' THEN hex({value}) ELSE {value} END", literal(column))
            };
            format!("json_object({})", columns.iter().map(pair).collect::<Vec<_>>().join(", "))
        };
        let array = if shop.is_postgres() { "jsonb_build_array" } else { "json_array" };
        let read = |line: String| {
            let (id, row): (Value, BTreeMap<String, Value>) = serde_json::from_str(&line).unwrap();
            (text(&id), row.iter().map(|(column, value)| (column.clone(), text(value))).collect())
        };
        shop.rows(&format!("SELECT {array}({}, {object}) FROM {table} AS t", self.id)).into_iter().map(read).collect()
    }

    pub fn assert_after(&self, before: &BTreeMap<String, Row>, after: &BTreeMap<String, Row>) {
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{}", self.name);
        for (id, was) in before {
            let each = self.after.get("each").filter(|_| self.stuck.contains(id));
            let expected = self.after.get(id).or(each);
            for (column, was) in was {
                let is = &after[id][column];
                let expected = expected.and_then(|row| row.get(column)).map_or("unchanged", String::as_str);
                let as_expected = match expected {
                    "unchanged" => is == was,
                    "now" | "reason" => is != was && !["null", ""].contains(&is.as_str()),
                    "+1" => is.parse::<i64>().unwrap() == was.parse::<i64>().unwrap() + 1,
                    exactly => is == exactly,
                };
                assert!(as_expected, "{}, row {id}, {column}: {was} became {is}, not {expected}", self.name);
            }
        }
        let columns: BTreeSet<&String> = before.values().flat_map(Row::keys).collect();
        let named: BTreeSet<&String> = self.after.values().flat_map(Row::keys).collect();
        assert!(named.is_subset(&columns), "{}: {named:?}", self.name);
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

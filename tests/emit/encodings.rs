//! Now, in each encoding that a column may be written in, as the script tells it: read back, it is the time of the run.

use crate::security::hostile_operators::{OF_QUEUE, traps};
use crate::support::cli::Doctor;
use crate::support::postgres::fresh;
use crate::support::shells::psql;
use jobdoctor::model::{Cell, Reading, Timestamp};
use jobdoctor::preset::encoding::{Encoding, Encodings};
use std::fs;

const NUMBERS: [&str; 5] = ["epoch s", "epoch ms", "epoch us", "epoch ns", "epoch s float"];
const TEXTS: [&str; 11] = [
    "text YYYY-MM-DDTHH:MM:SS[.ffffff]+HH:MM",
    "text YYYY-MM-DD HH:MM:SS+00:00",
    "text YYYY-MM-DD HH:MM:SS utc",
    "text YYYY-MM-DDTHH:MM:SSZ",
    "text YYYY-MM-DD HH:MM:SS.fff utc",
    "text YYYY-MM-DDTHH:MM:SS.ffffffZ",
    "text YYYY-MM-DD HH:MM:SS[.ffffff] utc",
    "text YYYY-MM-DD HH:MM:SS[.f-fff][Z]",
    "text YYYY-MM-DDTHH:MM:SS[.fff-fffffffff]+00:00",
    "text YYYY-MM-DDTHH:MM:SS[.f-fff]Z",
    "text YYYY-MM-DD HH:MM:SS[.ffffff] Europe/Paris",
];

fn mapping(encodings: &[&str], began: &str) -> String {
    let columns = (0..encodings.len()).map(|n| format!("'c{n}'")).collect::<Vec<_>>().join(", ");
    let times: String = encodings.iter().enumerate().map(|(n, encoding)| format!(", c{n} = '{encoding}'")).collect();
    format!(
        "[mapping.tasks]
        states = {{ waiting = ['free'], in_flight = ['busy'] }}
        attempts = {{ counted = 'not in the table' }}
        time = {{ default = '{began}'{times} }}
        [mapping.tasks.claim]
        table = 'tasks'
        key = 'id'
        state = 'state'
        claimed_at = 'began'
        liveness = [{{ by = 'age', column = 'began', silent_after = '1m' }}]
        [mapping.tasks.action]
        requeue = {{ to = 'free', stamp = [{columns}] }}
        "
    )
}

fn script(encodings: &[&str], began: &str, db: &str, doctor: &Doctor) -> String {
    fs::write(doctor.path("config.toml"), mapping(encodings, began)).unwrap();
    let ran = doctor.run(&["reclaim", "--db", db, "--config", "config.toml", "--preset", "tasks", "--emit-sql"]);
    ran.exits(0).stdout
}

/// Each value is in the one shape that its encoding writes, and at most a minute old.
fn is_now(encoding: &str, cell: &Cell, now: Timestamp) {
    let encodings = Encodings::new(Encoding::parse(encoding).unwrap(), Vec::new());
    let Reading::At(at) = encodings.decode(cell) else { panic!("{encoding}: {cell:?} cannot be read") };
    assert!(now.seconds_since(at).abs() < 60.0, "{encoding}: {cell:?}");
    // What the program would have written for that instant is the very same.
    assert_eq!(encodings.encode(at).to_string(), cell.to_string(), "{encoding}");
}

#[test]
fn on_postgres() {
    let (doctor, database) = (Doctor::new(), fresh());
    let native = ["native", "native utc", "native Asia/Kathmandu"];
    let encodings: Vec<&str> = NUMBERS.iter().chain(&TEXTS).chain(&native).copied().collect();
    let types = |encoding: &str| match encoding {
        "native" => "timestamptz",
        "epoch s float" => "double precision",
        _ if encoding.starts_with("native") => "timestamp",
        _ if encoding.starts_with("epoch") => "bigint",
        _ => "text",
    };
    let columns: String =
        encodings.iter().enumerate().map(|(n, encoding)| format!(", c{n} {}", types(encoding))).collect();
    let mut client = database.client();
    client
        .batch_execute(&format!(
            "CREATE TABLE tasks (id integer PRIMARY KEY, state text, began timestamptz{columns});
            INSERT INTO tasks (id, state, began) VALUES (1, 'busy', now() - interval '1h')"
        ))
        .unwrap();
    let script = script(&encodings, "native", &database.url(), &doctor);
    client.batch_execute(&traps("laravel", OF_QUEUE)).unwrap();
    psql(&database, &script).exits(0);
    client.batch_execute("DROP OWNED BY stranger CASCADE").unwrap();
    let micros = |sql: &str| client.query_one(sql, &[]).unwrap().get::<_, i64>(0);
    let mut micros = micros;
    let now = Timestamp::from_micros(micros("SELECT (EXTRACT(epoch FROM now()) * 1000000)::bigint")).unwrap();
    for (n, encoding) in encodings.iter().enumerate() {
        let cell = match types(encoding) {
            "bigint" => Cell::Integer(micros(&format!("SELECT c{n} FROM tasks"))),
            "timestamptz" => {
                Cell::Instant(micros(&format!("SELECT (EXTRACT(epoch FROM c{n}) * 1000000)::bigint FROM tasks")))
            }
            "timestamp" => {
                Cell::WallClock(micros(&format!("SELECT (EXTRACT(epoch FROM c{n}) * 1000000)::bigint FROM tasks")))
            }
            "double precision" => {
                let bits =
                    micros(&format!("SELECT ('x' || encode(float8send(c{n}), 'hex'))::bit(64)::bigint FROM tasks"));
                Cell::Real(f64::from_bits(bits.cast_unsigned()))
            }
            _ => {
                let sql = format!("SELECT c{n} FROM tasks");
                Cell::Text(database.client().query_one(&sql, &[]).unwrap().get(0))
            }
        };
        is_now(encoding, &cell, now);
    }
}

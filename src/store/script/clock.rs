//! The transaction's now as SQL, in the encoding of the column that it is written to. A script may run hours after it
//! was made, so it holds no instant. On Postgres it is read with the queue's schema on the search path, where nothing may be looked up.

use super::literal::literal;
use crate::model::{Cell, Engine};
use crate::preset::encoding::{Encoding, Encodings, Fraction, TextPattern, Unit};

/// Now in this encoding; without one, a native timestamp.
pub(super) fn now(engine: Engine, encodings: Option<&Encodings>) -> Result<String, String> {
    let native = Encoding::Native(None);
    let encoding = encodings.map_or(&native, Encodings::first);
    match engine {
        Engine::Postgres => postgres(encoding),
        Engine::Sqlite => sqlite(encoding),
    }
}

/// Now as RFC 3339 text.
pub(super) fn rfc3339(engine: Engine) -> String {
    match engine {
        Engine::Postgres => {
            let text = "pg_catalog.to_char(pg_catalog.now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US')";
            format!("(pg_catalog.rtrim(pg_catalog.rtrim({text}, '0'), '.') OPERATOR(pg_catalog.||) 'Z')")
        }
        Engine::Sqlite => format!("({} || {} || 'Z')", whole_seconds('T'), sqlite_fraction(Fraction::UpToThree)),
    }
}

/// Microseconds since 1970. A double is exact enough to round to one microsecond.
const MICROS: &str =
    "(EXTRACT(epoch FROM pg_catalog.now())::double precision OPERATOR(pg_catalog.*) 1000000::double precision)::bigint";

fn postgres(encoding: &Encoding) -> Result<String, String> {
    Ok(match encoding {
        Encoding::Native(None) => "pg_catalog.now()".to_owned(),
        Encoding::Native(Some(zone)) => format!("(pg_catalog.now() AT TIME ZONE {})", zone_sql(zone.name())?),
        Encoding::Epoch(Unit::Seconds) => format!("({MICROS} OPERATOR(pg_catalog./) 1000000::bigint)"),
        Encoding::Epoch(Unit::Millis) => format!("({MICROS} OPERATOR(pg_catalog./) 1000::bigint)"),
        Encoding::Epoch(Unit::Micros) => format!("({MICROS})"),
        Encoding::Epoch(Unit::Nanos) => format!("({MICROS} OPERATOR(pg_catalog.*) 1000::bigint)"),
        Encoding::EpochFloat => "EXTRACT(epoch FROM pg_catalog.now())::double precision".to_owned(),
        Encoding::Text(pattern) => postgres_text(pattern)?,
    })
}

fn zone_sql(name: &str) -> Result<String, String> {
    literal(Engine::Postgres, &Cell::Text(name.to_owned()))
}

fn postgres_text(pattern: &TextPattern) -> Result<String, String> {
    let wall = format!("pg_catalog.now() AT TIME ZONE {}", zone_sql(pattern.zone().name())?);
    let text = |fraction: &str| {
        let separator = if pattern.separator() == 'T' { "\"T\"" } else { " " };
        format!("pg_catalog.to_char({wall}, 'YYYY-MM-DD{separator}HH24:MI:SS{fraction}')")
    };
    let body = match pattern.fraction() {
        Fraction::None => text(""),
        Fraction::Three => text(".MS"),
        Fraction::Six => text(".US"),
        Fraction::SixOrNone => format!("pg_catalog.regexp_replace({}, '[.]000000$', '')", text(".US")),
        Fraction::Groups => format!("pg_catalog.regexp_replace({}, '([.]000)?000$', '')", text(".US")),
        Fraction::UpToThree => format!("pg_catalog.rtrim(pg_catalog.rtrim({}, '0'), '.')", text(".MS")),
    };
    Ok(match pattern.ending() {
        "" => body,
        ending => format!("({body} OPERATOR(pg_catalog.||) '{ending}')"),
    })
}

/// Read once for each batch, because `'now'` changes from statement to statement.
const MILLIS: &str = "(SELECT ms FROM temp.jobdoctor_now)";

fn sqlite(encoding: &Encoding) -> Result<String, String> {
    Ok(match encoding {
        Encoding::Native(_) => return Err("SQLite has no timestamps".to_owned()),
        Encoding::Epoch(Unit::Seconds) => format!("({MILLIS} / 1000)"),
        Encoding::Epoch(Unit::Millis) => MILLIS.to_owned(),
        Encoding::Epoch(Unit::Micros) => format!("({MILLIS} * 1000)"),
        Encoding::Epoch(Unit::Nanos) => format!("({MILLIS} * 1000000)"),
        Encoding::EpochFloat => format!("({MILLIS} / 1000.0)"),
        Encoding::Text(pattern) if !pattern.zone().is_utc() => {
            let zone = pattern.zone().name();
            return Err(format!("a time is written in the zone {zone}, and SQLite supports UTC only"));
        }
        Encoding::Text(pattern) => {
            let (seconds, fraction) = (whole_seconds(pattern.separator()), sqlite_fraction(pattern.fraction()));
            match pattern.ending() {
                "" => format!("({seconds} || {fraction})"),
                ending => format!("({seconds} || {fraction} || '{ending}')"),
            }
        }
    })
}

fn whole_seconds(separator: char) -> String {
    format!("strftime('%Y-%m-%d{separator}%H:%M:%S', {MILLIS} / 1000, 'unixepoch')")
}

fn sqlite_fraction(fraction: Fraction) -> String {
    let some = |text: String| format!("CASE WHEN {MILLIS} % 1000 = 0 THEN '' ELSE {text} END");
    match fraction {
        Fraction::None => "''".to_owned(),
        Fraction::Three => format!("printf('.%03d', {MILLIS} % 1000)"),
        Fraction::Six => format!("printf('.%03d000', {MILLIS} % 1000)"),
        Fraction::SixOrNone => some(format!("printf('.%03d000', {MILLIS} % 1000)")),
        Fraction::Groups => some(format!("printf('.%03d', {MILLIS} % 1000)")),
        Fraction::UpToThree => some(format!("rtrim(printf('.%03d', {MILLIS} % 1000), '0')")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(engine: Engine, encoding: &str) -> Result<String, String> {
        now(engine, Some(&Encodings::new(Encoding::parse(encoding).unwrap(), Vec::new())))
    }

    #[test]
    fn what_has_no_words_is_refused() {
        assert!(spelled(Engine::Sqlite, "text YYYY-MM-DD HH:MM:SS Europe/Paris").unwrap_err().contains("Europe/Paris"));
        assert!(spelled(Engine::Sqlite, "native").is_err());
        assert!(spelled(Engine::Postgres, "text YYYY-MM-DD HH:MM:SS Europe/Paris").unwrap().contains("'Europe/Paris'"));
    }

    #[test]
    fn no_instant_is_in_it() {
        for encoding in ["epoch s", "epoch ms", "epoch us", "epoch ns", "epoch s float", "text YYYY-MM-DDTHH:MM:SSZ"] {
            for engine in [Engine::Postgres, Engine::Sqlite] {
                let sql = spelled(engine, encoding).unwrap();
                assert!(sql.contains("now()") || sql.contains("jobdoctor_now"), "{sql}");
            }
        }
    }
}

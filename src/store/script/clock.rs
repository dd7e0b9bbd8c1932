//! The transaction's now as SQL, in the encoding of the column that it is written to. A script may run hours after it
//! was made, so it holds no instant. It is read with the queue's schema on the search path, where nothing may be looked
//! up.

use super::literal::literal;
use crate::model::Cell;
use crate::preset::encoding::{Encoding, Encodings, Fraction, TextPattern, Unit};

/// Now in this encoding; without one, a native timestamp.
pub(super) fn now(encodings: Option<&Encodings>) -> Result<String, String> {
    let native = Encoding::Native(None);
    Ok(match encodings.map_or(&native, Encodings::first) {
        Encoding::Native(None) => "pg_catalog.now()".to_owned(),
        Encoding::Native(Some(zone)) => format!("(pg_catalog.now() AT TIME ZONE {})", zone_sql(zone.name())?),
        Encoding::Epoch(Unit::Seconds) => format!("({MICROS} OPERATOR(pg_catalog./) 1000000::bigint)"),
        Encoding::Epoch(Unit::Millis) => format!("({MICROS} OPERATOR(pg_catalog./) 1000::bigint)"),
        Encoding::Epoch(Unit::Micros) => format!("({MICROS})"),
        Encoding::Epoch(Unit::Nanos) => format!("({MICROS} OPERATOR(pg_catalog.*) 1000::bigint)"),
        Encoding::EpochFloat => "EXTRACT(epoch FROM pg_catalog.now())::double precision".to_owned(),
        Encoding::Text(pattern) => text_of(pattern)?,
    })
}

/// Now as RFC 3339 text.
pub(super) fn rfc3339() -> String {
    let text = "pg_catalog.to_char(pg_catalog.now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US')";
    format!("(pg_catalog.rtrim(pg_catalog.rtrim({text}, '0'), '.') OPERATOR(pg_catalog.||) 'Z')")
}

/// Microseconds since 1970. A double is exact enough to round to one microsecond.
const MICROS: &str =
    "(EXTRACT(epoch FROM pg_catalog.now())::double precision OPERATOR(pg_catalog.*) 1000000::double precision)::bigint";

fn zone_sql(name: &str) -> Result<String, String> {
    literal(&Cell::Text(name.to_owned()))
}

fn text_of(pattern: &TextPattern) -> Result<String, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_instant_is_in_it() {
        for encoding in ["epoch s", "epoch ms", "epoch us", "epoch ns", "epoch s float", "text YYYY-MM-DDTHH:MM:SSZ"] {
            let sql = now(Some(&Encodings::new(Encoding::parse(encoding).unwrap(), Vec::new()))).unwrap();
            assert!(sql.contains("now()"), "{sql}");
        }
    }
}

//! SQL of an action on Postgres as it is compiled: names that the search path would find are qualified, rewritten or refused.

use jobdoctor::preset::{Piece, Template, qualified};

fn compiled(sql: &str) -> Result<String, String> {
    let template = qualified(&Template::parse(sql).unwrap())?;
    let text = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Name(name) => format!("{{{name}}}"),
        Piece::Marker(marker) => marker.to_string(),
        _ => String::new(),
    };
    Ok(template.0.iter().map(text).collect())
}

#[test]
fn what_is_looked_up_by_name_is_qualified() {
    for (sql, wanted) in [
        ("a=b", "a O(=)b"),
        ("a = -1", "a O(=) -1"),
        ("a - -1.5e3", "a O(-) -1.5e3"),
        ("a > 1e-5 ", "a O(>) 1e-5"),
        ("-a", "O(-)a"),
        ("-1::numeric", "O(-)1::numeric"),
        ("a=-1", "a O(=)-1"),
        ("a @- b", "a O(@-) b"),
        ("a || b || c", "a O(||) b O(||) c"),
        ("a -> 'x' ->> 'y'", "a O(->) 'x' O(->>) 'y'"),
        ("(a + b) * c", "(a O(+) b) O(*) c"),
        ("x.y[1:2] + 1", "x.y[1:2] O(+) 1"),
        ("a < b AND NOT c >= d OR e IS NULL", "a O(<) b AND NOT c O(>=) d OR e IS NULL"),
        ("CASE WHEN a = b THEN a + b ELSE 'x' END || c", "CASE WHEN a O(=) b THEN a O(+) b ELSE 'x' END O(||) c"),
        ("pg_catalog.count(*) * 2", "pg_catalog.count(*) O(*) 2"),
        ("(SELECT * FROM {t})", "(SELECT * FROM {t})"),
        ("DELETE FROM {t} WHERE (a, b) IN :ids", "DELETE FROM {t} WHERE (a, b) O(=) ANY :ids"),
        ("a IN (SELECT b FROM {t})", "a O(=) ANY (SELECT b FROM {t})"),
        ("a LIKE 'x%' OR b ILIKE 'y'", "a O(~~) 'x%' OR b O(~~*) 'y'"),
        ("a::text || b::varchar(3)", "a::pg_catalog.text O(||) b::varchar(3)"),
        ("a::{state}[] || b::app.state", "a::{state}[] O(||) b::app.state"),
        ("CAST(a AS uuid)", "CAST(a AS pg_catalog.uuid)"),
        ("a::double precision + 1", "a::double precision O(+) 1"),
        ("a::timestamp with time zone + b", "a::timestamp with time zone O(+) b"),
        ("date '2020-01-01' + interval '1 day'", "pg_catalog.date '2020-01-01' O(+) interval '1 day'"),
        ("a AT TIME ZONE 'UTC' = b", "a AT TIME ZONE 'UTC' O(=) b"),
        ("a COLLATE \"C\" < b", "a COLLATE pg_catalog.\"C\" O(<) b"),
        ("substring(a from 'x') || extract(year from b)", "substring(a from 'x') O(||) extract(year from b)"),
        ("position('a' in b)", "position('a' in b)"),
        ("{f}(a) = pg_catalog.now()", "{f}(a) O(=) pg_catalog.now()"),
        ("a OPERATOR(ext.->) 'b'", "a OPERATOR(ext.->) 'b'"),
        ("UPDATE {t} AS t SET a = b = c, d = 1 WHERE e = f", "UPDATE {t} AS t SET a = b O(=) c, d = 1 WHERE e O(=) f"),
        (
            "INSERT INTO {t} (a) VALUES (-1) ON CONFLICT (a) DO UPDATE SET a = EXCLUDED.a",
            "INSERT INTO {t} (a) VALUES (-1) ON CONFLICT (a) DO UPDATE SET a = EXCLUDED.a",
        ),
        (
            "WITH q AS (DELETE FROM {t} RETURNING a) SELECT a FROM q",
            "WITH q AS (DELETE FROM {t} RETURNING a) SELECT a FROM q",
        ),
        ("SELECT a FROM {t} AS t FOR SHARE OF t", "SELECT a FROM {t} AS t FOR SHARE OF t"),
    ] {
        let wanted = wanted.replace("O(", "OPERATOR(pg_catalog.");
        assert_eq!(compiled(sql), Ok(wanted.clone()), "{sql}");
        assert_eq!(compiled(&wanted), Ok(wanted), "{sql}: twice");
    }
}

#[test]
fn what_cannot_be_qualified_is_refused_with_a_way_to_write_it() {
    for (sql, says) in [
        ("a + b * c", "put brackets"),
        ("a || b = c", "put brackets"),
        ("a = b = c", "put brackets"),
        ("a = -b", "put brackets"),
        ("a || b LIKE c", "put brackets"),
        ("a IN (1, 2)", "a = 1 OR a = 2"),
        ("a NOT IN (SELECT b FROM {t})", "NOT (a"),
        ("a BETWEEN 1 AND 2", "a >= b"),
        ("a SIMILAR TO 'x'", "a ~ b"),
        ("a LIKE 'x' ESCAPE '!'", "a LIKE b"),
        ("a IS NOT DISTINCT FROM b", "IS NOT TRUE"),
        ("nullif(a, b)", "CASE WHEN"),
        ("CASE a WHEN 1 THEN 2 END", "CASE WHEN"),
        ("(SELECT a FROM {t} AS t JOIN {u} AS u USING (a))", "ON (a.x = b.x)"),
        ("(SELECT a FROM {t} NATURAL JOIN {u})", "ON (a.x = b.x)"),
        ("(SELECT a FROM {t} ORDER BY a USING <)", "ASC or DESC"),
        ("now()", "pg_catalog.now(...)"),
        ("left(a, 1)", "pg_catalog.left(...)"),
        ("\"lower\"(a)", "pg_catalog."),
        ("substring(a, 1, 2)", "pg_catalog.substring(...)"),
        ("(SELECT a FROM jobs)", "{jobs}"),
        ("(SELECT a FROM {t} AS t, other WHERE true)", "{other}"),
        ("INSERT INTO audit (a) VALUES (1)", "{audit}"),
        ("(SELECT x.a FROM pg_catalog.json_to_record(j) AS x(a mine))", "pg_catalog.x(...)"),
        ("E'a'", "holds `E`"),
        ("E'\\'' || b", "holds `E`"),
        ("a = $1", "holds `$`"),
        ("a -- b", "comment"),
        ("a \\ b", "holds `\\`"),
    ] {
        let refused = compiled(sql).expect_err(sql);
        assert!(refused.contains(says), "{sql}: {refused}");
    }
}

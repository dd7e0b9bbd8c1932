//! URLs: `postgres://user:password@host1:5432,host2/dbname?sslmode=require`.

use super::AddressError;

/// The beginnings by which libpq knows a URL.
pub(super) const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

/// The keys and values that a URL gives, in its order, where `rest` is what comes after the scheme. The rules are those of
/// libpq 15's `conninfo_uri_parse_options`: parts that are empty say nothing, several hosts have commas between them. One
/// thing that libpq lets pass is refused: an unescaped slash in a password, which would make the rest of the password the
/// name of a database, and show it in every message.
///
/// # Errors
/// When it is not such a URL.
pub(super) fn pairs(rest: &str) -> Result<Vec<(String, String)>, AddressError> {
    let mut pairs = Vec::new();
    let mut add = |key: &str, value: &str| -> Result<(), AddressError> {
        if !value.is_empty() {
            pairs.push((key.to_owned(), decoded(value, key)?));
        }
        Ok(())
    };
    // A slash ends the search: an `@` behind it belongs to the database's name.
    let end_of_user_info = rest.find(['@', '/']).filter(|at| rest[*at..].starts_with('@'));
    let rest = match end_of_user_info {
        Some(at) => {
            let (user, password) = rest[..at].split_once(':').unwrap_or((&rest[..at], ""));
            add("user", user)?;
            add("password", password)?;
            &rest[at + 1..]
        }
        None => rest,
    };
    let (hosts, ports, rest) = hosts(rest)?;
    add("host", &hosts)?;
    add("port", &ports)?;
    if end_of_user_info.is_none() && rest.split('?').next().is_some_and(|path| path.contains('@')) {
        return Err(malformed("an @ comes after a / that no user name comes before"));
    }
    let (database, parameters) = match rest.strip_prefix('/') {
        Some(path) => path.split_once('?').map_or((path, None), |(database, rest)| (database, Some(rest))),
        None => ("", rest.strip_prefix('?')),
    };
    add("dbname", database)?;
    for parameter in parameters.unwrap_or_default().split_inclusive('&') {
        pairs.push(query(parameter.strip_suffix('&').unwrap_or(parameter))?);
    }
    Ok(pairs)
}

/// The hosts, the ports, each with commas between them, and what comes after.
fn hosts(mut rest: &str) -> Result<(String, String, &str), AddressError> {
    let (mut hosts, mut ports) = (String::new(), String::new());
    loop {
        let end = match rest.strip_prefix('[') {
            Some(inside) => {
                let end = inside.find(']').filter(|end| *end > 0).ok_or_else(|| {
                    malformed("an IPv6 address in it stands in brackets that are empty or have no end")
                })?;
                hosts.push_str(&inside[..end]);
                end + 2
            }
            None => {
                let end = rest.find([':', '/', '?', ',']).unwrap_or(rest.len());
                hosts.push_str(&rest[..end]);
                end
            }
        };
        rest = &rest[end..];
        if let Some(port) = rest.strip_prefix(':') {
            let end = port.find(['/', '?', ',']).unwrap_or(port.len());
            ports.push_str(&port[..end]);
            rest = &port[end..];
        }
        match rest.chars().next() {
            Some(',') => {
                hosts.push(',');
                ports.push(',');
                rest = &rest[1..];
            }
            None | Some('/' | '?') => return Ok((hosts, ports, rest)),
            Some(_) => return Err(malformed("after the bracket of an IPv6 address comes neither : nor / nor ? nor ,")),
        }
    }
}

fn query(parameter: &str) -> Result<(String, String), AddressError> {
    let pair = parameter.split_once('=').filter(|(_, value)| !value.contains('='));
    let (key, value) =
        pair.ok_or_else(|| malformed("what comes after the ? must be key=value pairs with & between"))?;
    let (key, value) = (decoded(key, "query")?, decoded(value, "query")?);
    // JDBC's way to say it, which libpq takes too.
    if key == "ssl" && value == "true" {
        return Ok(("sslmode".to_owned(), "require".to_owned()));
    }
    Ok((key, value))
}

/// The text with its %-sequences resolved.
fn decoded(text: &str, part: &str) -> Result<String, AddressError> {
    let wrong =
        || malformed(&format!("a % in its {part} part is not followed by two hexadecimal digits, or not by UTF-8"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
        // A NUL would end the value for the server.
        let byte = u8::try_from(high * 16 + low).ok().filter(|byte| *byte != 0).ok_or_else(wrong)?;
        bytes.push(byte);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

fn malformed(why: &str) -> AddressError {
    AddressError::new(format!(
        "the Postgres URL cannot be read: {why} (nothing of it is shown: it may hold a password). In user names and passwords \
         the characters @ / : ? # % must be percent-encoded: @ is %40, / is %2F"
    ))
}

#[cfg(test)]
mod tests {
    use super::pairs;

    fn read(rest: &str) -> String {
        let pairs = pairs(rest).unwrap();
        pairs.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_forms_of_the_manual() {
        assert_eq!(read(""), "");
        assert_eq!(read("localhost"), "host=localhost");
        assert_eq!(read("localhost:5433"), "host=localhost port=5433");
        assert_eq!(read("localhost/mydb"), "host=localhost dbname=mydb");
        assert_eq!(read("user:secret@localhost"), "user=user password=secret host=localhost");
        assert_eq!(
            read("other@localhost/otherdb?connect_timeout=10&application_name=myapp"),
            "user=other host=localhost dbname=otherdb connect_timeout=10 application_name=myapp"
        );
        assert_eq!(
            read("host1:123,host2:456/somedb?target_session_attrs=any"),
            "host=host1,host2 port=123,456 dbname=somedb target_session_attrs=any"
        );
        assert_eq!(read("[2001:db8::1234]/database"), "host=2001:db8::1234 dbname=database");
        assert_eq!(read("[::1],h:2"), "host=::1,h port=,2");
        assert_eq!(read("%2Fvar%2Flib%2Fpostgresql/dbname"), "host=/var/lib/postgresql dbname=dbname");
        assert_eq!(read("/mydb?host=localhost&port=5433&"), "dbname=mydb host=localhost port=5433");
        assert_eq!(read("@h"), "host=h");
        assert_eq!(read(":p@h"), "password=p host=h");
        assert_eq!(read("h?ssl=true"), "host=h sslmode=require");
        assert_eq!(read("u@h/a/b@c"), "user=u host=h dbname=a/b@c");
        assert_eq!(read("h/d?user=u@srv"), "host=h dbname=d user=u@srv");
    }

    #[test]
    fn what_cannot_be_read() {
        for rest in
            ["[::1", "[]", "[::1]x", "u%4", "u%zz@h", "h/%00", "h?a", "h?a=b=c", "h?a=1&&b=2", "u:%ff@h", "u:1/2@h/d"]
        {
            assert!(pairs(rest).is_err(), "{rest}");
        }
    }
}

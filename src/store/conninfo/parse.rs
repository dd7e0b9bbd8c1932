//! Reads an address: `host=db dbname='my app'`, or `postgres://user:password@host1:5432,host2/dbname?sslmode=require`.

use super::AddressError;

/// The keys and values of a `key=value` string, in order; a key may come twice. As libpq 15's `conninfo_parse`: blanks
/// are allowed around `=`, values may stand in single quotes, and a backslash escapes any character.
pub(super) fn key_value_pairs(text: &str) -> Result<Vec<(String, String)>, AddressError> {
    let mut rest = text.chars().peekable();
    let mut pairs = Vec::new();
    loop {
        while rest.next_if(|c| is_blank(*c)).is_some() {}
        if rest.peek().is_none() {
            return Ok(pairs);
        }
        let mut key = String::new();
        while let Some(c) = rest.next_if(|c| *c != '=' && !is_blank(*c)) {
            key.push(c);
        }
        while rest.next_if(|c| is_blank(*c)).is_some() {}
        if rest.next_if_eq(&'=').is_none() {
            return Err(missing_equals(pairs.len()));
        }
        while rest.next_if(|c| is_blank(*c)).is_some() {}
        let value = match rest.next_if_eq(&'\'') {
            Some(_) => quoted(&mut rest).ok_or_else(|| unclosed(pairs.len()))?,
            None => bare(&mut rest),
        };
        pairs.push((key, value));
    }
}

type Rest<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn quoted(rest: &mut Rest<'_>) -> Option<String> {
    let mut value = String::new();
    loop {
        match rest.next()? {
            '\'' => return Some(value),
            '\\' => value.extend(rest.next()),
            c => value.push(c),
        }
    }
}

fn bare(rest: &mut Rest<'_>) -> String {
    let mut value = String::new();
    while let Some(c) = rest.next_if(|c| !is_blank(*c)) {
        match c {
            '\\' => value.extend(rest.next()),
            c => value.push(c),
        }
    }
    value
}

/// C's `isspace`.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

fn missing_equals(before: usize) -> AddressError {
    AddressError::new(format!(
        "the address cannot be read: in its key=value pair number {} the `=` is missing (nothing of it is shown: it may hold \
         a password). Values with blanks in them stand in single quotes: password='two words'",
        before + 1
    ))
}

fn unclosed(before: usize) -> AddressError {
    AddressError::new(format!(
        "the address cannot be read: the value of its key=value pair number {} begins with a single quote and has no closing \
         one (nothing of it is shown: it may hold a password)",
        before + 1
    ))
}

/// The prefixes by which libpq recognises a URL.
pub(super) const URL_SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

/// The keys and values of a URL, in order; `rest` is the text after the scheme. As libpq 15's
/// `conninfo_uri_parse_options`: empty parts are skipped, commas separate hosts. Stricter than libpq in one point: an
/// unescaped slash in a password is refused, because the rest of the password would become the database's name and show
/// in every message.
pub(super) fn url_pairs(rest: &str) -> Result<Vec<(String, String)>, AddressError> {
    let mut pairs = Vec::new();
    let mut add = |key: &str, value: &str| -> Result<(), AddressError> {
        if !value.is_empty() {
            pairs.push((key.to_owned(), decoded(value, key)?));
        }
        Ok(())
    };
    // An `@` after a slash belongs to the database's name.
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
    let (hosts, ports, rest) = url_hosts(rest)?;
    add("host", &hosts)?;
    add("port", &ports)?;
    if end_of_user_info.is_none() && rest.split('?').next().is_some_and(|path| path.contains('@')) {
        return Err(malformed("an @ follows a / without a user name before it"));
    }
    let (database, parameters) = match rest.strip_prefix('/') {
        Some(path) => path.split_once('?').map_or((path, None), |(database, rest)| (database, Some(rest))),
        None => ("", rest.strip_prefix('?')),
    };
    add("dbname", database)?;
    for parameter in parameters.unwrap_or_default().split_inclusive('&') {
        pairs.push(url_parameter(parameter.strip_suffix('&').unwrap_or(parameter))?);
    }
    Ok(pairs)
}

/// The hosts and the ports, each separated by commas, and the rest.
fn url_hosts(mut rest: &str) -> Result<(String, String, &str), AddressError> {
    let (mut hosts, mut ports) = (String::new(), String::new());
    loop {
        let end = match rest.strip_prefix('[') {
            Some(inside) => {
                let end = inside
                    .find(']')
                    .filter(|end| *end > 0)
                    .ok_or_else(|| malformed("an IPv6 address in it has empty or unclosed brackets"))?;
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
            Some(_) => return Err(malformed("only : / ? or , may follow the bracket of an IPv6 address")),
        }
    }
}

fn url_parameter(parameter: &str) -> Result<(String, String), AddressError> {
    let pair = parameter.split_once('=').filter(|(_, value)| !value.contains('='));
    let (key, value) =
        pair.ok_or_else(|| malformed("what comes after the ? must be key=value pairs with & between"))?;
    let (key, value) = (decoded(key, "query")?, decoded(value, "query")?);
    // JDBC's spelling, which libpq accepts too.
    if key == "ssl" && value == "true" {
        return Ok(("sslmode".to_owned(), "require".to_owned()));
    }
    Ok((key, value))
}

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

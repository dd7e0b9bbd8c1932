//! `key=value` strings: `host=db dbname='my app'`.

use super::AddressError;

/// The keys and values of a string, in its order; a key may come twice. The rules are those of libpq 15's
/// `conninfo_parse`: blanks around `=`, values in single quotes, and a backslash before any character that shall stand for
/// itself.
///
/// # Errors
/// When an `=` or a closing quote is missing.
pub(super) fn pairs(text: &str) -> Result<Vec<(String, String)>, AddressError> {
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

#[cfg(test)]
mod tests {
    use super::pairs;

    fn read(text: &str) -> Vec<(String, String)> {
        pairs(text).unwrap()
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn blanks_quotes_and_backslashes() {
        assert_eq!(read(" host = db\tport=5433 "), [pair("host", "db"), pair("port", "5433")]);
        assert_eq!(read(r"password='it\'s' user=o\ o\\"), [pair("password", "it's"), pair("user", r"o o\")]);
        assert_eq!(read("a='x'b=1 c= d=2"), [pair("a", "x"), pair("b", "1"), pair("c", "d=2")]);
        assert_eq!(read("a='' b="), [pair("a", ""), pair("b", "")]);
        assert_eq!(read(" \t"), []);
    }

    #[test]
    fn what_cannot_be_read() {
        for text in ["host", "host db", "a=b c", "password='x", "password='x\\'"] {
            assert!(pairs(text).is_err(), "{text}");
        }
    }
}

//! Passwords in texts from elsewhere, such as a value of the config file or a message of clap.

use crate::store::{self, is_password_key};

/// True if a text may be an address with a password in it, or has the word `password`.
pub(super) fn may_hold_password(text: &str) -> bool {
    store::may_hold_password(text) || text.to_ascii_lowercase().contains("password")
}

/// True if a misplaced word may hold a password: there any `word=` may be a mistyped `password=`.
pub(super) fn may_be_misplaced_password(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    may_hold_password(text) || text.split_once('=').is_some_and(|(before, _)| is_word(before.trim()))
}

/// The text with `(hidden)` for the password of every URL and for every `password=` value.
pub(super) fn masked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        // The user information ends at the last `@` before a space or quote; a password may hold any other character.
        let word = after.find(|c: char| c.is_whitespace() || "'\"`".contains(c)).unwrap_or(after.len());
        let user_info = after.get(..word).and_then(|word| word.rfind('@')).and_then(|end| after.get(..end));
        rest = match user_info.and_then(|user_info| user_info.split_once(':').map(|(user, _)| (user, user_info.len())))
        {
            Some((user, length)) => {
                shown.push_str(user);
                shown.push_str(":(hidden)");
                after.get(length..).unwrap_or_default()
            }
            None => after,
        };
    }
    shown.push_str(rest);
    mask_pairs(&shown)
}

/// Hides the values of `password=` as libpq reads it: in any case, with or without blanks around the sign.
fn mask_pairs(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, value)) = rest.split_once('=') {
        let key = before.trim_end();
        if !key.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().is_some_and(is_password_key) {
            shown.extend([before, "="]);
            rest = value;
            continue;
        }
        let value = value.trim_start();
        shown.extend([key, "=(hidden)"]);
        let end = match value.strip_prefix('\'') {
            Some(quoted) => closing_quote(quoted).map_or(value.len(), |end| end + 2),
            None => value.find(|c: char| c.is_whitespace() || "'\"`&".contains(c)).unwrap_or(value.len()),
        };
        rest = value.get(end..).unwrap_or_default();
    }
    shown.push_str(rest);
    shown
}

/// The offset of the first quote that is not escaped by a backslash.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.find(|c| {
        let is_end = c == '\'' && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_passwords_are_known() {
        for text in ["a://u:p@h", "u:p@h/d", "host=h PASSWORD=x", "PGPASSWORD=x"] {
            assert!(may_hold_password(text), "{text}");
        }
        for text in ["a://u@h:1/d", "queue.db", "host=h dbname=d", "u@h"] {
            assert!(!may_hold_password(text), "{text}");
        }
        assert!(may_be_misplaced_password("pasword=x"));
        assert!(!may_be_misplaced_password("--older=5") && !may_be_misplaced_password("queue.db"));
    }

    #[test]
    fn passwords_go_and_the_rest_stays() {
        let cases = [
            ("a://u:secret@h/d and b", "a://u:(hidden)@h/d and b"),
            ("`postgres://u:se@cr/et@h/d`: no", "`postgres://u:(hidden)@h/d`: no"),
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("host=h password=secret dbname=d", "host=h password=(hidden) dbname=d"),
            ("password='se cret' user=u", "password=(hidden) user=u"),
            ("http://h/x?password=secret&y=1", "http://h/x?password=(hidden)&y=1"),
            ("PASSWORD = secret x", "PASSWORD=(hidden) x"),
            (r"password='se\'cret' user=u", "password=(hidden) user=u"),
            ("host=h pw=secret pasword = 'a b' passfile=p", "host=h pw=(hidden) pasword=(hidden) passfile=p"),
            ("the password, is it?", "the password, is it?"),
            ("nothing here", "nothing here"),
        ];
        for (text, shown) in cases {
            assert_eq!(masked(text), shown);
        }
    }
}

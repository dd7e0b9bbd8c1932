//! Whose a file is.

use nix::unistd::{Uid, User};

/// The name of a user, if there is one.
pub(super) fn name(user: u32) -> Option<String> {
    User::from_uid(Uid::from_raw(user)).ok().flatten().map(|user| user.name)
}

/// The advice to run the same as that user.
pub(super) fn run_as(user: u32) -> String {
    format!("run it as the owner: sudo -u {} jobdoctor ...", word(name(user), user))
}

/// The user as a shell and `sudo -u` take it: by name, or by number where there is no name or it is an odd one.
fn word(name: Option<String>, user: u32) -> String {
    let is_plain = |name: &String| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    };
    name.filter(is_plain).unwrap_or_else(|| format!("'#{user}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_named_in_words_that_sudo_takes() {
        let word = |name: &str| word(Some(name.to_owned()), 7);
        assert_eq!(word("www-data"), "www-data");
        assert_eq!(word("_apt"), "_apt");
        for odd in ["", "-u", "#0", "a b", "a;b", "DOMAIN\\joe", "joe$"] {
            assert_eq!(word(odd), "'#7'", "{odd}");
        }
        assert_eq!(super::word(None, 4_294_967_294), "'#4294967294'");
        assert_eq!(name(0).as_deref(), Some("root"));
        assert_eq!(run_as(0), "run it as the owner: sudo -u root jobdoctor ...");
    }
}

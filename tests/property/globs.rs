//! Patterns select what globset says they select: its matcher is the reference.

use super::tries;
use globset::GlobBuilder;
use jobdoctor::policy::Globs;
use proptest::prelude::*;

/// `**` is left out: paths give it a meaning that names do not have.
fn reference(pattern: &str) -> Option<globset::GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(false).empty_alternates(true).build();
    glob.ok().map(|glob| glob.compile_matcher())
}

proptest! {
    #![proptest_config(tries(300))]

    #[test]
    fn names_are_matched_as_by_globset(
        pattern in r"([abc/?!^,*\\-]|\[[!^]?[abc\]-]{1,4}\]|\{[ab*,]{0,4}\}|\{a\{b,c\}[,?]|[\[\]{}]){0,6}",
        names in prop::collection::vec(r"[abc/!^,\\*-]{0,5}", 1..8),
    ) {
        let globs = Globs::new(std::slice::from_ref(&pattern));
        let reference = reference(&pattern);
        prop_assert_eq!(globs.is_ok(), reference.is_some(), "{}", pattern);
        // Of `[a-b-c]` globset makes one range, from a to c. POSIX leaves it open, and here as in shells `-` and c are two more.
        let chars: Vec<char> = pattern.chars().collect();
        let is_open = pattern.contains("**") || chars.windows(4).any(|four| (four[1], four[3]) == ('-', '-'));
        if let (Ok(globs), Some(reference), false) = (globs, reference, is_open) {
            for name in names {
                prop_assert_eq!(globs.admits(Some(&name)), reference.is_match(&name), "{} {}", pattern, name);
            }
        }
    }
}

#[test]
fn what_paths_and_bytes_would_change() {
    let matches = |pattern: &str, name| Globs::new(&[pattern.to_owned()]).unwrap().admits(Some(name));
    assert!(matches("**", "web1") && matches("a**b", "a/b") && matches("w?b", "wéb") && matches("[à-ü]", "é"));
    assert!(matches("[a-b-d]", "-") && matches("[a-b-d]", "d") && !matches("[a-b-d]", "c"));
    // Trying one branch after the other would not end.
    assert!(!matches(&format!("{}c", "{*,a}*".repeat(40)), &"a".repeat(2000)));
}

//! Text from a database is harmless in a terminal, whatever it is.

use super::tries;
use jobdoctor::output::format::inert;
use proptest::prelude::*;
use std::borrow::Cow;

/// Characters that terminals act on, among harmless ones.
fn nasty() -> impl Strategy<Value = String> {
    let c = prop_oneof![
        any::<char>(),
        proptest::char::range('\0', '\u{ff}'),
        proptest::char::range('\u{2000}', '\u{206f}'),
        proptest::char::range('\u{e0000}', '\u{e01ff}'),
    ];
    proptest::collection::vec(c, 0..40).prop_map(String::from_iter)
}

fn acts(c: char) -> bool {
    matches!(u32::from(c), 0..0x20 | 0x7f..0xa0 | 0x61c | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff
        | 0xe0000..=0xe007f)
}

/// What the escapes stand for. Only a text without backslashes of its own can be read back.
fn read_back(shown: &str) -> String {
    let mut parts = shown.split('\\');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (hex, rest) = match part.as_bytes().first() {
            Some(b'n') => ("a", &part[1..]),
            Some(b'r') => ("d", &part[1..]),
            Some(b't') => ("9", &part[1..]),
            Some(b'x') => part[1..].split_at(2),
            _ => part[2..].split_once('}').unwrap_or_default(),
        };
        let code = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
        text + &code.map(String::from).unwrap_or_default() + rest
    })
}

proptest! {
    #![proptest_config(tries(300))]

    #[test]
    fn nothing_that_acts_is_left(text in nasty()) {
        prop_assert!(!inert(&text).contains(acts), "{:?}", inert(&text));
    }

    #[test]
    fn what_needs_nothing_is_borrowed(text in "[ -~¡-¬®-ͅ一-龥]*") {
        prop_assert!(matches!(inert(&text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn twice_is_as_once(text in nasty()) {
        let once = inert(&text).into_owned();
        prop_assert_eq!(inert(&once), once.as_str());
    }

    #[test]
    fn nothing_is_lost(text in nasty()) {
        let text = text.replace('\\', "/");
        prop_assert_eq!(read_back(&inert(&text)), text);
    }
}

#[test]
fn controls_become_visible() {
    let cases = [
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[2J\x07", r"\x1b[2J\x07"),
        ("\0\x7f", r"\x00\x7f"),
        ("\u{85}\u{9b}31m", r"\u{85}\u{9b}31m"),
        ("gpj.\u{202e}exe", r"gpj.\u{202e}exe"),
        ("\u{61c}\u{200e}\u{200f}\u{2066}\u{2069}", r"\u{61c}\u{200e}\u{200f}\u{2066}\u{2069}"),
        ("id\u{200b}\u{200d}\u{feff}", r"id\u{200b}\u{200d}\u{feff}"),
        ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
        ("\u{e0041}\u{e007f}\u{fe0f}", r"\u{e0041}\u{e007f}\u{fe0f}"),
    ];
    for (text, shown) in cases {
        assert_eq!(inert(text), shown);
    }
}

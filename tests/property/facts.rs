//! Names and values below each other, on screens of all widths.

use jobdoctor::output::format::{Cell, Facts, Screen, Tone};

fn rendered(width: Option<usize>) -> String {
    let mut facts = Facts::new();
    facts.add("owner", "web1:4211").add("evidence", "heartbeat_at is 13m 32s old").add("note", "a\nstate: fine");
    facts.render(&Screen { width, color: false, ..Screen::default() })
}

#[test]
fn values_are_aligned_and_inert() {
    let block = "owner:     web1:4211\nevidence:  heartbeat_at is 13m 32s old\nnote:      a\\nstate: fine\n";
    assert_eq!(rendered(None), block);
    assert_eq!(rendered(Some(80)), block);
}

#[test]
fn long_values_hang_below_themselves() {
    let block = "owner:     web1:4211\n\
                 evidence:  heartbeat_at\n           is 13m 32s\n           old\n\
                 note:      a\\nstate:\n           fine\n";
    assert_eq!(rendered(Some(24)), block);
}

#[test]
fn long_names_leave_room_for_values() {
    let mut facts = Facts::new();
    facts.add("a very long name indeed", "1234567890");
    let screen = Screen { width: Some(20), color: false, ..Screen::default() };
    assert_eq!(facts.render(&screen), "a very lo…  12345678\n            90\n");
}

#[test]
fn a_very_long_value_is_kept_whole() {
    let mut facts = Facts::new();
    facts.add("payload", "x".repeat(200_000));
    let block = facts.render(&Screen { width: None, color: false, ..Screen::default() });
    assert_eq!(block.matches('x').count(), 200_000);
}

#[test]
fn names_step_back_in_colour() {
    let mut facts = Facts::new();
    facts.add("verdict", Cell::new("stuck", Tone::Bad));
    let block = facts.render(&Screen { width: Some(80), color: true, ..Screen::default() });
    assert_eq!(block, "\x1b[2mverdict:\x1b[0m  \x1b[1m\x1b[31mstuck\x1b[0m\n");
}

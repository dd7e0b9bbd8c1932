//! Time encodings: what is written reads back, a pre-filter never loses a row, and nothing that is stored can panic.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use super::tries;
use crate::bad_input::inputs::time::compared;
use jobdoctor::model::{Cell, Reading, Timestamp};
use jobdoctor::preset::encoding::{Encoding, Encodings, Unit, Zone};
use proptest::prelude::*;
use std::cmp::Ordering;

const ZONES: [&str; 8] = [
    "utc",
    "Europe/Paris",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Antarctica/Troll",
];
const PLAIN: [&str; 6] = ["native", "epoch s", "epoch ms", "epoch us", "epoch ns", "epoch s float"];
const FRACTIONS: [&str; 6] = ["", ".fff", ".ffffff", "[.ffffff]", "[.f-fff]", "[.fff-fffffffff]"];

/// Instants at which zones change their offset, or where a range ends: 1970, the ends of the text years and of 64-bit
/// nanoseconds, a spring and an autumn in Paris, the day that Samoa skipped.
const EDGES: [&str; 9] = [
    "1970-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "0000-06-01T00:00:00Z",
    "9999-12-30T21:59:59Z",
    "2262-04-11T23:47:16.854775Z",
    "2026-03-29T01:00:00Z",
    "2026-10-25T01:00:00Z",
    "2011-12-30T10:00:00Z",
    "2026-04-04T15:00:00Z",
];

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap_or_else(|| panic!("{text}"))
}

fn one(spelling: &str) -> Encodings {
    list(&[spelling])
}

fn list(spellings: &[&str]) -> Encodings {
    let mut all = spellings.iter().map(|spelling| Encoding::parse(spelling).unwrap_or_else(|why| panic!("{why}")));
    Encodings::new(all.next().unwrap_or(Encoding::EpochFloat), all.collect())
}

fn text(value: &str) -> Cell {
    Cell::Text(value.to_owned())
}

fn micros() -> impl Strategy<Value = i64> {
    let edge = (prop::sample::select(&EDGES[..]), -100_000_000_000..100_000_000_000_i64);
    let near = (prop::sample::select(&EDGES[..]), -3_000_000..3_000_000_i64);
    prop_oneof![
        1 => -377_705_023_201_000_000..253_402_207_200_000_000_i64,
        3 => 1_600_000_000_000_000..1_900_000_000_000_000_i64,
        3 => edge.prop_map(|(edge, shift)| at(edge).micros() + shift),
        2 => near.prop_map(|(edge, shift)| at(edge).micros() + shift),
        1 => (1_700_000_000..1_700_000_100_i64).prop_map(|seconds| seconds * 1_000_000),
    ]
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    micros().prop_filter_map("in range", Timestamp::from_micros)
}

/// An instant and a cut-off, mostly close to each other.
fn pair() -> impl Strategy<Value = (Timestamp, Timestamp)> {
    let shift = prop_oneof![
        Just(0),
        Just(1),
        -2..3_i64,
        -2_000_000..2_000_000_i64,
        -200_000_000_000..200_000_000_000_i64,
        -9_000_000_000_000_000..9_000_000_000_000_000_i64,
    ];
    (micros(), shift).prop_filter_map("in range", |(micros, shift)| {
        Some((Timestamp::from_micros(micros)?, Timestamp::from_micros(micros + shift)?))
    })
}

fn text_spelling() -> impl Strategy<Value = String> {
    let zone_or_suffix = prop_oneof![
        prop::sample::select(vec!["", "Z", "[Z]", "+00:00", "+HH:MM"]).prop_map(str::to_owned),
        prop::sample::select(&ZONES[1..]).prop_map(|zone| format!(" {zone}")),
    ];
    (prop::sample::select(vec![" ", "T"]), prop::sample::select(&FRACTIONS[..]), zone_or_suffix)
        .prop_map(|(separator, fraction, end)| format!("text YYYY-MM-DD{separator}HH:MM:SS{fraction}{end}"))
}

fn spelling() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&PLAIN[..]).prop_map(str::to_owned),
        prop::sample::select(&ZONES[..]).prop_map(|zone| format!("native {zone}")),
        text_spelling(),
    ]
}

fn encodings() -> impl Strategy<Value = Encodings> {
    prop_oneof![
        spelling().prop_map(|spelling| one(&spelling)),
        prop::collection::vec(spelling(), 2..4)
            .prop_map(|all| list(&all.iter().map(String::as_str).collect::<Vec<_>>())),
    ]
}

/// The coarsest step between two spellings, in microseconds, at a time as far away as `at`.
fn precision(spelling: &str, at: Timestamp) -> i64 {
    match spelling {
        "epoch s" => 1_000_000,
        "epoch ms" => 1000,
        "epoch s float" => 1 + (at.micros().abs() >> 51),
        text if text.starts_with("text") && text.contains(".ffffff") => 1,
        text if text.starts_with("text") && text.contains("fff") => 1000,
        text if text.starts_with("text") => 1_000_000,
        _ => 1,
    }
}

/// The same spelling with the zone taken for UTC: what a wall clock shows, skipped and repeated hours included.
fn without_zone(encoding: &Encoding) -> Encodings {
    let spelling = encoding.to_string();
    let zone = ZONES[1..].iter().find_map(|zone| spelling.strip_suffix(&format!(" {zone}")));
    one(match zone {
        Some("native") => "native utc",
        Some(text) => text,
        None => &spelling,
    })
}

/// What the pre-filter compares with for the values that lie on this side of the cut-off.
fn bounds_on(side: Ordering, encodings: &Encodings, cut: Timestamp) -> Vec<Cell> {
    if side == Ordering::Less { encodings.before(cut) } else { encodings.after(cut) }
}

fn never_lost(encodings: &Encodings, stored: &Cell, cut: Timestamp) -> Result<(), TestCaseError> {
    let Some(read) = encodings.decode(stored).at() else { return Ok(()) };
    let side = read.micros().cmp(&cut.micros());
    let bounds = bounds_on(side, encodings, cut);
    let is_found = side == Ordering::Equal || bounds.iter().any(|bound| compared(stored, bound) == Some(side));
    prop_assert!(is_found, "{stored} ({read}) is lost by {bounds:?} at {cut} in {encodings}");
    Ok(())
}

/// Anything a database may hold.
fn junk() -> impl Strategy<Value = Cell> {
    let number = prop_oneof![
        any::<i64>(),
        Just(i64::MIN),
        Just(i64::MAX),
        Just(i64::MIN + 1),
        Just(i64::MAX - 1),
        -1_000..2_000_000_000_i64
    ];
    // Times with one character changed or missing, which are the likeliest to slip through.
    let broken = (text_spelling(), timestamp(), any::<prop::sample::Index>(), prop::option::of(any::<char>()))
        .prop_map(|(spelling, at, place, change)| {
            let mut letters: Vec<char> = one(&spelling).encode(at).to_string().chars().collect();
            let place = place.index(letters.len());
            letters.splice(place..=place, change);
            Cell::Text(letters.into_iter().collect())
        });
    prop_oneof![
        number.clone().prop_map(Cell::Integer),
        number.clone().prop_map(Cell::Instant),
        number.prop_map(Cell::WallClock),
        any::<f64>().prop_map(Cell::Real),
        prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0]).prop_map(Cell::Real),
        any::<String>().prop_map(Cell::Text),
        "[0-9+.:TZé -]{0,30}".prop_map(Cell::Text),
        broken,
        prop::collection::vec(any::<u8>(), 0..8).prop_map(Cell::Bytes),
        prop::sample::select(vec![Cell::Null, Cell::Infinity, Cell::NegativeInfinity]),
    ]
}

proptest! {
    #![proptest_config(tries(300))]

    #[test]
    fn what_is_written_reads_back(spelling in spelling(), at in timestamp()) {
        let encodings = one(&spelling);
        let written = encodings.encode(at);
        let read = encodings.decode(&written).at();
        let Some(read) = read else { return Err(TestCaseError::fail(format!("{written} does not read back"))) };
        let spelled = !spelling.starts_with("text") || at.micros() >= self::at("0001-01-02T00:00:00Z").micros();
        let fits = spelling != "epoch ns" || at.micros().abs() < i64::MAX / 1000;
        // Beyond 2^51 microseconds, before 1899 and after 2041, a float of seconds no longer tells neighbours apart for sure.
        let exact = spelling != "epoch s float" || at.micros().abs() < 1 << 51;
        if fits && exact {
            prop_assert_eq!(&encodings.encode(read), &written, "writing what was read changes nothing");
        }
        let zoned = ZONES[1..].iter().any(|zone| spelling.ends_with(zone));
        let lost = at.micros() - read.micros();
        let precision = precision(&spelling, at);
        if spelling == "epoch s float" {
            prop_assert!(lost.abs() < precision, "{} reads back as {}", at, read);
        } else if spelled && fits && !zoned {
            prop_assert!((0..precision).contains(&lost), "{} reads back as {}", at, read);
        } else if spelled && fits {
            // In a repeated hour the later pass is read, so only forward, and never by more than the change.
            prop_assert!(lost < precision && lost > -4 * 3_600_000_000, "{} reads back as {}", at, read);
        }
    }

    #[test]
    fn a_pre_filter_never_loses_a_row(encodings in encodings(), (at, cut) in pair()) {
        for encoding in encodings.iter() {
            let stored = Encodings::new(encoding.clone(), Vec::new()).encode(at);
            never_lost(&encodings, &stored, cut)?;
            let stored = without_zone(encoding).encode(at);
            never_lost(&encodings, &stored, cut)?;
            if let Cell::Text(text) = &stored {
                never_lost(&encodings, &Cell::Text(text.trim_end_matches('Z').to_owned()), cut)?;
            }
        }
    }

    /// Written by workers all over the world, whose clocks show up to a day more or less.
    #[test]
    fn a_pre_filter_on_offsets_never_loses_a_row((at, cut) in pair(), minutes in -1439..1440_i64) {
        let there = Timestamp::from_micros(at.micros() + minutes * 60_000_000);
        let Some(there) = there.filter(|there| there.micros() >= self::at("0001-01-01T00:00:00Z").micros()) else { return Ok(()) };
        for fraction in FRACTIONS {
            let shape = format!("text YYYY-MM-DDTHH:MM:SS{fraction}");
            let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.abs());
            let stored = format!("{}{sign}{:02}:{:02}", one(&shape).encode(there), minutes / 60, minutes % 60);
            let encodings = one(&format!("{shape}+HH:MM"));
            prop_assert!(encodings.decode(&text(&stored)).at().is_some(), "{} is not read", stored);
            never_lost(&encodings, &text(&stored), cut)?;
        }
    }

    #[test]
    fn a_pre_filter_on_floats_counts_every_ulp((at, _) in pair(), ulps in -8..8_i64) {
        let encodings = one("epoch s float");
        let Cell::Real(seconds) = encodings.encode(at) else { return Ok(()) };
        let stored = f64::from_bits(seconds.to_bits().wrapping_add_signed(ulps));
        for shift in -1..=1 {
            let Some(cut) = Timestamp::from_micros(at.micros() + shift) else { continue };
            never_lost(&encodings, &Cell::Real(stored), cut)?;
        }
    }

    #[test]
    fn junk_never_panics_and_never_hides(encodings in encodings(), stored in junk(), cut in timestamp()) {
        // With a zone, a bound is a wall clock: it is for columns that hold no instants.
        let instant = matches!(stored, Cell::Instant(_));
        if encodings.iter().any(|encoding| matches!(encoding, Encoding::Native(Some(_)))) && instant {
            return Ok(());
        }
        match encodings.decode(&stored) {
            Reading::Absent => prop_assert!(stored.is_null()),
            Reading::At(_) => never_lost(&encodings, &stored, cut)?,
            Reading::Unfit { raw, why } => {
                prop_assert_eq!(raw, stored.to_string());
                prop_assert!(!why.is_empty());
            }
        }
    }

    #[test]
    fn text_that_is_read_is_canonical(spelling in text_spelling(), stored in junk()) {
        let encodings = one(&spelling);
        if let (Cell::Text(text), Some(at)) = (&stored, encodings.decode(&stored).at()) {
            let written = encodings.encode(at).to_string();
            // Of the spellings of one instant with offsets, one is written.
            if !spelling.ends_with("+HH:MM") {
                prop_assert_eq!(written.trim_end_matches('Z'), text.trim_end_matches('Z'));
            }
        }
    }

    #[test]
    fn what_is_displayed_parses_back(spelling in spelling()) {
        let encoding = Encoding::parse(&spelling).map_err(TestCaseError::fail)?;
        prop_assert_eq!(encoding.to_string(), spelling);
    }
}

#[test]
fn utc_is_one_zone_in_any_case() {
    for spelling in ["native utc", "native UTC", "native Utc"] {
        assert_eq!(Encoding::parse(spelling), Ok(Encoding::Native(Some(Zone::utc()))));
    }
    assert_eq!(one("text YYYY-MM-DDTHH:MM:SS UTC"), one("text YYYY-MM-DDTHH:MM:SS utc"));
    assert_eq!(one("text YYYY-MM-DDTHH:MM:SS local"), one("text YYYY-MM-DDTHH:MM:SS"));
    assert_eq!(one("native europe/paris").to_string(), "native Europe/Paris");
    for name in ["Etc/UTC", "Zulu", "UCT"] {
        let encoding = one(&format!("text YYYY-MM-DD HH:MM:SS {name}"));
        assert_eq!(one(&encoding.to_string()), encoding);
    }
}

#[test]
fn offsets_are_read_as_rfc_3339_has_them() {
    let encodings = one("text YYYY-MM-DDTHH:MM:SS[.ffffff]+HH:MM");
    let said = |stored: &str| encodings.decode(&text(stored)).at().map(|at| at.to_string());
    let evening = Some("2026-11-22T20:00:00Z".to_owned());
    for stored in ["20:00:00+00:00", "20:00:00Z", "20:00:00-00:00", "21:00:00+01:00", "14:15:00-05:45"] {
        assert_eq!(said(&format!("2026-11-22T{stored}")), evening, "{stored}");
    }
    assert_eq!(said("2026-11-22T21:00:00.250000+01:00").as_deref(), Some("2026-11-22T20:00:00.25Z"));
    for odd in ["", "+1:00", "+0100", "+01", "+24:00", "+00:60", "+01:00:00", "*01:00", "++1:00", "é1:00", "z"] {
        assert_eq!(said(&format!("2026-11-22T20:00:00{odd}")), None, "{odd}");
    }
    assert_eq!(encodings.encode(at("2026-11-22T20:00:00Z")), text("2026-11-22T20:00:00+00:00"));
    let pinned = one("text YYYY-MM-DD HH:MM:SS+00:00");
    assert_eq!(pinned.decode(&text("2026-11-22 20:00:00+00:00")), Reading::At(at("2026-11-22T20:00:00Z")));
    assert!(pinned.decode(&text("2026-11-22 21:00:00+01:00")).at().is_none());
    assert!(Encoding::parse("text YYYY-MM-DDTHH:MM:SS+HH:MM Europe/Paris").is_err());
}

#[test]
fn a_refused_spelling_lists_what_is_allowed() {
    for spelling in ["", "epoch", "epoch h", "epoch ms float", "native Mars/Olympus", "iso", "native ", "native  utc"] {
        assert!(Encoding::parse(spelling).is_err(), "{spelling}");
    }
    for pattern in ["", "YYYY-MM-DD", "YYYY-MM-DD HH:MM", "YYYY-MM-DD HH:MM:SS.f", "YYYY-MM-DDTHH:MM:SSZ Europe/Paris"]
    {
        assert!(Encoding::parse(&format!("text {pattern}")).is_err(), "{pattern}");
    }
    assert!(Encoding::parse("epoch h").is_err_and(|why| why.contains("`epoch s float`")));
    assert!(Encoding::parse("text YYYY").is_err_and(|why| why.contains("`[.f-fff]`")));
}

#[test]
fn text_is_written_byte_for_byte() {
    let times = ["2026-02-03T04:05:06Z", "2026-02-03T04:05:06.5Z", "2026-02-03T04:05:06.000007Z"];
    for (end, spelled) in [
        ("", ["", "", ""]),
        (".fff", [".000", ".500", ".000"]),
        (".ffffff", [".000000", ".500000", ".000007"]),
        ("[.ffffff]", ["", ".500000", ".000007"]),
        ("[.f-fff]", ["", ".5", ""]),
        ("[.f-fff]Z", ["Z", ".5Z", "Z"]),
        ("[.fff-fffffffff]+00:00", ["+00:00", ".500+00:00", ".000007+00:00"]),
        ("[.ffffff][Z]", ["Z", ".500000Z", ".000007Z"]),
    ] {
        let encodings = one(&format!("text YYYY-MM-DDTHH:MM:SS{end}"));
        for (time, spelled) in times.iter().zip(spelled) {
            assert_eq!(encodings.encode(at(time)), text(&format!("2026-02-03T04:05:06{spelled}")), "{end}");
        }
    }
    let paris = one("text YYYY-MM-DD HH:MM:SS Europe/Paris");
    assert_eq!(paris.encode(at("2026-07-01T12:00:00Z")), text("2026-07-01 14:00:00"));
}

#[test]
fn text_is_read_strictly() {
    let read = |end: &str, stored: &str| one(&format!("text YYYY-MM-DD HH:MM:SS{end}")).decode(&text(stored)).at();
    for (end, fits, unfit) in [
        (
            "[.f-fff][Z]",
            &["", "Z", ".05", ".999Z"][..],
            &[".", ".0", ".50", ".1234", ".+5", "z", "ZZ", "+00:00", " "][..],
        ),
        ("[.ffffff]", &["", ".500000"], &[".000000", ".5", ".5000000"]),
        ("[.fff-fffffffff]", &["", ".500", ".123456789"], &[".5", ".500000", ".000", ".123456000", ".1234567891"]),
    ] {
        for (ends, is_read) in [(fits, true), (unfit, false)] {
            for stored in ends {
                let stored = format!("2026-02-03 04:05:06{stored}");
                assert_eq!(read(end, &stored).is_some(), is_read, "{stored} in {end}");
            }
        }
    }
    for unfit in ["02-29 04:05:06", "02-03 24:00:00", "06-30 23:59:60", "02-03T04:05:06", "2-3 4:5:6", "+2-03 04:05:06"]
    {
        assert_eq!(read("", &format!("2026-{unfit}")), None, "{unfit}");
    }
    for year in [" 2026", "+026", "0000", "é026"] {
        assert_eq!(read("", &format!("{year}-02-03 04:05:06")), None, "{year}");
    }
    assert_eq!((read("", ""), read("", "1770000000")), (None, None));
    assert_eq!(
        read("[.fff-fffffffff]", "2026-02-03 04:05:06.123456789"),
        Timestamp::parse("2026-02-03T04:05:06.123456Z")
    );
}

/// A text is a whole second in the greatest spelling, and an epoch is rounded away from the rows.
#[test]
fn a_cut_off_is_one_bound_for_each_kind_of_value() {
    let texts = ["text YYYY-MM-DD HH:MM:SS[.f-fff][Z]", "text YYYY-MM-DDTHH:MM:SS.ffffffZ"];
    let (kinds, second, nano) = (["epoch s", "text YYYY-MM-DD HH:MM:SS", "epoch ms"], ["epoch s"], ["epoch ns"]);
    for (spellings, side, cut, bounds) in [
        (&texts[..], Ordering::Less, "2026-02-03T04:05:05.2Z", vec![text("2026-02-03T04:05:06")]),
        (&texts, Ordering::Less, "2026-02-03T04:05:06Z", vec![text("2026-02-03T04:05:06")]),
        (&texts, Ordering::Greater, "2026-02-03T04:05:05.2Z", vec![text("2026-02-03 04:05:05")]),
        (&texts, Ordering::Less, "2026-12-31T23:59:59.000001Z", vec![text("2027-01-01T00:00:00")]),
        (&texts, Ordering::Less, "-000001-02-03T04:05:05Z", vec![text("")]),
        (&kinds, Ordering::Less, "1970-01-01T00:00:01.5Z", vec![Cell::Integer(1500), text("1970-01-01 00:00:02")]),
        (&second, Ordering::Less, "1970-01-01T00:00:01.5Z", vec![Cell::Integer(2)]),
        (&second, Ordering::Greater, "1970-01-01T00:00:01.5Z", vec![Cell::Integer(1)]),
        (&second, Ordering::Less, "1969-12-31T23:59:58.5Z", vec![Cell::Integer(-1)]),
        (&second, Ordering::Greater, "1969-12-31T23:59:58.5Z", vec![Cell::Integer(-2)]),
        (&nano, Ordering::Less, "1970-01-01T00:00:01.5Z", vec![Cell::Integer(1_500_000_000)]),
        // Nanoseconds end in the years 1677 and 2262: what is no time must be found beyond every bound.
        (&nano, Ordering::Less, "0001-01-01T00:00:00Z", vec![Cell::Integer(i64::MIN + 1)]),
        (&nano, Ordering::Greater, "9999-01-01T00:00:00Z", vec![Cell::Integer(i64::MAX - 1)]),
    ] {
        assert_eq!(bounds_on(side, &list(spellings), at(cut)), bounds, "{side:?} than {cut} in {spellings:?}");
    }
    assert_eq!(one("epoch s").encode(at("1969-12-31T23:59:58.5Z")), Cell::Integer(-2));
    assert!(list(&kinds).is_text() && !one("epoch s").is_text());
}

/// A number is never guessed at, a native time needs a zone and an end, and a repeated or skipped hour reads as the later.
#[test]
fn each_value_is_read_as_its_spelling_says_or_is_unfit() {
    for (spellings, stored, expected) in [
        (&["epoch s"][..], text("1770000000"), "is text, not an integer"),
        (&["epoch s"], Cell::Real(1.77e9), "is real, not an integer"),
        (&["epoch s"], Cell::Integer(1_770_000_000_000), "is out of range"),
        (&["epoch s"], Cell::Integer(i64::MAX), "is out of range"),
        (&["epoch ns"], Cell::Integer(i64::MAX), "is out of range"),
        (&["epoch ns"], Cell::Integer(-1), "1969-12-31T23:59:59.999999Z"),
        (&["epoch s float"], Cell::Integer(1), "1970-01-01T00:00:01Z"),
        (&["epoch s float"], Cell::Real(1.5), "1970-01-01T00:00:01.5Z"),
        (&["epoch s float"], Cell::Real(f64::NAN), "is not a finite number"),
        (&["epoch s float"], Cell::Real(1e300), "is out of range"),
        // Two units for one kind of value: read where only one makes sense, unfit where both do.
        (&["epoch s", "epoch ms"], Cell::Integer(1_770_000_000_000), "2026-02-02T02:40:00Z"),
        (&["epoch s", "epoch ms"], Cell::Integer(1_770_000_000), "can be read in two ways"),
        (&["epoch s", "epoch ms"], text("x"), "fits none of: epoch s, epoch ms"),
        (&["native"], Cell::Null, "absent"),
        (&["native"], Cell::WallClock(0), "has no time zone"),
        (&["native"], Cell::Infinity, "is infinite"),
        (&["native"], Cell::NegativeInfinity, "is infinite"),
        (&["native Europe/Paris"], Cell::Instant(0), "1970-01-01T00:00:00Z"),
        (&["text YYYY-MM-DD HH:MM:SS"], text("9999-12-31 23:59:59"), "is out of range"),
        (&["text YYYY-MM-DD HH:MM:SS Europe/Paris"], text("2026-10-25 02:30:00"), "2026-10-25T01:30:00Z"),
        (&["text YYYY-MM-DD HH:MM:SS Europe/Paris"], text("2026-03-29 02:30:00"), "2026-03-29T01:30:00Z"),
    ] {
        let read = match list(spellings).decode(&stored) {
            Reading::Absent => "absent".to_owned(),
            Reading::At(at) => at.to_string(),
            Reading::Unfit { why, .. } => why,
        };
        assert!(read.starts_with(expected), "{stored} in {spellings:?} reads as {read}, not {expected}");
    }
    assert_eq!(Encodings::new(Encoding::Epoch(Unit::Millis), Vec::new()), one("epoch ms"));
    assert_eq!(one("native Europe/Paris").encode(at("1970-01-01T00:00:00Z")), Cell::WallClock(3_600_000_000));
}

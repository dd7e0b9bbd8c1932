//! Generated texts of every kind: noise, and the corpus after a few edits, which comes further than noise does.

use super::TRIED;
use super::corpus::seeds;
use super::inputs::{ALL, CANARY};
use crate::support::figures;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestError, TestRunner};

const SIGNS: [&[u8]; 28] = [
    b"\0", b"\x1b[2J", b"\r", b"\n", b"\n\n", b"\t", b"\xff", b"-1", b"0", b"1e999", b"NaN", b"inf", b"null", b"true",
    b"'", b"\"", b"\\", b"{", b"}", b"[", b"]", b"=", b":", b"@", b"/", b"%00", b"#", b"--",
];
const PIECES: [&[u8]; 10] = [
    CANARY.as_bytes(),
    b"\x1b]52;c;aGk=\x07",
    b"\xc2\x9b",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"99999999999999999999",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551616",
];

fn piece() -> impl Strategy<Value = &'static [u8]> {
    select([&SIGNS[..], &PIECES].concat())
}

#[derive(Debug, Clone)]
enum Edit {
    Flip(Index, u8),
    Cut(Index, u8),
    Put(Index, &'static [u8]),
    Repeat(Index, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        2 => (any::<Index>(), 0_u8..8).prop_map(|(at, bit)| Edit::Flip(at, bit)),
        1 => (any::<Index>(), 1_u8..60).prop_map(|(at, length)| Edit::Cut(at, length)),
        3 => (any::<Index>(), piece()).prop_map(|(at, piece)| Edit::Put(at, piece)),
        1 => (any::<Index>(), 1_u8..60).prop_map(|(at, length)| Edit::Repeat(at, length)),
    ]
}

fn edited(mut bytes: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for edit in edits {
        let end = |at: usize, length: u8| bytes.len().min(at + usize::from(length));
        match edit {
            Edit::Put(at, piece) => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, piece.iter().copied());
            }
            _ if bytes.is_empty() => {}
            Edit::Flip(at, bit) => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Edit::Cut(at, length) => {
                let at = at.index(bytes.len());
                bytes.drain(at..end(at, *length));
            }
            Edit::Repeat(at, length) => {
                let at = at.index(bytes.len());
                let part = bytes[at..end(at, *length)].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

fn texts(kind: &str) -> impl Strategy<Value = Vec<u8>> {
    let seeds: Vec<Vec<u8>> = seeds(kind).into_iter().map(|(_, bytes)| bytes).collect();
    let noise = proptest::collection::vec(prop_oneof![1 => any::<u8>(), 3 => b' '..b'~'], 0..200);
    let pieces = proptest::collection::vec(piece(), 0..20).prop_map(|pieces| pieces.concat());
    prop_oneof![
        1 => noise,
        1 => any::<String>().prop_map(String::into_bytes),
        1 => pieces,
        6 => (select(seeds), proptest::collection::vec(edit(), 0..8)).prop_map(|(seed, edits)| edited(seed, &edits)),
    ]
}

pub fn try_texts(cases: u32) {
    let each = cases.div_ceil(ALL.len() as u32);
    for (kind, holds) in ALL {
        let config = Config { cases: each, failure_persistence: None, ..Config::default() };
        let ended = TestRunner::new(config).run(&texts(kind), |bytes| {
            holds(&bytes);
            Ok(())
        });
        match ended {
            Ok(()) => {}
            Err(TestError::Fail(why, bytes)) => {
                panic!("{kind}: {why}; put this into fuzz/corpus/{kind}/: {:?}", bytes.escape_ascii().to_string())
            }
            Err(error) => panic!("{kind}: {error}"),
        }
    }
    figures::add(u64::from(each) * ALL.len() as u64, TRIED);
}

#[test]
fn texts_of_every_kind() {
    try_texts(10_000);
}

type Accepts = fn(&[u8]) -> bool;

/// The generator is worth nothing if all that it makes is refused at the first byte.
#[test]
fn some_of_them_are_accepted() {
    use proptest::strategy::ValueTree;
    let accepted: [(&str, Accepts); 4] = [
        ("duration", |bytes| jobdoctor::model::parse_duration(&String::from_utf8_lossy(bytes)).is_ok()),
        ("config", |bytes| jobdoctor::cli::check_config("x", &String::from_utf8_lossy(bytes)).is_ok()),
        ("plan_file", |bytes| serde_json::from_slice::<jobdoctor::output::SavedPlan>(bytes).is_ok()),
        ("id_list", |bytes| jobdoctor::cli::parse_id_list(&String::from_utf8_lossy(bytes)).is_ok()),
    ];
    let mut runner = TestRunner::deterministic();
    for (kind, accepts) in accepted {
        let texts = texts(kind);
        let some = (0..200).filter(|_| accepts(&texts.new_tree(&mut runner).unwrap().current())).count();
        assert!((2..198).contains(&some), "{some} of 200 are accepted: {kind}");
    }
}

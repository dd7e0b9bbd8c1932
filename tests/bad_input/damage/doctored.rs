//! What happens to files.

use super::pristine::Files;
use crate::support::dice::Dice;

/// The size of a page in all of them.
const PAGE: usize = 1024;

fn parts(files: &mut Files) -> Vec<&mut Vec<u8>> {
    let Files { main, wal, journal } = files;
    [Some(main), wal.as_mut(), journal.as_mut()].into_iter().flatten().collect()
}

/// One to three bits: half of them anywhere, the others where they count most, in the file's header and the heads of pages.
pub fn flipped(whole: &Files, dice: &mut Dice) -> Files {
    let mut files = whole.clone();
    for _ in 0..1 + dice.below(3) {
        let mut parts = parts(&mut files);
        let which = dice.below(parts.len());
        let part = &mut parts[which];
        let at = match dice.below(4) {
            0 => dice.below(100),
            1 => PAGE * dice.below(part.len().div_ceil(PAGE)) + dice.below(64),
            _ => dice.below(part.len()),
        };
        if let Some(byte) = part.get_mut(at) {
            *byte ^= 1 << dice.below(8);
        }
    }
    files
}

/// Cut off at each page, and in odd places.
pub fn truncated(whole: &Files) -> Vec<(String, Files)> {
    let mut all = Vec::new();
    let odd = [0, 1, 15, 16, 20, 31, 32, 99, 100, 101, 500, PAGE - 1, PAGE + 1, 3 * PAGE + 7];
    let pages = (1..whole.main.len() / PAGE).map(|page| page * PAGE);
    for length in pages.chain(odd).chain([whole.main.len() - 1, whole.main.len() - 100]) {
        if length < whole.main.len() {
            let main = whole.main[..length].to_vec();
            all.push((format!("cut to {length}"), Files { main, ..whole.clone() }));
        }
    }
    all
}

/// Numbers that make no sense in every field of the header, and no header at all.
pub fn headers(whole: &Files, dice: &mut Dice) -> Vec<(String, Files)> {
    let mut all = Vec::new();
    // The fields of the database header, by their places.
    for (at, length) in [
        (0, 16),
        (16, 2),
        (18, 1),
        (19, 1),
        (20, 1),
        (21, 3),
        (24, 4),
        (28, 4),
        (32, 4),
        (36, 4),
        (40, 4),
        (44, 4),
        (48, 4),
        (52, 4),
        (56, 4),
        (60, 4),
        (64, 4),
        (68, 4),
        (72, 20),
        (92, 4),
        (96, 4),
    ] {
        for filler in [0x00, 0x01, 0x7f, 0xff] {
            let mut files = whole.clone();
            files.main[at..at + length].fill(filler);
            all.push((format!("{length} bytes of {filler:#x} at {at}"), files));
        }
    }
    let mut files = whole.clone();
    files.main[..100].iter_mut().for_each(|byte| *byte = dice.throw() as u8);
    all.push(("a header of noise".to_owned(), files));
    all
}

/// Each page of noughts, of ones, and in place of the one behind it.
pub fn pages(whole: &Files) -> Vec<(String, Files)> {
    let mut all = Vec::new();
    for page in 0..whole.main.len() / PAGE {
        let here = page * PAGE..(page + 1) * PAGE;
        for filler in [0x00, 0xff] {
            let mut files = whole.clone();
            files.main[here.clone()].fill(filler);
            all.push((format!("page {} of {filler:#x}", page + 1), files));
        }
        let mut files = whole.clone();
        let end = whole.main.len();
        if here.end + PAGE <= end {
            files.main.copy_within(here.clone(), here.end);
            all.push((format!("page {} twice", page + 1), files));
        }
    }
    all
}

/// What lies beside the file: cut off, overwritten, or put there from elsewhere.
pub fn journals(whole: &Files, dice: &mut Dice) -> Vec<(String, Files)> {
    let mut noise = |length: usize| -> Vec<u8> { (0..length).map(|_| dice.throw() as u8).collect() };
    let mut all = Vec::new();
    for length in [0, 1, 28, 32, 512, 4096] {
        all.push((
            format!("a journal of {length} bytes of noise"),
            Files { journal: Some(noise(length)), ..whole.clone() },
        ));
        all.push((format!("a log of {length} bytes of noise"), Files { wal: Some(noise(length)), ..whole.clone() }));
        all.push((format!("a log of {length} noughts"), Files { wal: Some(vec![0; length]), ..whole.clone() }));
    }
    // The magic of a journal, and nothing behind it that is true.
    let magic = [&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7][..], &noise(600)].concat();
    all.push(("a journal that only begins like one".to_owned(), Files { journal: Some(magic), ..whole.clone() }));
    let magic = [&[0x37, 0x7f, 0x06, 0x82][..], &noise(3000)].concat();
    all.push(("a log that only begins like one".to_owned(), Files { wal: Some(magic), ..whole.clone() }));
    for (name, part) in [("log", &whole.wal), ("journal", &whole.journal)] {
        let Some(part) = part else { continue };
        let with = |bytes: Vec<u8>| match name {
            "log" => Files { wal: Some(bytes), ..whole.clone() },
            _ => Files { journal: Some(bytes), ..whole.clone() },
        };
        for length in [part.len() / 4, part.len() / 2, part.len() - 1] {
            all.push((format!("the {name} cut to {length}"), with(part[..length].to_vec())));
        }
        for (from, to) in [(0, 32), (32, 600), (part.len() / 2, part.len())] {
            let mut bytes = part.clone();
            let to = to.min(bytes.len());
            bytes[from.min(to)..to].copy_from_slice(&noise(to - from.min(to)));
            all.push((format!("the {name} with noise from {from} to {to}"), with(bytes)));
        }
    }
    all
}

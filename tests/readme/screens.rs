//! The pictures of README.md: what the program writes to a terminal on the demonstration database, as SVG.

use super::block::path;
use crate::support::cli::Doctor;
use crate::support::pty::{On, OnTerminal};
use anstyle_svg::{Palette, Term, VGA};
use std::fs;

/// Ages are whole seconds, so a run in which the second turns over differs; the next one will not.
const TRIES: usize = 20;
/// No line breaks, whether its clock says the day or not.
const SIZE: (u16, u16) = (112, 40);
const CLOCK: &str = "14:50:56";

/// The colours of a background, and of the red and the magenta on it: those of GitHub's pages.
const DARK: ([u8; 3], [u8; 3], [u8; 3], [u8; 3]) = ([13, 17, 23], [230, 237, 243], [255, 123, 114], [210, 168, 255]);
const LIGHT: ([u8; 3], [u8; 3], [u8; 3], [u8; 3]) = ([255, 255, 255], [31, 35, 40], [207, 34, 46], [130, 80, 223]);

/// `JOBDOCTOR_BLESS=1` writes the pictures anew.
#[test]
fn the_pictures_show_what_the_program_writes() {
    #[expect(clippy::disallowed_methods, reason = "JOBDOCTOR_BLESS=1 writes what the program says into the pictures")]
    let bless = std::env::var_os("JOBDOCTOR_BLESS").is_some();
    for command in ["stale", "owners"] {
        let is_true = (0..TRIES).any(|_| {
            let written = written(command);
            let pictures = [("dark", DARK), ("light", LIGHT)].map(|(name, colors)| (name, svg(&written, colors)));
            pictures.into_iter().all(|(name, svg)| {
                let file = path(&format!("docs/screens/{command}-{name}.svg"));
                if bless {
                    fs::write(&file, &svg).unwrap();
                }
                fs::read_to_string(file).is_ok_and(|kept| kept == svg)
            })
        });
        assert!(is_true, "docs/screens/{command}-*.svg are not what `jobdoctor {command}` writes: see CONTRIBUTING.md");
    }
}

/// A command at a prompt, and what it writes.
fn written(command: &str) -> String {
    let doctor = Doctor::new();
    doctor.run(&["demo"]).exits(0);
    let (end, written) = OnTerminal::start(&doctor, &[command, "--db", "demo.db"], SIZE, On::Both).end();
    assert_eq!(end, Ok(0), "{written}");
    format!("$ \x1b[1mjobdoctor {command} --db demo.db\x1b[0m\n{}", timeless(&written.replace('\r', "")))
}

/// The text with one clock in place of every other, and without the day, which is said only where it is not today's.
fn timeless(text: &str) -> String {
    let is_clock = |word: &str| word.len() == CLOCK.len() && fits(word, "00:00:00");
    let words = text.split(' ').filter(|word| !(word.len() == 10 && fits(word, "0000-00-00")));
    words.map(|word| if is_clock(word) { CLOCK } else { word }).collect::<Vec<_>>().join(" ")
}

fn fits(word: &str, shape: &str) -> bool {
    word.bytes().zip(shape.bytes()).all(|(c, s)| if s == b'0' { c.is_ascii_digit() } else { c == s })
}

fn svg(written: &str, (back, text, red, magenta): ([u8; 3], [u8; 3], [u8; 3], [u8; 3])) -> String {
    let rgb = |[r, g, b]: [u8; 3]| anstyle::RgbColor(r, g, b);
    let Palette(mut colors) = VGA;
    (colors[1], colors[5]) = (rgb(red), rgb(magenta));
    let term = Term::new().palette(Palette(colors)).fg_color(rgb(text).into()).bg_color(rgb(back).into());
    term.render_svg(written)
}

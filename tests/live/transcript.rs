//! What happened, with the seconds since the beginning. Printed in one piece at the end, so that tests that run side by side
//! do not talk into each other's words.

use std::fmt::Write;
use std::time::Instant;

pub(super) struct Transcript {
    title: String,
    began: Instant,
    text: String,
}

impl Transcript {
    pub(super) fn new(title: &str) -> Transcript {
        Transcript { title: title.to_owned(), began: Instant::now(), text: String::new() }
    }

    pub(super) fn say(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:>6.1}s  {line}", self.began.elapsed().as_secs_f64());
    }

    pub(super) fn quote(&mut self, output: &str) {
        for line in output.lines() {
            let _ = writeln!(self.text, "{}", format!("         | {line}").trim_end());
        }
    }
}

impl Drop for Transcript {
    fn drop(&mut self) {
        println!("\n{}\n{}", self.title, self.text);
    }
}

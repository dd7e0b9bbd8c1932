//! A reader who types the commands of a page one after the other, and copies from the outputs what later commands need.

use super::bench::Bench;
use super::block::{Block, blocks_of};
use super::redact::names;

pub(crate) struct Session {
    bench: Bench,
    /// A digest or the id of a run, as the page has it, and as it really is.
    copied: Vec<(String, String)>,
}

impl Session {
    pub(super) fn on(bench: Bench) -> Session {
        Session { bench, copied: Vec::new() }
    }

    pub(crate) fn at(db: &str) -> Session {
        let mut bench = Bench::new();
        bench.variable("JOBDOCTOR_DB", db);
        Session::on(bench)
    }

    /// Runs the commands of a block, and gives it as it really is, but with the digests and runs that the page has: what is
    /// copied from one block into the next must stay the same in both.
    ///
    /// Anew, the page is written with the real ones.
    pub(super) fn play(&mut self, block: &Block, anew: bool) -> Result<String, String> {
        let mut real = String::new();
        for (command, printed) in commands(&block.text) {
            let command = self.copied.iter().fold(command.to_owned(), |command, (page, is)| command.replace(page, is));
            // What a person reads stands on a terminal.
            let is_read = !block.words.iter().any(|word| word == "unattended");
            let said = if is_read { self.bench.show(&command)? } else { self.bench.say(&command)? };
            self.copied.extend(names(&printed).into_iter().zip(names(&said)));
            real.push_str(&format!("$ {command}\n{said}"));
        }
        if anew {
            return Ok(real);
        }
        Ok(self.copied.iter().fold(real, |real, (page, is)| real.replace(is, page)))
    }

    /// Follows a page: all its blocks of that scene, in their order. Gives what was typed and printed.
    pub(crate) fn follow(&mut self, page: &'static str, scene: &str) -> String {
        let blocks: Vec<Block> = blocks_of(page)
            .into_iter()
            .filter(|block| block.language == "console" && block.words.first().is_some_and(|word| word == scene))
            .collect();
        assert!(!blocks.is_empty(), "{page} has no blocks of scene `{scene}`");
        let play = |block: &Block| {
            self.play(block, false).unwrap_or_else(|error| panic!("{page}, line {}: {error}", block.line))
        };
        blocks.iter().map(play).collect()
    }

    pub(crate) fn say(&self, command: &str) -> String {
        self.bench.say(command).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Each command with what the page says it prints.
fn commands(text: &str) -> Vec<(&str, String)> {
    let mut commands: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, String::new())),
            (None, Some((_, printed))) => printed.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    commands
}

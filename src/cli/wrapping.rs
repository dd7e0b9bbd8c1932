//! Breaks the lines of stderr for a terminal: between words, and a command so that it can be copied.

use crate::output::format::wrap;

/// The indent of what does not fit into the first line.
const INDENT: usize = 4;
/// What a command to type begins with, after the words that say when.
const COMMAND: &str = ": jobdoctor ";

/// A line in lines of at most so many display cells, of which the first already has `used`, as far as words allow.
pub fn wrapped(line: &str, width: usize, used: usize) -> String {
    let rest = width.saturating_sub(used.max(INDENT)).max(1);
    let pieces = wrap(line, width.saturating_sub(used).max(1));
    if pieces.len() < 2 {
        return line.to_owned();
    }
    if let Some((words, command)) = line.split_once(COMMAND) {
        let words = wrapped(&format!("{words}:"), width, used);
        let command = command_lines(&format!("jobdoctor {command}"), width.saturating_sub(INDENT));
        let command: Vec<String> = command.iter().map(|line| format!("{:INDENT$}{line}", "")).collect();
        return format!("{words}\n{}", command.join(" \\\n"));
    }
    wrap(line, rest).join(&format!("\n{:INDENT$}", ""))
}

/// A command in lines that end between two of its words, so that each but the last can end in a backslash.
fn command_lines(command: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in shell_words(command) {
        match lines.last_mut() {
            // Room for the backslash.
            Some(line) if line.chars().count() + 1 + word.chars().count() + 2 <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The words of a command, with quotes as they are: a blank between quotes is no end.
fn shell_words(command: &str) -> Vec<&str> {
    let mut quoted = false;
    let is_gap = |c: char| {
        quoted ^= c == '\'';
        c == ' ' && !quoted
    };
    command.split(is_gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_commands_can_be_copied() {
        assert_eq!(wrapped("5 jobs to move; nothing was written", 40, 0), "5 jobs to move; nothing was written");
        assert_eq!(wrapped("5 jobs to move; nothing was written", 30, 0), "5 jobs to move; nothing\n    was written");
        assert_eq!(wrapped("nothing was written", 20, 9), "nothing was\n    written");
        let hint = "to do exactly this: jobdoctor reclaim --db q.db --reason 'web2 is dead' --expect 0123 --apply";
        assert_eq!(wrapped(hint, 120, 0), hint);
        assert_eq!(
            wrapped(hint, 80, 0),
            "to do exactly this:\n    jobdoctor reclaim --db q.db --reason 'web2 is dead' --expect 0123 --apply"
        );
        assert_eq!(
            wrapped(hint, 45, 0),
            "to do exactly this:\n    jobdoctor reclaim --db q.db --reason \\\n    'web2 is dead' --expect 0123 --apply"
        );
    }
}

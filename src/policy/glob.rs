//! Matches names against glob patterns, in time linear in both.
//!
//! globset reads the patterns and words their mistakes; its own matcher would link a regex engine, a twentieth of the program.

use globset::{ErrorKind, GlobBuilder};
use std::iter::Peekable;
use std::str::Chars;

/// A pattern with `*`, `?`, `[...]`, `{a,b}` and `\`, as a program for a set of threads: each step takes a character or branches.
#[derive(Debug, Clone)]
pub(super) struct Glob(Vec<Step>);

#[derive(Debug, Clone)]
enum Step {
    Literal(char),
    Any,
    Class { negated: bool, ranges: Vec<(char, char)> },
    Fork(usize, usize),
    Jump(usize),
}

/// A `{` that is not closed yet: the fork before its last branch, and the jumps at the ends of the others.
struct Group {
    fork: usize,
    ends: Vec<usize>,
}

/// The target of a fork without a further branch: beyond every program, and not its end.
const NOWHERE: usize = usize::MAX;

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is malformed.
    pub(super) fn new(pattern: &str) -> Result<Glob, ErrorKind> {
        GlobBuilder::new(pattern).literal_separator(false).build().map_err(|error| error.kind().clone())?;
        let (mut steps, mut groups) = (Vec::new(), Vec::<Group>::new());
        let mut rest = pattern.chars().peekable();
        while let Some(c) = rest.next() {
            let here = steps.len();
            match (c, groups.last_mut()) {
                ('*', _) => steps.extend([Step::Fork(here + 1, here + 3), Step::Any, Step::Jump(here)]),
                ('?', _) => steps.push(Step::Any),
                ('[', _) => steps.push(class(&mut rest)),
                ('{', _) => {
                    groups.push(Group { fork: here, ends: Vec::new() });
                    steps.push(Step::Fork(here + 1, NOWHERE));
                }
                (',', Some(group)) => {
                    steps.extend([Step::Jump(NOWHERE), Step::Fork(here + 2, NOWHERE)]);
                    group.ends.push(here);
                    let before = std::mem::replace(&mut group.fork, here + 1);
                    steps[before] = Step::Fork(before + 1, here + 1);
                }
                ('}', Some(_)) => {
                    let ends = groups.pop().map(|group| group.ends).unwrap_or_default();
                    ends.into_iter().for_each(|end| steps[end] = Step::Jump(here));
                }
                ('\\', _) => steps.extend(rest.next().map(Step::Literal)),
                _ => steps.push(Step::Literal(c)),
            }
        }
        Ok(Glob(steps))
    }

    /// True if the whole name matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        let mut threads = Threads::of(self);
        threads.start(0);
        for c in name.chars() {
            for at in threads.take() {
                let takes = match &self.0[at] {
                    Step::Literal(literal) => *literal == c,
                    Step::Class { negated, ranges } => {
                        ranges.iter().any(|(first, last)| (first..=last).contains(&&c)) != *negated
                    }
                    _ => true,
                };
                if takes {
                    threads.start(at + 1);
                }
            }
        }
        threads.at_end
    }
}

/// What stands behind `[`, to its `]`. The first character is never the closing one.
fn class(rest: &mut Peekable<Chars>) -> Step {
    let negated = rest.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    while let Some(c) = rest.next_if(|c| *c != ']' || ranges.is_empty()) {
        match ranges.last_mut() {
            Some(range) if c == '-' && rest.peek().is_some_and(|next| *next != ']') => {
                range.1 = rest.next().unwrap_or(c);
            }
            _ => ranges.push((c, c)),
        }
    }
    rest.next();
    Step::Class { negated, ranges }
}

/// The steps that wait for a character, each once.
struct Threads<'a> {
    steps: &'a [Step],
    waiting: Vec<usize>,
    seen: Vec<bool>,
    at_end: bool,
}

impl<'a> Threads<'a> {
    fn of(glob: &'a Glob) -> Threads<'a> {
        Threads { steps: &glob.0, waiting: Vec::new(), seen: vec![false; glob.0.len()], at_end: false }
    }

    /// Goes on at a step, through its branches.
    fn start(&mut self, step: usize) {
        let mut branches = vec![step];
        while let Some(at) = branches.pop() {
            let Some(seen) = self.seen.get_mut(at) else {
                self.at_end |= at == self.steps.len();
                continue;
            };
            if std::mem::replace(seen, true) {
                continue;
            }
            match self.steps[at] {
                Step::Fork(one, other) => branches.extend([one, other]),
                Step::Jump(to) => branches.push(to),
                _ => self.waiting.push(at),
            }
        }
    }

    /// The waiting steps, which the next character moves on.
    fn take(&mut self) -> Vec<usize> {
        self.seen.fill(false);
        self.at_end = false;
        std::mem::take(&mut self.waiting)
    }
}

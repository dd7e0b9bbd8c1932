//! Patterns that select claims, and the owners that a restart sweep calls dead.

use super::live_owners::Living;
use super::unchanged::EarlierSnapshot;
use crate::model::{Claim, Owner, Timestamp};
use regex_lite::{Regex, escape};
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

/// A list of glob patterns: empty lets everything through, otherwise one must match.
#[derive(Debug, Clone, Default)]
pub struct Globs {
    patterns: Vec<String>,
    globs: Vec<Regex>,
}

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScopeError(pub String);

impl Globs {
    /// Reads patterns: `*`, `?`, `[...]` and `{a,b}`; case counts.
    pub fn new(patterns: &[String]) -> Result<Globs, ScopeError> {
        let read = |pattern: &String| {
            glob(pattern).map_err(|why| ScopeError(format!("the pattern `{pattern}` cannot be read: {why}")))
        };
        let globs = patterns.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Globs { patterns: patterns.to_vec(), globs })
    }

    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Each pattern with its own matcher.
    pub fn single(&self) -> impl Iterator<Item = (&str, Globs)> {
        let alone = |pattern: &String| Globs::new(std::slice::from_ref(pattern)).ok();
        self.patterns.iter().filter_map(move |pattern| Some((pattern.as_str(), alone(pattern)?)))
    }

    /// True if some pattern matches made-up names, as `?*` and `*-1` do: it was not written for certain owners, so the
    /// brake judges such a scope.
    pub fn admit_any_name(&self) -> bool {
        const MADE_UP: [&str; 5] = ["x7q", "x7q:1", "x7q@y8r", "x7q-y8r-1", "x7q/y8r.z"];
        MADE_UP.iter().any(|name| self.matches(name))
    }

    fn matches(&self, name: &str) -> bool {
        self.globs.iter().any(|glob| glob.is_match(name))
    }

    /// True without patterns, or if the value matches one. A missing value matches no pattern.
    pub fn admits(&self, value: Option<&str>) -> bool {
        self.patterns.is_empty() || value.is_some_and(|value| self.matches(value))
    }
}

/// The pattern that matches this name and no other.
pub fn exactly(name: &str) -> String {
    let spelled = |c: char| match c {
        '*' | '?' | '[' | ']' | '{' | '}' => format!("[{c}]"),
        '\\' => "\\\\".to_owned(),
        c => c.to_string(),
    };
    name.chars().map(spelled).collect()
}

#[derive(Debug, Clone)]
pub struct Restart {
    pub scope: RestartScope,
    /// Only claims made before that instant are dead; `None` is any.
    pub before: Option<Timestamp>,
    /// When the sweep began, by the database's clock: claims made later belong to workers that have just started.
    pub began: Timestamp,
    /// What was in flight when the sweep began, if claims have no claim time and the sweep waited since; `None` if the
    /// snapshot being judged is the first one.
    pub first: Option<Arc<EarlierSnapshot>>,
}

/// Which owners a restart sweep calls dead.
#[derive(Debug, Clone)]
pub enum RestartScope {
    /// All of them, and claims that name none.
    AllOwners,
    /// Those whose id or name matches.
    Owners(Globs),
    /// Those on these hosts: named like one, or with one as their whole host.
    Hosts(Vec<String>),
    /// Those that are not on a live-owner list.
    NotListed(Living),
}

impl RestartScope {
    /// True if it names certain owners: then the number of their jobs says nothing against the operator's word.
    pub fn is_of_certain_owners(&self) -> bool {
        match self {
            RestartScope::AllOwners => false,
            RestartScope::Owners(globs) => !globs.admit_any_name(),
            _ => true,
        }
    }

    /// Each owner, pattern or host that it names, with its own scope. A live-owner list names no dead owner.
    pub fn single(&self) -> Vec<(String, RestartScope)> {
        match self {
            RestartScope::AllOwners | RestartScope::NotListed(_) => Vec::new(),
            RestartScope::Owners(globs) => {
                globs.single().map(|(pattern, glob)| (pattern.to_owned(), RestartScope::Owners(glob))).collect()
            }
            RestartScope::Hosts(hosts) => {
                hosts.iter().map(|host| (host.clone(), RestartScope::Hosts(vec![host.clone()]))).collect()
            }
        }
    }

    /// True if that owner is in the scope; `None` is the owner of claims that name none.
    pub fn covers_owner(&self, owner: Option<&Owner>) -> bool {
        match (self, owner) {
            (RestartScope::AllOwners, _) => true,
            (_, None) => false,
            (RestartScope::Owners(globs), Some(owner)) => {
                globs.admits(Some(&owner.id)) || globs.admits(Some(&owner.name))
            }
            (RestartScope::Hosts(hosts), Some(owner)) => on_host(owner, hosts),
            (RestartScope::NotListed(living), Some(owner)) => !living.live_owners.lists(owner),
        }
    }
}

/// True if the owner is, or is on, one of these hosts, in the host's own spelling or that of its queue. Names match
/// whole: `web1` is not `web10`.
fn on_host(owner: &Owner, hosts: &[String]) -> bool {
    let names = [Some(&owner.id), Some(&owner.name), owner.host.as_ref()];
    let spelled = |host: &String| owner.host.as_ref() == Some(&owner.host_spelling.of(host));
    names.into_iter().flatten().any(|name| hosts.contains(name)) || hosts.iter().any(spelled)
}

impl Claim {
    /// True if the claim's owner is, or is on, one of these hosts; an empty list lets everything through.
    pub fn is_on_host(&self, hosts: &[String]) -> bool {
        hosts.is_empty() || self.owner.as_ref().is_some_and(|owner| on_host(owner, hosts))
    }
}

/// A pattern with `*`, `?`, `[...]`, `{a,b}` and `\`, which whole names match in linear time. The tests compare it with
/// globset, which would link a large regex engine, a twentieth of the program.
fn glob(pattern: &str) -> Result<Regex, String> {
    Regex::new(&format!("(?s)^(?:{})$", regex(pattern)?)).map_err(|error| error.to_string())
}

/// The regular expression of a pattern, or what is wrong with it.
fn regex(pattern: &str) -> Result<String, String> {
    let (mut regex, mut open) = (String::new(), 0);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' => class(&mut rest, &mut regex)?,
            '{' => {
                open += 1;
                regex.push_str("(?:");
            }
            ',' if open > 0 => regex.push('|'),
            '}' if open == 0 => return Err("a `}` without its `{`; to mean the character, write [}]".to_owned()),
            '}' => {
                open -= 1;
                regex.push(')');
            }
            '\\' => regex.push_str(&literal(rest.next().ok_or("nothing stands behind the last `\\`")?)),
            _ => regex.push_str(&literal(c)),
        }
    }
    match open {
        0 => Ok(regex),
        _ => Err("a `{` without its `}`; to mean the character, write [{]".to_owned()),
    }
}

/// What stands behind `[`, to its `]`. The first character is never the closing one.
fn class(rest: &mut Peekable<Chars>, regex: &mut String) -> Result<(), String> {
    regex.push_str(if rest.next_if(|c| matches!(c, '!' | '^')).is_some() { "[^" } else { "[" });
    let mut is_first = true;
    while let Some(c) = rest.next_if(|c| *c != ']' || is_first) {
        regex.push_str(&literal(c));
        is_first = false;
        if rest.peek() == Some(&'-') {
            let mut ahead = rest.clone();
            ahead.next();
            if let Some(last) = ahead.next_if(|last| *last != ']') {
                if last < c {
                    return Err(format!("the range {c}-{last} runs backwards"));
                }
                regex.push_str(&format!("-{}", literal(last)));
                *rest = ahead;
            }
        }
    }
    regex.push(']');
    rest.next().map(drop).ok_or_else(|| "a `[` without its `]`; to mean the character, write [[]".to_owned())
}

fn literal(c: char) -> String {
    escape(c.encode_utf8(&mut [0; 4]))
}

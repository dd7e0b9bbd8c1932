//! Whether two spellings may be of one owner: what a live-owner list may mean although it does not say so.

use crate::model::deceives;
use std::net::IpAddr;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A shorter name must stand alone in the longer one, between separators: `db` in `db-7`, not in `dbx`.
const SHORT: usize = 4;
/// From this length on, hexadecimal digits are the beginning of a container's id, as its host name is.
const CONTAINER_ID: usize = 12;

/// A way to spell a name: its words in one case, each between two blanks.
#[derive(Debug)]
pub(super) struct Form {
    words: String,
    /// The mark at which a part was left out that tells owners apart, if so. A name that has that mark, too, is
    /// compared as a whole: `celery@web1` is not `celery@web2`, nor `web1:4211` `web1:4212`.
    left_out_at: Option<char>,
    /// The marks in the whole name.
    marks: String,
    /// True of what stands before a wildcard: any name that begins so.
    begins: bool,
}

/// The forms of the names that begin so.
pub(super) fn beginnings(name: &str) -> impl Iterator<Item = Form> {
    forms(name).into_iter().map(|form| Form { begins: true, ..form })
}

/// The forms of a name: all of it, what stands behind `@` and `/`, and what stands before `:`. Of a URL the host
/// counts.
pub(super) fn forms(name: &str) -> Vec<Form> {
    let folded = one_address(&folded(name));
    let name = match folded.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default()) {
        Some(host) => {
            host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(host, _)| host)
        }
        None => folded.as_str(),
    };
    // A kind or a namespace before `/` only wraps the name: `pod/web1` may be `prod/web1:12`. A number behind it is a
    // process.
    let is_number = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    let behind = ['@', '/'].map(|mark| {
        let (_, part) = name.rsplit_once(mark)?;
        Some((part, Some(mark).filter(|mark| *mark == '@' || is_number(part))))
    });
    let before = name.rsplit_once(':').map(|(part, _)| (part, Some(':')));
    let marks: String = name.matches(['@', '/', ':']).collect();
    let parts = behind.into_iter().chain([before, Some((name, None))]).flatten();
    let form = |(part, left_out_at): (&str, Option<char>)| {
        let words: Vec<&str> = part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let spelled: String = words.iter().map(|word| format!(" {word}")).collect();
        let form = |words| Form { words: words + " ", left_out_at, marks: marks.clone(), begins: false };
        [Some(form(spelled)), joined_uuid(&words).map(form)]
    };
    let forms = parts.flat_map(form).flatten().filter(|form| form.words.len() > 1);
    forms.collect()
}

/// A name without what Unicode spells in several ways: case, accents, width, and characters that show nothing.
fn folded(name: &str) -> String {
    let is_shown = |c: &char| !is_combining_mark(*c) && (!deceives(*c) || c.is_control() || c.is_whitespace());
    let plain: String = name.nfkd().filter(is_shown).collect();
    // The small letters of the capital ones: `SS` is the capital of `ß`.
    plain.to_uppercase().to_lowercase()
}

/// A name with each IP address in its shortest spelling, also one with a process behind it.
fn one_address(name: &str) -> String {
    let ends = |c: char| !(c.is_alphanumeric() || c == ':' || c == '.');
    let shortest = |text: &str| text.parse::<IpAddr>().ok().map(|address| address.to_canonical().to_string());
    let spelled = |run: &str| {
        let address = run.strip_suffix(ends).unwrap_or(run);
        let short = shortest(address).or_else(|| {
            let (address, process) = address.rsplit_once(':')?;
            Some(format!("{}:{process}", shortest(address)?))
        });
        short.map_or_else(|| run.to_owned(), |short| short + run.get(address.len()..).unwrap_or_default())
    };
    name.split_inclusive(ends).map(spelled).collect()
}

/// The words with the UUID among them as one, if it has hyphens.
fn joined_uuid(words: &[&str]) -> Option<String> {
    let is_uuid = |five: &[&str]| {
        five.iter().map(|word| word.len()).eq([8, 4, 4, 4, 12])
            && five.iter().all(|word| word.chars().all(|c| c.is_ascii_hexdigit()))
    };
    let at = words.windows(5).position(is_uuid)?;
    let joined = words
        .iter()
        .enumerate()
        .map(|(n, word)| if (at + 1..at + 5).contains(&n) { (*word).to_owned() } else { format!(" {word}") });
    Some(joined.collect())
}

impl Form {
    /// True if one of the two begins or ends with the other, or holds it between separators. `other` is an entry of a
    /// list.
    pub(super) fn resembles(&self, other: &Form) -> bool {
        let is_whole = |one: &Form, other: &Form| one.left_out_at.is_none_or(|mark| !other.marks.contains(mark));
        let (long, short) = if self.words.len() < other.words.len() { (other, self) } else { (self, other) };
        let begins = || other.begins && self.words.starts_with(other.words.trim_end());
        is_whole(self, other) && is_whole(other, self) && (holds(&long.words, &short.words) || begins())
    }
}

fn holds(long: &str, short: &str) -> bool {
    let (first, last) = (short.trim_start(), short.trim_end());
    // A number is never cut: `web1` is not `web10`.
    let is_id = short.trim().len() >= CONTAINER_ID && short.trim().chars().all(|c| c.is_ascii_hexdigit());
    let cuts = |left: &str, right: &str| {
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        !is_id && is_digit(left.chars().next_back()) && is_digit(right.chars().next())
    };
    let begins = || long.strip_prefix(last).is_some_and(|rest| !cuts(last, rest));
    let ends = || long.strip_suffix(first).is_some_and(|rest| !cuts(rest, first));
    long.contains(short) || (short.trim().chars().count() >= SHORT && (begins() || ends()))
}

/// Kubernetes and Linux cut a host's name here; a pod's own name may be longer.
const HOST_NAME: usize = 63;

/// The beginnings of an owner's id, up to each separator that no host name contains.
pub(super) fn heads(id: &str) -> impl Iterator<Item = &str> {
    id.match_indices([':', '/', '@', '#', ' ']).filter_map(|(at, _)| id.get(..at)).filter(|head| !head.is_empty())
}

/// The parts of an owner's id between separators that no host name contains, and its [`heads`].
pub(super) fn parts(id: &str) -> impl Iterator<Item = &str> {
    id.split([':', '/', '@', '#', ' ', ',', ';', '|']).filter(|part| !part.is_empty()).chain(heads(id))
}

/// A host's name with dots where some libraries write underscores.
pub(super) fn dotted(host: &str) -> String {
    host.replace('_', ".")
}

/// A name that ends in a hyphen and a number, as its two parts.
pub(super) fn numbered(part: &str) -> Option<(&str, &str)> {
    part.rsplit_once('-').filter(|(_, n)| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
}

/// The part of a host's name before the first dot.
pub(super) fn label(host: &str) -> &str {
    host.split('.').next().unwrap_or_default()
}

pub(super) fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

/// True if two host names differ only in case, domain, and dots that some libraries write as underscores.
pub fn may_be_one_host(a: &str, b: &str) -> bool {
    same_host(&dotted(&a.to_lowercase()), &dotted(&b.to_lowercase()))
}

/// True if two host names are equal but for their digits and domains: `web1` and `web2`, or `web.lan`. Addresses are not.
pub fn differ_by_a_number(a: &str, b: &str) -> bool {
    let without = |name: &str| label(name).to_lowercase().replace(|c: char| c.is_ascii_digit(), "");
    a != b && without(a) == without(b) && !without(a).is_empty()
}

/// True if two names, in small letters, may mean one host: they are equal, or one is the other with a domain behind it.
pub(super) fn same_host(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let with_domain = || {
        let is_number = short.chars().all(|c| c.is_ascii_digit() || c == '.');
        !is_number && long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'))
    };
    short == long || (!short.is_empty() && with_domain())
}

/// A pod's name cut to the length of a host name; `None` if it is short enough.
pub(super) fn cut(host: &str) -> Option<String> {
    let cut = host.get(..HOST_NAME).filter(|_| host.len() > HOST_NAME && !host.contains('.'))?;
    Some(cut.trim_end_matches(['-', '.']).to_owned())
}

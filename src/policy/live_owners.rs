//! The live-owner list: reading it, and whether it lists the owner of a claim.

use super::resemblance::{Form, beginnings, cut, dotted, forms, heads, is_address, label, numbered, parts, same_host};
use crate::model::{Claim, Clocks, FUTURE_TOLERANCE, Owner, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

/// River's default client id cuts its host's name here (`maxHostLength`), and no library that is known cuts shorter.
const LONG_NAME: usize = 60;
/// The length of the shortest IPv4 address.
const SHORTEST_ADDRESS: usize = 7;
/// What other programs write before and around a name, as in `{"workers":["web1"]}` and `hosts=web1|web2`.
const AROUND_NAMES: [char; 8] = ['"', '\'', '[', ']', '{', '}', '=', '|'];
/// What begins a range, a wildcard, an escape or what was left out: the name is the beginning of others.
const PATTERNS: [char; 6] = ['*', '?', '[', '{', '\\', '…'];

/// Owners known to be alive, from outside the database.
///
/// An owner that is listed by mistake keeps its jobs until the next run; one that is missing by mistake loses them
/// while it works. So matching is as generous as it can be without taking `web10` for `web1`.
#[derive(Debug, Default)]
pub struct LiveOwners {
    /// Lines without a word that could be a name: their numbers, counted from 1.
    unread: Vec<usize>,
    /// Entries as they were written, in small letters: they match an owner's id or name. Each with the number of its
    /// line, or of its word in a list of one line.
    whole: BTreeMap<String, usize>,
    /// Entries that may be a host, with their first label as key.
    hosts: BTreeMap<String, Vec<(String, usize)>>,
    /// Entries that are one process of a host: the host's first label, then host and process.
    processes: BTreeMap<String, Vec<(String, String, usize)>>,
    /// What an owner may resemble: each form with its entry.
    forms: Vec<(Form, String)>,
    /// Which form an owner resembles: an owner has many claims.
    resembled: Mutex<HashMap<String, Option<usize>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiveOwnersError {
    #[error("is empty, and would call every owner dead")]
    Empty,
    /// It is a table with a line of column titles.
    #[error("begins with a line of column titles, so its lines are not names")]
    Titles,
}

/// A live-owner list, and when it was made.
#[derive(Debug, Clone)]
pub struct Living {
    pub live_owners: Arc<LiveOwners>,
    /// When it was made, by the database's clock. Owners that started later cannot be on it.
    pub made_at: Timestamp,
}

impl LiveOwners {
    /// Reads a list of owners, each as host (`web1`, `web1.example.com`, `pod/web-7f9c`), as `host:pid`, or as the
    /// exact id. Blank lines and comments (`# ...`) are skipped. A whole line is an entry, and so is each of its words,
    /// and each part of a word between quotes, brackets and signs: one entry too many spares a job until the next run,
    /// one too few takes it from a worker.
    ///
    /// # Errors
    /// When there is no entry, or the first line holds the titles of a table.
    pub fn parse(text: &str) -> Result<LiveOwners, LiveOwnersError> {
        let mut live_owners = LiveOwners::default();
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let numbered = lines.enumerate().filter(|(_, line)| !line.is_empty() && !is_comment(line));
        let is_one_line = numbered.clone().nth(1).is_none();
        for (n, line) in numbered {
            if live_owners.whole.is_empty() && line.split_whitespace().nth(1).is_some() && line.starts_with("NAME ") {
                return Err(LiveOwnersError::Titles);
            }
            let words = line.split(|c: char| c.is_whitespace() || [',', ';'].contains(&c)).enumerate().flat_map(
                |(word_number, word)| {
                    let within = word.split(AROUND_NAMES).flat_map(|part| [part, part.trim_end_matches(':')]);
                    let number = if is_one_line { word_number } else { n };
                    std::iter::once(word.trim_matches(AROUND_NAMES)).chain(within).map(move |part| (part, number))
                },
            );
            let mut names = words.filter(|(word, _)| word.contains(char::is_alphanumeric)).peekable();
            if names.peek().is_none() {
                live_owners.unread.push(n + 1);
                continue;
            }
            let first = names.peek().map_or(n, |(_, number)| *number);
            live_owners.add(line, first, true);
            names.for_each(|(name, number)| live_owners.add(name, number, false));
        }
        if live_owners.whole.is_empty() { Err(LiveOwnersError::Empty) } else { Ok(live_owners) }
    }

    /// How many different entries there are.
    pub fn count(&self) -> usize {
        self.whole.len()
    }

    /// The lines that name no owner, counted from 1.
    pub fn unread(&self) -> &[usize] {
        &self.unread
    }

    pub fn examples(&self) -> Vec<&str> {
        self.whole.keys().take(3).map(String::as_str).collect()
    }

    /// The numbers of the entries: lines, or the words of the only line.
    pub fn entries(&self) -> BTreeSet<usize> {
        self.whole.values().copied().collect()
    }

    /// True if the owner is on the list. It is, if an entry
    /// - is its id or its name;
    /// - is its host, or a part of its id between separators, as a whole: `web1` is not `web10`. A short name and the full
    ///   one are the same host, and so is a name in which dots are written as underscores;
    /// - is `host:pid`, and names its host and its process; an owner that names no process may be any of its host.
    ///
    /// Upper and lower case are the same.
    pub fn lists(&self, owner: &Owner) -> bool {
        !self.entries_of(owner).is_empty()
    }

    /// The numbers of the entries that name the owner.
    pub fn entries_of(&self, owner: &Owner) -> BTreeSet<usize> {
        let (id, name) = (owner.id.to_lowercase(), owner.name.to_lowercase());
        let mut found: BTreeSet<usize> =
            [&id, &name].into_iter().filter_map(|name| self.whole.get(name)).copied().collect();
        let host = owner.host.as_ref().map(|host| host.to_lowercase());
        // If the preset knows the host, no other part of the id is a host, except one before a hard separator.
        let parts: Vec<&str> = match &host {
            Some(host) => [host.as_str()].into_iter().chain(heads(&id)).collect(),
            None => parts(&id).chain(parts(&name)).collect(),
        };
        for part in parts {
            self.add_host(part, host.is_none(), &mut found);
            self.add_process(part, &name, host.is_none(), &mut found);
        }
        found
    }

    /// The entry that an owner resembles which is not on the list.
    pub fn resembled(&self, owner: &Owner) -> Option<&str> {
        let key = format!("{}\n{}", owner.id, owner.name);
        let known = self.resembled.lock().ok().and_then(|known| known.get(&key).copied());
        let found = known.unwrap_or_else(|| {
            let names: Vec<Form> = [&owner.id, &owner.name].into_iter().flat_map(|name| forms(name)).collect();
            self.forms.iter().position(|(form, _)| names.iter().any(|name| name.resembles(form)))
        });
        if let Ok(mut known) = self.resembled.lock() {
            known.insert(key, found);
        }
        self.forms.get(found?).map(|(_, entry)| entry.as_str())
    }

    fn add(&mut self, entry: &str, number: usize, is_line: bool) {
        let written = entry;
        let entry = entry.to_lowercase();
        // `kubectl get pods -o name` writes `pod/web-7f9c`.
        let bare = entry.rsplit('/').next().unwrap_or_default().trim_end_matches('.').to_owned();
        if self.whole.contains_key(&entry) {
            return;
        }
        self.whole.insert(entry, number);
        // Numbers in a table, such as `0` and `1/1`, are no names.
        let is_name = is_line || written.contains(char::is_alphabetic) || written.len() >= SHORTEST_ADDRESS;
        if is_name && !written.contains(char::is_whitespace) {
            let written_out = written.replace("...", "…");
            let pattern = written_out.split_once(PATTERNS).map(|(before, _)| beginnings(before));
            let forms = forms(written).into_iter().chain(pattern.into_iter().flatten());
            self.forms.extend(forms.map(|form| (form, written.to_owned())));
        }
        let process = bare.rsplit_once(':').filter(|(host, pid)| {
            !host.is_empty() && !pid.is_empty() && pid.chars().all(|c| c.is_ascii_digit()) && !is_address(&bare)
        });
        match process {
            Some((host, pid)) => {
                let host = dotted(host);
                self.processes.entry(label(&host).to_owned()).or_default().push((host, pid.to_owned(), number));
            }
            None if bare.is_empty() => {}
            None => {
                let host = dotted(&bare);
                for host in [cut(&host), Some(host)].into_iter().flatten() {
                    self.hosts.entry(label(&host).to_owned()).or_default().push((host, number));
                }
            }
        }
    }

    /// `is_free`: the preset names no host of the owner, and `web1-4211` may be a process of `web1`.
    fn add_host(&self, part: &str, is_free: bool, found: &mut BTreeSet<usize>) {
        let part = dotted(part);
        let numbered = numbered(&part).map(|(host, _)| host).filter(|_| is_free);
        for host in numbered.into_iter().chain([part.as_str()]) {
            let known = self.hosts.get(label(host)).into_iter().flatten();
            found.extend(known.filter(|(k, _)| same_host(k, host)).map(|(_, number)| number));
        }
        if part.len() >= LONG_NAME {
            // Libraries cut long names, each at its own length: a name that long may be the beginning of a longer one.
            let known = self.hosts.values().flatten();
            found.extend(known.filter(|(known, _)| known.starts_with(&part)).map(|(_, number)| number));
        }
    }

    fn add_process(&self, part: &str, name: &str, is_free: bool, found: &mut BTreeSet<usize>) {
        let mut add = |host: &str, runs: &dyn Fn(&str) -> bool| {
            let known = self.processes.get(label(host)).into_iter().flatten();
            let known = known.filter(|(k, pid, _)| same_host(k, host) && runs(pid));
            found.extend(known.map(|(_, _, number)| number));
        };
        let rest = name.replacen(part, " ", 1);
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).peekable();
        // An owner that names no process may be any of its host.
        let names_none = numbers.peek().is_none() && !is_free;
        let numbers: Vec<&str> = numbers.collect();
        let part = dotted(part);
        add(&part, &|pid| names_none || numbers.contains(&pid));
        if let Some((host, n)) = numbered(&part).filter(|_| is_free) {
            add(host, &|pid| pid == n);
        }
    }
}

impl Living {
    /// What the list says of a claim. Only a claim that was certainly made before the list can be missing on it:
    /// `clocks` says whether one clock wrote both times. A heartbeat ahead of the database's clock does not contradict
    /// the list: its own clock is wrong.
    pub fn says(&self, claim: &Claim, now: Timestamp, clocks: Clocks) -> Standing {
        let Some(owner) = &claim.owner else { return Standing::NoOwner };
        if self.live_owners.lists(owner) {
            return Standing::Listed;
        }
        match claim.claimed_at.at() {
            None => Standing::NoClaimTime,
            Some(at) if !self.made_at.is_after(at, clocks) => Standing::ClaimedLater,
            Some(_) => {
                let latest = now.plus(FUTURE_TOLERANCE);
                let is_later =
                    |beat: Timestamp| !self.made_at.is_after(beat, clocks) && !beat.is_after(latest, Clocks::One);
                if claim.heartbeat.at().is_some_and(is_later) {
                    return Standing::BeatLater;
                }
                let resembled = self.live_owners.resembled(owner);
                resembled.map_or(Standing::Missing, |entry| Standing::Resembles(entry.to_owned()))
            }
        }
    }
}

fn is_comment(line: &str) -> bool {
    line.strip_prefix('#').is_some_and(|text| !text.starts_with(char::is_alphanumeric))
}

/// What a live-owner list says of a claim's owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Listed,
    /// It is not on the list: it was dead when the list was made.
    Missing,
    /// It would be missing, but resembles this entry: the list may mean it in another spelling.
    Resembles(String),
    NoOwner,
    /// It is not on the list, but may have claimed the job after the list was made.
    ClaimedLater,
    /// It is not on the list, but may have shown life after the list was made.
    BeatLater,
    /// It is not on the list, and nothing says whether it claimed the job before the list was made.
    NoClaimTime,
}

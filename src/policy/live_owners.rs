//! The live-owner list: reading it, and whether it lists the owner of a claim.

use super::host_names::{cut, dotted, heads, is_address, label, numbered, parts, same_host};
use crate::model::{Claim, Clocks, FUTURE_TOLERANCE, Owner, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// River's default client id cuts its host's name here (`maxHostLength`), and no library that is known cuts shorter.
const LONG_NAME: usize = 60;
/// Separators between words.
const BETWEEN_WORDS: [char; 4] = [' ', '\t', ',', ';'];
/// What other programs write before and around a name, as in `{"workers":["web1"]}` and `hosts=web1|web2`.
const AROUND_NAMES: [char; 8] = ['"', '\'', '[', ']', '{', '}', '=', '|'];
/// Owners known to be alive, from outside the database.
///
/// An owner that is listed by mistake keeps its jobs until the next run; one that is missing by mistake loses them while it
/// works. So matching is as generous as it can be without taking `web10` for `web1`.
#[derive(Debug, Clone, Default)]
pub struct LiveOwners {
    /// Lines without a word that could be a name: their numbers, counted from 1.
    unread: Vec<usize>,
    /// Entries as they were written, in small letters: they match an owner's id or name.
    whole: BTreeSet<String>,
    /// Entries that may be a host, with their first label as key.
    hosts: BTreeMap<String, Vec<String>>,
    /// Entries that are one process of a host: the host's first label, then host and process.
    processes: BTreeMap<String, Vec<(String, String)>>,
}

/// A list that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiveOwnersError {
    /// No entry at all.
    #[error("is empty, and would call every owner dead")]
    Empty,
    /// It is a table with a line of column titles.
    #[error("begins with a line of column titles, so its lines are no names")]
    Titles,
}

/// A live-owner list, and when it was made.
#[derive(Debug, Clone)]
pub struct Living {
    /// The list.
    pub live_owners: Arc<LiveOwners>,
    /// When it was made, by the database's clock. Owners that started later cannot be on it.
    pub made_at: Timestamp,
}

impl LiveOwners {
    /// Reads a list of owners, each as host (`web1`, `web1.example.com`, `pod/web-7f9c`), as `host:pid`, or as the exact id.
    /// Blank lines and lines that begin with `#` are skipped. A whole line is an entry, and so is each of its words, and each
    /// part of a word between quotes, brackets and signs: one entry too many spares a job until the next run, one too few
    /// takes it from a worker.
    ///
    /// # Errors
    /// When there is no entry, or the first line holds the titles of a table.
    pub fn parse(text: &str) -> Result<LiveOwners, LiveOwnersError> {
        let mut live_owners = LiveOwners::default();
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let numbered = lines.enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        for (n, line) in numbered {
            if live_owners.whole.is_empty() && line.split_whitespace().nth(1).is_some() && line.starts_with("NAME ") {
                return Err(LiveOwnersError::Titles);
            }
            let words = line.split(BETWEEN_WORDS).flat_map(|word| {
                let within = word.split(AROUND_NAMES).flat_map(|part| [part, part.trim_end_matches(':')]);
                std::iter::once(word.trim_matches(AROUND_NAMES)).chain(within)
            });
            let mut names = words.filter(|word| word.contains(char::is_alphanumeric)).peekable();
            if names.peek().is_none() {
                live_owners.unread.push(n + 1);
                continue;
            }
            live_owners.add(line);
            names.for_each(|name| live_owners.add(name));
        }
        if live_owners.whole.is_empty() { Err(LiveOwnersError::Empty) } else { Ok(live_owners) }
    }

    /// How many different entries there are, words and whole lines.
    pub fn len(&self) -> usize {
        self.whole.len()
    }

    /// The lines that name no owner, counted from 1.
    pub fn unread(&self) -> &[usize] {
        &self.unread
    }

    /// True if there is none; [`LiveOwners::parse`] never gives such a list.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// A few entries, for messages.
    pub fn examples(&self) -> Vec<&str> {
        self.whole.iter().take(3).map(String::as_str).collect()
    }

    /// True if the owner is on the list. It is, if an entry
    /// - is its id or its name;
    /// - is its host, or a part of its id between separators, as a whole: `web1` is not `web10`. A short name and the full
    ///   one are the same host, and so is a name in which dots are written as underscores;
    /// - is `host:pid`, and names its host and its process; an owner that names no process may be any of its host.
    ///
    /// Upper and lower case are the same.
    pub fn lists(&self, owner: &Owner) -> bool {
        let (id, name) = (owner.id.to_lowercase(), owner.name.to_lowercase());
        if self.whole.contains(&id) || self.whole.contains(&name) {
            return true;
        }
        let host = owner.host.as_ref().map(|host| host.to_lowercase());
        // If the preset knows the host, no other part of the id is a host, except one before a hard separator.
        let parts: Vec<&str> = match &host {
            Some(host) => [host.as_str()].into_iter().chain(heads(&id)).collect(),
            None => parts(&id).chain(parts(&name)).collect(),
        };
        let is_free = host.is_none();
        parts.iter().any(|part| self.has_host(part, is_free) || self.has_process(part, &name, is_free))
    }

    fn add(&mut self, entry: &str) {
        let entry = entry.to_lowercase();
        // `kubectl get pods -o name` writes `pod/web-7f9c`.
        let bare = entry.rsplit('/').next().unwrap_or_default().trim_end_matches('.').to_owned();
        if !self.whole.insert(entry) {
            return;
        }
        let process = bare.rsplit_once(':').filter(|(host, pid)| {
            !host.is_empty() && !pid.is_empty() && pid.chars().all(|c| c.is_ascii_digit()) && !is_address(&bare)
        });
        match process {
            Some((host, pid)) => {
                let host = dotted(host);
                self.processes.entry(label(&host).to_owned()).or_default().push((host, pid.to_owned()));
            }
            None if bare.is_empty() => {}
            None => {
                let host = dotted(&bare);
                self.hosts.entry(label(&host).to_owned()).or_default().push(host.clone());
                if let Some(cut) = cut(&host) {
                    self.hosts.entry(label(&cut).to_owned()).or_default().push(cut);
                }
            }
        }
    }

    /// `is_free`: the preset names no host of the owner, and `web1-4211` may be a process of `web1`.
    fn has_host(&self, part: &str, is_free: bool) -> bool {
        let found =
            |host: &str| self.hosts.get(label(host)).is_some_and(|known| known.iter().any(|k| same_host(k, host)));
        let part = dotted(part);
        // Libraries cut long names, each at its own length: a name that long may be the beginning of a longer one.
        let begins = |part: &str| self.hosts.values().flatten().any(|known| known.starts_with(part));
        found(&part)
            || (part.len() >= LONG_NAME && begins(&part))
            || (is_free && numbered(&part).is_some_and(|(host, _)| found(host)))
    }

    fn has_process(&self, part: &str, name: &str, is_free: bool) -> bool {
        let found = |host: &str, runs: &dyn Fn(&str) -> bool| {
            let known = self.processes.get(label(host));
            known.is_some_and(|known| known.iter().any(|(k, pid)| same_host(k, host) && runs(pid)))
        };
        let rest = name.replacen(part, " ", 1);
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).peekable();
        // An owner that names no process may be any of its host.
        let names_none = numbers.peek().is_none() && !is_free;
        let numbers: Vec<&str> = numbers.collect();
        let part = dotted(part);
        found(&part, &|pid| names_none || numbers.contains(&pid))
            || (is_free && numbered(&part).is_some_and(|(host, n)| found(host, &|pid| pid == n)))
    }
}

impl Living {
    /// What the list says of a claim. Only a claim that was certainly made before the list can be missing on it: `clocks`
    /// says whether one clock wrote both times. A heartbeat ahead of the database's clock does not contradict the list: its
    /// own clock is wrong.
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
                if claim.heartbeat.at().is_some_and(is_later) { Standing::BeatLater } else { Standing::Missing }
            }
        }
    }
}

/// What a live-owner list says of a claim's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is on the list.
    Listed,
    /// It is not on the list: it was dead when the list was made.
    Missing,
    /// The claim names no owner.
    NoOwner,
    /// It is not on the list, but may have claimed the job after the list was made.
    ClaimedLater,
    /// It is not on the list, but may have shown life after the list was made.
    BeatLater,
    /// It is not on the list, and nothing says whether it claimed the job before the list was made.
    NoClaimTime,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HostSpelling;

    fn live_owners(text: &str) -> LiveOwners {
        LiveOwners::parse(text).unwrap()
    }

    fn owner(id: &str, host: Option<&str>) -> Owner {
        Owner {
            id: id.to_owned(),
            name: id.to_owned(),
            host: host.map(str::to_owned),
            host_spelling: HostSpelling::default(),
        }
    }

    /// How each kind of owner is written, and by which entries it is meant.
    #[test]
    fn on_the_list() {
        let cases = [
            ("web1", "web1:4211", Some("web1")),
            ("web1", "web1", Some("web1")),
            ("WEB1", "web1:4211", Some("web1")),
            ("web1", "WEB1:4211", Some("WEB1")),
            ("web1:4211", "web1:4211", Some("web1")),
            ("web1:4211", "web1.example.com:4211", Some("web1.example.com")),
            ("web1:4211", "web1:4211:thread-3", Some("web1")),
            ("web1:12", "host:web1 pid:12", Some("web1")),
            ("web1:4211", "web1", Some("web1")),
            ("web1.example.com", "web1:4211", Some("web1")),
            ("web1.example.com.", "web1:4211", Some("web1")),
            ("web1", "web1.example.com:4211", Some("web1.example.com")),
            ("web1.example.com", "web1_example_com_2026_11_20T10_00_00_000000", Some("web1_example_com")),
            ("web1", "web1_example_com_2026_11_20T10_00_00_000000", Some("web1_example_com")),
            ("pod/web-7f9c-x2x4z", "web-7f9c-x2x4z:1", Some("web-7f9c-x2x4z")),
            ("default/pod/web-7f9c-x2x4z", "web-7f9c-x2x4z", None),
            ("3f0e8f5c-5d5e-4f9a-9a3e-0f5a3a0e7b11", "3F0E8F5C-5D5E-4F9A-9A3E-0F5A3A0E7B11", None),
            ("10.0.0.7", "10.0.0.7:4211", None),
            ("fe80::1", "fe80::1", None),
            // The preset names no host.
            ("web1", "web1-4211", None),
            ("web1:4211", "web1-4211", None),
            ("web-7", "web-7-4211", None),
            ("web1", "celery@web1", None),
            ("web1", "worker:web1:3", None),
            ("web1", "web1/3", None),
            ("web1", "web1#3", None),
            ("web1", "web1_3", None),
            ("web1.example.com", "web1:4211", None),
            ("worker 7 (blue)", "worker 7 (blue)", None),
            ("a/b", "a/b", None),
        ];
        for (entry, id, host) in cases {
            assert!(live_owners(entry).lists(&owner(id, host)), "{entry} means {id}");
        }
    }

    #[test]
    fn not_on_the_list() {
        let cases = [
            ("web1", "web10:4211", Some("web10")),
            ("web1", "web10:4211", None),
            ("web10", "web1:4211", Some("web1")),
            ("web10", "web1:4211", None),
            ("web1", "web10", None),
            ("web1", "web1x", None),
            ("web1", "xweb1", None),
            ("web", "web1", None),
            ("web", "web-7f9c-x2x4z", None),
            ("web1:4211", "web1:4212", Some("web1")),
            ("web1:421", "web1:4211", Some("web1")),
            ("web1:1", "web1:4211", Some("web1")),
            ("web12:12", "web12:7", Some("web12")),
            ("web1:4211", "web1-4212", None),
            ("web1:4211", "web2:4211", None),
            ("web1:4211", "web2", Some("web2")),
            ("web1.a.example.com", "web1.b.example.com:1", Some("web1.b.example.com")),
            ("web.1", "web.10", None),
            ("web.1", "web.2:4", None),
            ("10.0.0.1", "10.0.0.10:4", None),
            ("10.0.0.1", "mail:10", None),
            ("10.0.0", "10.0.0.1", None),
            ("web-7", "web-7-12:44", Some("web-7-12")),
            ("pod/web-1", "pod:web-10", None),
            ("3", "33", None),
            ("web1", "web1*", None),
        ];
        for (entry, id, host) in cases {
            assert!(!live_owners(entry).lists(&owner(id, host)), "{entry} does not mean {id}");
        }
    }

    /// A pod's name may have 253 letters, its host's name 63.
    #[test]
    fn a_pod_whose_name_is_too_long_for_a_host() {
        let pod = format!("pod/{}-x7k2p", "a".repeat(60));
        let host = "a".repeat(60) + "-x7";
        assert!(live_owners(&pod).lists(&owner(&format!("{host}:1"), Some(host.as_str()))));
        let pod = format!("pod/{}-x7k2p", "a".repeat(62));
        assert!(live_owners(&pod).lists(&owner(&"a".repeat(62), None)), "a hyphen at the end is dropped too");
    }

    #[test]
    fn what_is_in_the_list() {
        let live_owners = live_owners("\u{feff}# living\r\n\r\n  pod/web-1 \r\nweb-2\r\n\tweb-1:7\nweb-2\n");
        assert_eq!((live_owners.len(), live_owners.examples()), (3, vec!["pod/web-1", "web-1:7", "web-2"]));
        assert!(live_owners.unread().is_empty());
        assert!(live_owners.lists(&owner("web-1:99", Some("web-1"))));
        for line in ["web-2 # rack 4", "web-2   1/1   Running   0   3d", "web-2,", "\"web-2\"", "pod/web-2\tx"] {
            assert!(self::live_owners(line).lists(&owner("web-2:99", Some("web-2"))), "{line}");
        }
        // One line of `kubectl get pods -o jsonpath='{.items[*].metadata.name}'`, and other programs' lists.
        for line in [
            "web-1 web-2 web-3",
            "web-1,web-2;web-3",
            "[\"web-1\", \"web-2\", \"web-3\"]",
            "{\"workers\":[\"web-1\",\"web-2\",\"web-3\"]}",
            "{'web-1':{},'web-2':{},'web-3':{}}",
            "hosts=web-1|web-2|web-3",
            "web-1: up web-2: up web-3:",
        ] {
            for name in ["web-1", "web-2", "web-3"] {
                assert!(
                    self::live_owners(line).lists(&owner(&format!("{name}:99"), Some(name))),
                    "{line} names {name}"
                );
            }
        }
        assert_eq!(self::live_owners("web-1\n----\n[]\n").unread(), [2, 3]);
        // River cuts its host's name at 60.
        let long = "checkout-worker-production-eu-central-1-7d9f8b6c5d-abcde-x2x4";
        assert!(self::live_owners(&format!("pod/{long}")).lists(&owner("x", long.get(..60))));
        assert!(!self::live_owners(&format!("pod/{long}")).lists(&owner("x", long.get(..50))));
        for text in ["", "\n\n", "# nobody\r\n", "   \t"] {
            assert_eq!(LiveOwners::parse(text).unwrap_err(), LiveOwnersError::Empty);
        }
        assert_eq!(
            LiveOwners::parse("NAME   READY   STATUS\nweb-1   1/1   Running\n").unwrap_err(),
            LiveOwnersError::Titles
        );
        assert!(LiveOwners::parse("NAME\n").is_ok(), "an owner may have that name");
    }

    /// The mutant that matches by prefix takes web10 for web1.
    #[test]
    fn a_bare_prefix_would_be_caught() {
        let bare_prefix = |entry: &str, id: &str| id.starts_with(entry);
        assert!(bare_prefix("web1", "web10:4211") && !live_owners("web1").lists(&owner("web10:4211", Some("web10"))));
        assert!(
            bare_prefix("web1:421", "web1:4211") && !live_owners("web1:421").lists(&owner("web1:4211", Some("web1")))
        );
    }
}

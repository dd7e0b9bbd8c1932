//! From counts to diagnoses.

use super::holder::{Holder, Part};
use super::tally::Tally;
use super::words;
use super::{Diagnoses, Diagnosis, DiagnosisKind, Grouped};
use crate::model::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Hosts whose last signs of life lie no further apart than this went together: that is how far heartbeats are apart.
const TOGETHER: Duration = Duration::from_secs(60);
/// From so many on they are one line.
const SEVERAL: usize = 3;
/// All of them within this is one fault, rather than what has piled up.
const AT_ONCE: Duration = Duration::from_secs(5 * 60);

/// A host or an owner of which nothing is alive.
pub struct Lost<'e> {
    /// Its name.
    pub name: &'e str,
    /// True if it is a host.
    pub is_host: bool,
    /// What it held.
    pub holder: &'e Holder,
    /// That summed up.
    pub tally: Tally,
}

impl Diagnoses<'_> {
    /// What is likely to have happened, by what was taken in.
    pub fn finish(self, now: Timestamp) -> Grouped {
        let mut diagnoses = Vec::new();
        let lost = self.lost();
        if self.nothing_lives(&lost) {
            diagnoses.push(words::all_silent(&lost, now));
        } else {
            let (sure, unsure): (Vec<Lost<'_>>, Vec<Lost<'_>>) =
                lost.into_iter().partition(|lost| lost.holder.is_surely_gone());
            gone(DiagnosisKind::Vanished, sure, now, &mut diagnoses);
            gone(DiagnosisKind::Silent, unsure, now, &mut diagnoses);
        }
        hangs(&self.living(), now, &mut diagnoses);
        self.nobodys(now, &mut diagnoses);
        self.inconsistencies(&mut diagnoses);
        // The one kind of diagnosis that may be about jobs which another is about too.
        let of_its_own = diagnoses.iter().filter(|diagnosis| diagnosis.what != DiagnosisKind::NoClaimTime);
        let grouped: u64 = of_its_own.map(|diagnosis| diagnosis.jobs).sum();
        diagnoses.sort_by(|a, b| {
            b.jobs.cmp(&a.jobs).then(micros(b.until).cmp(&micros(a.until))).then_with(|| a.text.cmp(&b.text))
        });
        Grouped { diagnoses, alone: self.listed.saturating_sub(grouped) }
    }

    /// Whoever holds listed jobs and nothing that is alive: hosts whole, and owners that name none or whose host lives on.
    fn lost(&self) -> Vec<Lost<'_>> {
        fn of<'e>((name, holder): (&'e String, &'e Holder), is_host: bool) -> Option<Lost<'e>> {
            let tally = holder.tally();
            (holder.is_silent() && tally.jobs > 0).then_some(Lost { name, is_host, holder, tally })
        }
        let mut lost: Vec<Lost<'_>> = self.hosts.iter().filter_map(|host| of(host, true)).collect();
        let owners = self.owners.iter().filter(|(_, owner)| !self.is_on_silent_host(owner));
        lost.extend(owners.filter_map(|owner| of(owner, false)));
        lost
    }

    fn is_on_silent_host(&self, owner: &Holder) -> bool {
        owner.host.as_ref().and_then(|host| self.hosts.get(host)).is_some_and(Holder::is_silent)
    }

    /// Owners that hold listed jobs and show life.
    fn living(&self) -> Vec<(&str, &Holder)> {
        let lives = |owner: &Holder| !owner.is_silent() && !self.is_on_silent_host(owner) && !owner.parts.is_empty();
        self.owners.iter().filter(|(_, owner)| lives(owner)).map(|(name, owner)| (name.as_str(), owner)).collect()
    }

    /// True if everything in flight is dead, of several holders, and all within minutes.
    fn nothing_lives(&self, lost: &[Lost<'_>]) -> bool {
        let some_life = self.others
            || self.overflowed
            || self.owners.values().any(|owner| !owner.is_silent())
            || self.nobody.claims > self.nobody.dead;
        let first = lost.iter().map(|lost| lost.tally.newest).min_by_key(|at| micros(*at)).flatten();
        let last = lost.iter().map(|lost| lost.tally.newest).max_by_key(|at| micros(*at)).flatten();
        let at_once = matches!((first, last), (Some(first), Some(last)) if last.since(first) <= AT_ONCE);
        !some_life && at_once && lost.len() >= SEVERAL && lost.iter().all(|lost| lost.holder.is_surely_gone())
    }

    /// Jobs that name no owner: an inconsistency where there are owners, and where there are none all that can be told is the kind.
    fn nobodys(&self, now: Timestamp, diagnoses: &mut Vec<Diagnosis>) {
        let tally = self.nobody.tally();
        if tally.jobs == 0 {
            return;
        }
        if self.spec.owner.id.is_some() {
            return diagnoses.push(words::inconsistency(DiagnosisKind::NoOwner, &tally, None, None));
        }
        let Holder { claims, unknown, .. } = self.nobody;
        let at_once = matches!((tally.oldest, tally.newest), (Some(first), Some(last)) if last.since(first) <= AT_ONCE);
        if self.nobody.is_silent() && unknown == 0 && claims >= 3 && tally.by_age == 0 && at_once {
            return diagnoses.push(words::all_claims_silent(&tally, now));
        }
        let mut kinds: BTreeMap<Option<&str>, (Tally, Vec<&Part>)> = BTreeMap::new();
        for part in &self.nobody.parts {
            let (sum, parts) = kinds.entry(part.kind.as_deref()).or_default();
            sum.add(&part.tally);
            parts.push(part);
        }
        let several = kinds.iter().filter(|(_, (sum, _))| sum.jobs > 1);
        diagnoses.extend(several.map(|(kind, (sum, parts))| words::of_kind(*kind, sum, parts, now)));
    }

    /// Where the ownership data contradicts itself.
    fn inconsistencies(&self, diagnoses: &mut Vec<Diagnosis>) {
        for (kind, pick) in [
            (DiagnosisKind::OwnerMissing, (|holder| &holder.missing) as fn(&Holder) -> &Tally),
            (DiagnosisKind::OwnerRestarted, |holder| &holder.restarted),
        ] {
            let owners: Vec<(&String, &Tally)> =
                self.owners.iter().map(|(name, owner)| (name, pick(owner))).filter(|(_, told)| told.jobs > 0).collect();
            let only = owners.first().filter(|_| owners.len() == 1).map(|(name, _)| name.as_str());
            if !owners.is_empty() {
                let sum = Tally::of(owners.iter().map(|(_, told)| *told));
                diagnoses.push(words::inconsistency(
                    kind,
                    &sum,
                    only,
                    (!self.overflowed).then_some(owners.len() as u64),
                ));
            }
        }
        if self.no_claim_time.jobs > 0 {
            diagnoses.push(words::inconsistency(DiagnosisKind::NoClaimTime, &self.no_claim_time, None, None));
        }
    }
}

/// One line for those that went together, one for each that lost several jobs, and one a kind for those that lost one.
fn gone<'e>(what: DiagnosisKind, mut lost: Vec<Lost<'e>>, now: Timestamp, diagnoses: &mut Vec<Diagnosis>) {
    lost.sort_by_key(|lost| (micros(lost.tally.newest), lost.name));
    let mut single: BTreeMap<String, Vec<Lost<'e>>> = BTreeMap::new();
    let mut group: Vec<Lost<'e>> = Vec::new();
    let mut close = |group: Vec<Lost<'e>>| {
        if group.len() >= SEVERAL {
            diagnoses.push(words::gone(what, &group, None, now));
            return;
        }
        for lost in group {
            match lost.holder.only_kind() {
                _ if lost.tally.jobs > 1 => diagnoses.push(words::gone(what, &[lost], None, now)),
                Some(kind) => single.entry(kind.to_owned()).or_default().push(lost),
                None => {}
            }
        }
    };
    for lost in lost {
        let together = match (group.last().and_then(|last| last.tally.newest), lost.tally.newest) {
            (Some(last), Some(this)) => this.since(last) <= TOGETHER,
            _ => false,
        };
        if !together {
            close(std::mem::take(&mut group));
        }
        group.push(lost);
    }
    close(group);
    let several = single.iter().filter(|(_, lost)| lost.len() > 1);
    diagnoses.extend(several.map(|(kind, lost)| words::gone(what, lost, Some(kind), now)));
}

/// Stuck jobs of owners that live: by kind where several owners hold it, else by owner.
fn hangs(living: &[(&str, &Holder)], now: Timestamp, diagnoses: &mut Vec<Diagnosis>) {
    let mut kinds: BTreeMap<&str, Hung<'_>> = BTreeMap::new();
    for (name, owner) in living {
        for part in &owner.parts {
            if let Some(kind) = &part.kind {
                let hung = kinds.entry(kind).or_default();
                hung.tally.add(&part.tally);
                hung.owners.insert(name);
                hung.hosts.extend(owner.host.as_deref());
            }
        }
    }
    kinds.retain(|_, hung| hung.owners.len() > 1);
    diagnoses.extend(kinds.iter().map(|(kind, hung)| words::kind_hangs(kind, hung, now)));
    for (name, owner) in living {
        let rest = owner.parts.iter().filter(|part| part.kind.as_deref().is_none_or(|kind| !kinds.contains_key(kind)));
        let rest: Vec<&Part> = rest.collect();
        let tally = Tally::of(rest.iter().map(|part| &part.tally));
        if tally.jobs > 1 {
            diagnoses.push(words::owner_hangs(name, owner, &rest, &tally, now));
        }
    }
}

/// Jobs of one kind that are stuck on living owners.
#[derive(Default)]
pub struct Hung<'e> {
    /// Them.
    pub tally: Tally,
    /// Their owners.
    pub owners: BTreeSet<&'e str>,
    /// The hosts of those that name one.
    pub hosts: BTreeSet<&'e str>,
}

fn micros(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::micros)
}

/// The first and the last of the instants at which each of them was last seen alive.
pub fn window(lost: &[Lost<'_>]) -> (Option<Timestamp>, Option<Timestamp>) {
    let signs = || lost.iter().map(|lost| lost.tally.newest);
    (signs().fold(None, Timestamp::oldest), signs().fold(None, Timestamp::newest))
}

//! Concludes from the counts what happened.

use super::holder::{Holder, Part, Tally};
use super::{Diagnoses, Diagnosis, DiagnosisKind, Doubt, Grouped};
use crate::model::Timestamp;
use crate::policy::PlannedActions;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Holders whose last signs of life all lie within this time vanished together: heartbeats are that far apart.
const TOGETHER: Duration = Duration::from_secs(60);
/// So many that went silent together are one diagnosis.
const SEVERAL: usize = 3;
/// The longest time in which one fault silences everything; over a longer one, dead jobs have piled up.
const AT_ONCE: Duration = Duration::from_secs(5 * 60);

/// A host or an owner without a sign of life.
struct Lost<'e> {
    name: &'e str,
    is_host: bool,
    holder: &'e Holder,
    tally: Tally,
}

impl Diagnoses<'_> {
    pub fn finish(mut self) -> Grouped {
        let mut diagnoses = Vec::new();
        self.lost_again(&mut diagnoses);
        let lost = self.lost();
        if self.jobs.are_interrupted() {
            gone(&DiagnosisKind::Interrupted, lost, &mut diagnoses);
        } else if self.nothing_lives(&lost) {
            diagnoses.push(Diagnosis { kind: None, queues: Vec::new(), ..about(DiagnosisKind::AllSilent, &lost) });
        } else {
            let (sure, unsure): (Vec<Lost<'_>>, Vec<Lost<'_>>) =
                lost.into_iter().partition(|lost| lost.holder.is_surely_gone());
            gone(&DiagnosisKind::Vanished, sure, &mut diagnoses);
            gone(&DiagnosisKind::Silent(None), unsure, &mut diagnoses);
        }
        hangs(&self.living(), &mut diagnoses);
        self.without_owner(&mut diagnoses);
        self.inconsistencies(&mut diagnoses);
        let late = self.late.iter().filter(|(kind, late)| kind.is_some() || late.tally.jobs > 1);
        diagnoses.extend(late.map(|(kind, late)| Diagnosis {
            kind: kind.clone(),
            queues: Vec::new(),
            ..of_parts(DiagnosisKind::Hangs(None), &[late])
        }));
        self.unknown_claims(&mut diagnoses);
        // The one kind of diagnosis that may be about jobs which another is about too, and those that are not stuck.
        let is_of_its_own = |of: &&Diagnosis| of.what != DiagnosisKind::NoClaimTime && !of.what.is_of_unknown_claims();
        let grouped: u64 = diagnoses.iter().filter(is_of_its_own).map(|diagnosis| diagnosis.jobs).sum();
        let silent_owners = self.owners.values().filter(|owner| owner.is_silent()).count() as u64;
        Grouped { diagnoses, alone: self.listed.saturating_sub(grouped), silent_owners }
    }

    /// Names the jobs that were lost again and again, if they are few, and leaves them out of what their holders lost.
    fn lost_again(&mut self, diagnoses: &mut Vec<Diagnosis>) {
        if self.again.is_empty() || self.lost_again.tally.jobs > self.again.len() as u64 {
            return;
        }
        for holder in self.owners.values_mut().chain(self.hosts.values_mut()) {
            holder.parts.retain(|part| !part.again);
        }
        self.again.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        let kind = self.again.first().and_then(|(_, kind, _)| kind.clone());
        let losses = self.again.iter().map(|(.., losses)| *losses).collect();
        diagnoses.push(Diagnosis {
            kind: kind.filter(|one| self.again.iter().all(|(_, kind, _)| kind.as_ref() == Some(one))),
            ids: self.again.iter().map(|(id, ..)| id.clone()).collect(),
            groups: std::mem::take(&mut self.lost_again.groups),
            ..of_jobs(DiagnosisKind::LostAgain(losses), &self.lost_again.tally)
        });
    }

    fn unknown_claims(&self, diagnoses: &mut Vec<Diagnosis>) {
        diagnoses.extend(self.unjudged.iter().map(|(group, unjudged)| Diagnosis {
            host: unjudged.host.clone(),
            owner: unjudged.owner.clone(),
            groups: BTreeSet::from([*group]),
            ids: vec![unjudged.finding.0.clone()],
            // A sign of life that cannot be judged says nothing of the time.
            since: None,
            until: None,
            ..of_jobs(DiagnosisKind::lacking(&unjudged.finding.1), &unjudged.tally)
        }));
    }

    /// Holders of listed jobs without a sign of life: whole hosts, and owners that name no host or whose host is alive.
    fn lost(&self) -> Vec<Lost<'_>> {
        fn of<'e>(name: &'e str, holder: &'e Holder, is_host: bool) -> Option<Lost<'e>> {
            let tally = holder.tally();
            (holder.is_silent() && tally.jobs > 0).then_some(Lost { name, is_host, holder, tally })
        }
        let mut lost: Vec<Lost<'_>> = self.hosts.iter().filter_map(|(name, host)| of(name, host, true)).collect();
        let owners = self.owners.iter().filter(|(_, owner)| !self.is_on_silent_host(owner));
        lost.extend(owners.filter_map(|(name, owner)| of(name, owner, false)));
        lost
    }

    fn is_on_silent_host(&self, owner: &Holder) -> bool {
        owner.host.as_ref().and_then(|host| self.hosts.get(host)).is_some_and(Holder::is_silent)
    }

    /// Owners that hold listed jobs and are not silent.
    fn living(&self) -> Vec<(&str, &Holder)> {
        let lives = |owner: &Holder| !owner.is_silent() && !self.is_on_silent_host(owner) && !owner.parts.is_empty();
        self.owners.iter().filter(|(_, owner)| lives(owner)).map(|(name, owner)| (name.as_str(), owner)).collect()
    }

    /// True if everything in flight is dead, of several holders, and all within minutes.
    fn nothing_lives(&self, lost: &[Lost<'_>]) -> bool {
        let some_life = self.others
            || self.overflowed
            || self.owners.values().any(|owner| !owner.is_silent())
            || self.without_owner.claims > self.without_owner.dead;
        let first = lost.iter().map(|lost| lost.tally.newest).min_by_key(|at| micros(*at)).flatten();
        let last = lost.iter().map(|lost| lost.tally.newest).max_by_key(|at| micros(*at)).flatten();
        let at_once = matches!((first, last), (Some(first), Some(last)) if last.since(first) <= AT_ONCE);
        !some_life && at_once && lost.len() >= SEVERAL && lost.iter().all(|lost| lost.holder.is_surely_gone())
    }

    /// Jobs that name no owner: an inconsistency if the queue has owners; else they are grouped by kind.
    fn without_owner(&self, diagnoses: &mut Vec<Diagnosis>) {
        let parts: Vec<&Part> = self.without_owner.parts.iter().collect();
        let tally = self.without_owner.tally();
        let is_interrupted = self.jobs.are_interrupted();
        if parts.is_empty() {
            return;
        }
        if self.jobs.owner.id.is_some() && !is_interrupted {
            return diagnoses.push(of_parts(DiagnosisKind::NoOwner, &parts));
        }
        let Holder { claims, unknown, .. } = self.without_owner;
        let at_once = matches!((tally.oldest, tally.newest), (Some(first), Some(last)) if last.since(first) <= AT_ONCE);
        if !is_interrupted
            && self.without_owner.is_silent()
            && unknown == 0
            && claims >= 3
            && tally.by_age == 0
            && at_once
        {
            let all = of_parts(DiagnosisKind::AllSilent, &parts);
            return diagnoses.push(Diagnosis { kind: None, queues: Vec::new(), ..all });
        }
        let mut kinds: BTreeMap<Option<&str>, Vec<&Part>> = BTreeMap::new();
        parts.iter().for_each(|part| kinds.entry(part.kind.as_deref()).or_default().push(part));
        let of_kind = |(kind, parts): (Option<&str>, Vec<&Part>)| {
            let Tally { jobs, by_age, .. } = Tally::of(parts.iter().map(|part| &part.tally));
            let what = match is_interrupted {
                true => DiagnosisKind::Interrupted,
                false => DiagnosisKind::Silent((by_age == jobs).then_some(Doubt::ByAge)),
            };
            (is_interrupted || kind.is_some() || jobs > 1).then(|| of_parts(what, &parts))
        };
        diagnoses.extend(kinds.into_iter().filter_map(of_kind));
    }

    fn inconsistencies(&self, diagnoses: &mut Vec<Diagnosis>) {
        for (kind, pick) in [
            (DiagnosisKind::OwnerMissing, (|holder| &holder.missing) as fn(&Holder) -> &Part),
            (DiagnosisKind::OwnerRestarted, |holder| &holder.restarted),
        ] {
            let owners = self.owners.iter().map(|(name, owner)| (name, pick(owner)));
            let (names, parts): (Vec<String>, Vec<&Part>) =
                owners.filter(|(_, jobs)| jobs.tally.jobs > 0).map(|(name, jobs)| (name.clone(), jobs)).unzip();
            if !names.is_empty() {
                diagnoses.push(Diagnosis {
                    owner: names.first().filter(|_| names.len() == 1).cloned(),
                    owners: (!self.overflowed).then_some(names.len() as u64),
                    names,
                    kind: None,
                    queues: Vec::new(),
                    ..of_parts(kind, &parts)
                });
            }
        }
        if self.no_claim_time.jobs > 0 {
            diagnoses.push(of_jobs(DiagnosisKind::NoClaimTime, &self.no_claim_time));
        }
    }
}

/// One diagnosis for holders that went together, one for each that lost several jobs, one a kind for those that lost one,
/// and one for the rest.
fn gone<'e>(what: &DiagnosisKind, mut lost: Vec<Lost<'e>>, diagnoses: &mut Vec<Diagnosis>) {
    lost.sort_by_key(|lost| (micros(lost.tally.newest), lost.name));
    let mut single: BTreeMap<Option<String>, Vec<Lost<'e>>> = BTreeMap::new();
    let mut group: Vec<Lost<'e>> = Vec::new();
    let mut close = |group: Vec<Lost<'e>>| {
        if group.len() >= SEVERAL {
            diagnoses.push(gone_together(what, &group));
            return;
        }
        for lost in group {
            if lost.tally.jobs > 1 {
                diagnoses.push(gone_together(what, &[lost]));
            } else {
                let kind = one_kind(&lost.holder.parts.iter().collect::<Vec<_>>()).map(str::to_owned);
                single.entry(kind).or_default().push(lost);
            }
        }
    };
    for lost in lost {
        let first = group.first().and_then(|first| first.tally.newest);
        let together = first.zip(lost.tally.newest).is_some_and(|(first, this)| this.since(first) <= TOGETHER);
        if !together {
            close(std::mem::take(&mut group));
        }
        group.push(lost);
    }
    close(group);
    let (several, rest): (Vec<_>, Vec<_>) =
        single.into_iter().partition(|(kind, lost)| kind.is_some() && lost.len() > 1);
    let rest: Vec<Lost<'e>> = rest.into_iter().flat_map(|(_, lost)| lost).collect();
    let rest = if rest.len() >= SEVERAL { vec![rest] } else { rest.into_iter().map(|lost| vec![lost]).collect() };
    diagnoses.extend(several.into_iter().map(|(_, lost)| lost).chain(rest).map(|lost| {
        let signs = || lost.iter().map(|lost| lost.tally.newest);
        let ends = signs().fold(None, Timestamp::oldest).zip(signs().fold(None, Timestamp::newest));
        let apart = ends.is_some_and(|(first, last)| last.since(first) > TOGETHER);
        let what = if *what == DiagnosisKind::Vanished && apart { &DiagnosisKind::OneByOne } else { what };
        gone_together(what, &lost)
    }));
}

/// Stuck jobs of owners that are not silent: by kind where several owners hold it, else by owner.
fn hangs(living: &[(&str, &Holder)], diagnoses: &mut Vec<Diagnosis>) {
    let mut kinds: BTreeMap<&str, Hung<'_>> = BTreeMap::new();
    for (name, owner) in living {
        for part in &owner.parts {
            if let Some(kind) = &part.kind {
                let hung = kinds.entry(kind).or_default();
                hung.parts.push(part);
                hung.owners.insert(name);
                hung.hosts.extend(owner.host.as_deref());
                hung.lacks_signs |= !owner.has_signs;
            }
        }
    }
    kinds.retain(|_, hung| hung.owners.len() > 1);
    diagnoses.extend(kinds.values().map(kind_hangs));
    for (name, owner) in living {
        let rest = owner.parts.iter().filter(|part| part.kind.as_deref().is_none_or(|kind| !kinds.contains_key(kind)));
        let rest: Vec<&Part> = rest.collect();
        if !rest.is_empty() {
            diagnoses.push(owner_hangs(name, owner, &rest));
        }
    }
}

/// Jobs of one kind that are stuck on owners that are not silent.
#[derive(Default)]
struct Hung<'e> {
    parts: Vec<&'e Part>,
    owners: BTreeSet<&'e str>,
    hosts: BTreeSet<&'e str>,
    /// Nothing shows that some of the owners live.
    lacks_signs: bool,
}

fn micros(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::micros)
}

fn gone_together(what: &DiagnosisKind, lost: &[Lost<'_>]) -> Diagnosis {
    let mut names: Vec<String> = lost.iter().map(|lost| lost.name.to_owned()).collect();
    names.sort_unstable();
    let is_unknown = lost.iter().any(|lost| lost.holder.unknown > 0);
    let what = match what {
        DiagnosisKind::Silent(_) if is_unknown => DiagnosisKind::Silent(Some(Doubt::PartlyUnknown)),
        DiagnosisKind::Silent(_) => DiagnosisKind::Silent(Some(Doubt::ByAge)),
        what => what.clone(),
    };
    Diagnosis { names, named_hosts: lost.iter().filter(|lost| lost.is_host).count(), ..about(what, lost) }
}

fn kind_hangs(hung: &Hung<'_>) -> Diagnosis {
    let hosts = hung.hosts.len() as u64;
    let tally = Tally::of(hung.parts.iter().map(|part| &part.tally));
    Diagnosis {
        host: hung.hosts.first().filter(|_| hosts == 1).map(|host| (*host).to_owned()),
        since: tally.first_claim,
        until: tally.last_claim,
        hosts: (hosts > 0).then_some(hosts),
        owners: Some(hung.owners.len() as u64),
        ..of_parts(DiagnosisKind::Hangs(hung.lacks_signs.then_some(Doubt::NoSignOfLife)), &hung.parts)
    }
}

/// Several jobs that hang on one owner.
fn owner_hangs(name: &str, owner: &Holder, parts: &[&Part]) -> Diagnosis {
    let tally = Tally::of(parts.iter().map(|part| &part.tally));
    let doubt = (!owner.has_signs).then_some(Doubt::NoSignOfLife);
    Diagnosis {
        host: owner.host.clone(),
        owner: Some(name.to_owned()),
        since: tally.first_claim,
        until: tally.last_claim,
        hosts: owner.host.as_ref().map(|_| 1),
        owners: Some(1),
        claims: owner.claims.max(tally.jobs),
        ..of_parts(DiagnosisKind::Hangs(doubt), parts)
    }
}

/// A diagnosis about these holders: `since` and `until` are the first and the last of their newest signs of life, or of all
/// times at which interrupted jobs failed.
fn about(what: DiagnosisKind, lost: &[Lost<'_>]) -> Diagnosis {
    let signs = || lost.iter().map(|lost| lost.tally.newest);
    let hosts: BTreeSet<&str> = lost
        .iter()
        .filter_map(|lost| if lost.is_host { Some(lost.name) } else { lost.holder.host.as_deref() })
        .collect();
    let only = lost.first().filter(|_| lost.len() == 1);
    let parts: Vec<&Part> = lost.iter().flat_map(|lost| &lost.holder.parts).collect();
    let is_interrupted = what == DiagnosisKind::Interrupted;
    let of_jobs = of_parts(what, &parts);
    Diagnosis {
        host: hosts.first().filter(|_| hosts.len() == 1).map(|host| (*host).to_owned()),
        owner: only.filter(|lost| !lost.is_host).map(|lost| lost.name.to_owned()),
        since: if is_interrupted { of_jobs.since } else { signs().fold(None, Timestamp::oldest) },
        until: signs().fold(None, Timestamp::newest),
        hosts: (!hosts.is_empty()).then_some(hosts.len() as u64),
        owners: Some(lost.iter().map(|lost| if lost.is_host { lost.holder.owners } else { 1 }).sum()),
        ..of_jobs
    }
}

/// A diagnosis about these parts of what is held.
fn of_parts(what: DiagnosisKind, parts: &[&Part]) -> Diagnosis {
    Diagnosis {
        kind: one_kind(parts).map(str::to_owned),
        queues: queues(parts.iter().map(|part| (part.queue.as_deref(), part.tally.jobs))),
        groups: parts.iter().flat_map(|part| &part.groups).copied().collect(),
        ..of_jobs(what, &Tally::of(parts.iter().map(|part| &part.tally)))
    }
}

/// A diagnosis about jobs of which only the count and the signs of life are known.
pub fn of_jobs(what: DiagnosisKind, tally: &Tally) -> Diagnosis {
    Diagnosis {
        what,
        since: tally.oldest,
        until: tally.newest,
        jobs: tally.jobs,
        would: Some(tally.would).filter(|would| *would != PlannedActions::default()),
        alike: !tally.are_mixed,
        ..Diagnosis::default()
    }
}

/// The kind of all of them, if it is one.
fn one_kind<'e>(parts: &[&'e Part]) -> Option<&'e str> {
    let (first, rest) = parts.split_first()?;
    first.kind.as_deref().filter(|kind| rest.iter().all(|part| part.kind.as_deref() == Some(kind)))
}

/// How many jobs are in which queue, most first.
pub fn queues<'e>(all: impl Iterator<Item = (Option<&'e str>, u64)>) -> Vec<(Option<String>, u64)> {
    let mut sums: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    all.for_each(|(queue, jobs)| *sums.entry(queue).or_default() += jobs);
    let mut sums: Vec<(Option<String>, u64)> =
        sums.into_iter().map(|(queue, jobs)| (queue.map(str::to_owned), jobs)).collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sums
}

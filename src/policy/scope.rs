use super::live_owners::Living;
use crate::model::{Claim, Owner};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// A list of glob patterns: empty lets everything through, otherwise one must match.
#[derive(Debug, Clone, Default)]
pub struct Globs {
    patterns: Vec<String>,
    set: GlobSet,
}

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScopeError(pub String);

impl Globs {
    /// Reads patterns: `*`, `?`, `[...]` and `{a,b}`; case counts.
    ///
    /// # Errors
    /// When one of them is malformed.
    pub fn new(patterns: &[String]) -> Result<Globs, ScopeError> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let glob = GlobBuilder::new(pattern)
                .literal_separator(false)
                .build()
                .map_err(|error| ScopeError(format!("the pattern `{pattern}` cannot be read: {}", error.kind())))?;
            set.add(glob);
        }
        let set = set.build().map_err(|error| ScopeError(error.to_string()))?;
        Ok(Globs { patterns: patterns.to_vec(), set })
    }

    /// The patterns as they were given.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Each pattern with a matcher of its own.
    pub fn single(&self) -> impl Iterator<Item = (&str, Globs)> {
        let alone = |pattern: &String| Globs::new(std::slice::from_ref(pattern)).ok();
        self.patterns.iter().filter_map(move |pattern| Some((pattern.as_str(), alone(pattern)?)))
    }

    /// True if some pattern lets names through that nobody has, as `?*` and `*-1` do: it was not written for certain owners, so
    /// the brake judges such a scope. It covers what it matches, and nothing else.
    pub fn admit_anybody(&self) -> bool {
        const NOBODY: [&str; 5] = ["x7q", "x7q:1", "x7q@y8r", "x7q-y8r-1", "x7q/y8r.z"];
        NOBODY.iter().any(|name| self.set.is_match(name))
    }

    /// True if nothing was asked, or the value matches. A value that is not there matches no pattern.
    pub fn admits(&self, value: Option<&str>) -> bool {
        self.patterns.is_empty() || value.is_some_and(|value| self.set.is_match(value))
    }
}

/// Which owners a restart sweep calls dead.
#[derive(Debug, Clone)]
pub enum RestartScope {
    /// All of them, and claims that name none.
    AllOwners,
    /// Those whose id or name matches.
    Owners(Globs),
    /// Those on these hosts: named like it, or carrying it as a whole host.
    Hosts(Vec<String>),
    /// Those that are not on a list of living owners.
    NotListed(Living),
}

impl RestartScope {
    /// True if it names certain owners: then who says that they are dead is not contradicted by how many they are.
    pub fn is_of_certain_owners(&self) -> bool {
        match self {
            RestartScope::AllOwners => false,
            RestartScope::Owners(globs) => !globs.admit_anybody(),
            _ => true,
        }
    }

    /// Each owner, pattern or host that it names, with a scope of its own. A live-owner list names no dead owner.
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

    /// True if the claim's owner is in the scope.
    pub fn covers(&self, claim: &Claim) -> bool {
        self.covers_owner(claim.owner.as_ref())
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

/// True if the owner is, or is on, one of these hosts, spelled as the host does or as its queue does. Names match whole: `web1`
/// is not `web10`.
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

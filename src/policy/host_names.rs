//! Host names as libraries and orchestrators write them, and which of them may mean the same host.

use std::net::IpAddr;

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

//! Looking jobs up again by the very keys that a snapshot handed out.

use crate::support::doctor::{built_in, fitted, look, scan};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::{delete, insert, set};
use crate::support::labs::as_in_memory;
use crate::support::tables::JOBS;
use jobdoctor::model::Key;
use jobdoctor::store::Wanted;

#[test]
fn each_key_gives_its_row_as_it_is_by_now() {
    as_in_memory(|lab| {
        lab.create(&[JOBS]);
        for id in [1, 2, 3, -4] {
            lab.edit(&[insert("jobs", &[("id", Int(id)), ("status", Text("RUNNING")), ("heartbeat_at", Ago(1))])]);
        }
        let (store, spec) = fitted(lab, &built_in("lease"));
        let keys: Vec<Key> = scan(&*store, &spec, &Wanted::All).into_iter().map(|claim| claim.key).collect();
        assert_eq!(keys.len(), 4, "{}", lab.name());
        lab.edit(&[set("jobs", ("id", Int(2)), &[("status", Text("SUCCEEDED"))]), delete("jobs", ("id", Int(3)))]);
        let found = |keys: &[Key]| {
            let found = look(&*store).find_keys(&spec, keys).unwrap_or_else(|error| panic!("{error}"));
            assert!(found.iter().all(|(claim, _)| keys.contains(&claim.key)), "{}", lab.name());
            let mut lines: Vec<String> =
                found.iter().map(|(claim, flies)| format!("{} {} {flies}", claim.key, claim.state)).collect();
            lines.sort();
            lines
        };
        assert_eq!(found(&keys), ["-4 RUNNING true", "1 RUNNING true", "2 SUCCEEDED false"], "{}", lab.name());
        assert_eq!(found(&keys[..1]).len() + found(&keys[1..]).len(), 3, "{}", lab.name());
        (found(&keys), found(&[]))
    });
}

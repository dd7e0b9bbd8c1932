//! Mutants of emitted scripts: one that leaves out a comparison moves a job in some scene in which another session was first.

use super::by_hand::{played_by_hand, scenes};
use super::database::Databases;
use super::newest;
use crate::support::dice::one_in;
use std::cell::RefCell;

type Edit = fn(&str) -> String;

/// What a script compares, and how to make it compare nothing.
const COMPARISONS: [(&str, Edit); 5] = [
    ("the precondition", |script| script.replace("= w.precondition", "<> ''")),
    ("the skip conditions", |script| {
        let (before, action) = script.split_at(script.find("-- the action").unwrap_or_default());
        before.replace(") IS NOT TRUE", ") IN (true, false) IS NOT FALSE") + action
    }),
    ("the guard", |script| without_deletes(script, "jobdoctor_guarded")),
    ("the owners' rows", |script| without_deletes(script, "jobdoctor_owners")),
    ("owners about to appear", |script| without_deletes(script, "owner_is_absent AND")),
];

/// The script without the statements that drop jobs by what such a text tells of.
fn without_deletes(script: &str, by: &str) -> String {
    const DELETE: &str = "DELETE FROM pg_temp.jobdoctor_steps";
    let mut parts = script.split(DELETE);
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (statement, after) = part.split_once(";\n").unwrap();
        if statement.contains(by) {
            text += after;
        } else {
            text += &format!("{DELETE}{part}");
        }
    }
    text
}

#[test]
fn each_comparison_of_a_script_matters_to_some_scene() {
    let stages = newest();
    let contested =
        stages.iter().flat_map(scenes).filter(|(_, scene)| !(scene.meanwhile.is_empty() && scene.others.is_empty()));
    let (mut databases, mut unnoticed) = (Databases::default(), one_in(2, COMPARISONS.to_vec()));
    for (stage, scene) in contested {
        if unnoticed.is_empty() {
            break;
        }
        // What a script changes, and whether the shell came to its end.
        let mut run = |edit: &dyn Fn(String) -> String| {
            let played = played_by_hand(&mut databases, stage, scene, edit);
            played.unwrap_or_else(|error| panic!("{stage}, scene {}: {error}", scene.name))
        };
        let emitted = RefCell::new(String::new());
        let (as_emitted, _) = run(&|script| {
            emitted.replace(script.clone());
            script
        });
        unnoticed.retain(|(_, edit)| {
            // Most scripts have no need of most comparisons.
            edit(&emitted.borrow()) == *emitted.borrow() || {
                let (changes, failed) = run(&|script| edit(&script));
                failed.is_some() || changes == as_emitted
            }
        });
    }
    let unnoticed: Vec<&str> = unnoticed.iter().map(|(what, _)| *what).collect();
    assert!(
        unnoticed.is_empty(),
        "no scene moves another job where a script does not compare {}",
        unnoticed.join(", ")
    );
}

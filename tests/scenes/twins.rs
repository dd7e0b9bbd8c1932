//! Broken twins: each preset with one thing less in what it does to a job (a column, a statement, a hold, the guard, a
//! wake-up) must end some scene differently. Otherwise nobody would notice if it were missing.

use super::as_new::AsNew;
use super::{Stage, name, play, stages};
use jobdoctor::spec::Preset;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use toml::{Table, Value};

/// Twins that no scene can tell from the preset, and why.
const THE_SAME: [(&str, &str, &str); 2] = [
    (
        "pg-boss",
        "move.requeue.clear.0",
        "an active job has no completed_on: its fetch empties it, and so does its retry",
    ),
    ("river", "move.requeue.clear.0", "a CHECK sees to it that a running job has no finalized_at"),
];

/// A preset with one thing less.
struct Twin {
    queue: String,
    lacks: String,
    text: String,
}

#[test]
fn every_part_of_a_move_matters_to_some_scene() {
    let stages = stages();
    let twins: Vec<Twin> = queues(&stages).iter().flat_map(|queue| twins(queue)).collect();
    let (next, unnoticed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let mut tables = AsNew::new();
        while let Some(twin) = twins.get(next.fetch_add(1, Ordering::SeqCst)) {
            let of_queue = || stages.iter().filter(|stage| stage.queue == twin.queue);
            let mut is_same = || of_queue().all(|stage| play::ends_as_written(&mut tables, stage, &twin.text));
            if !is_same_by_nature(twin) && is_same() {
                unnoticed.lock().unwrap().push(format!("{}: without {}", twin.queue, twin.lacks));
            }
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let unnoticed = unnoticed.into_inner().unwrap();
    assert!(unnoticed.is_empty(), "no scene ends differently:\n{}", unnoticed.join("\n"));
    assert!(twins.len() >= 90, "only {} twins", twins.len());
}

fn is_same_by_nature(twin: &Twin) -> bool {
    THE_SAME.iter().any(|(queue, lacks, _)| *queue == twin.queue && *lacks == twin.lacks)
}

fn queues(stages: &[Stage]) -> Vec<String> {
    let mut queues: Vec<String> = stages.iter().map(|stage| stage.queue.clone()).collect();
    queues.dedup();
    queues
}

fn twins(queue: &str) -> Vec<Twin> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/spec/presets/{queue}.toml"));
    let whole: Table = fs::read_to_string(&path).unwrap().parse().unwrap();
    let mut places = Vec::new();
    parts(&Value::Table(whole.clone()), &mut Vec::new(), &mut places);
    let twin = |place: &Vec<String>| {
        let mut table = Value::Table(whole.clone());
        remove(&mut table, place);
        let text = toml::to_string(&table).unwrap();
        // One that cannot be read or resolved is noticed already.
        let is_read = Preset::parse("twin", &name(&path), &text).is_ok();
        is_read.then(|| Twin { queue: queue.to_owned(), lacks: place.join("."), text })
    };
    places.iter().filter_map(twin).collect()
}

/// The places of everything whose absence should be noticed.
fn parts(value: &Value, path: &mut Vec<String>, places: &mut Vec<Vec<String>>) {
    let within = |word: &str| path.iter().any(|part| part == word);
    let last = path.last().map_or("", String::as_str);
    let is_part = match last {
        "attempts" => within("move"),
        "guard" => true,
        _ => {
            let parent = path.len().checked_sub(2).and_then(|n| path.get(n)).map_or("", String::as_str);
            ["clear", "stamp", "set", "step"].contains(&parent) && within("move")
                || ["hold", "notify", "rules"].contains(&parent)
        }
    };
    if is_part {
        places.push(path.clone());
    }
    match value {
        Value::Table(entries) => {
            for (key, value) in entries {
                path.push(key.clone());
                parts(value, path, places);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (n, value) in items.iter().enumerate() {
                path.push(n.to_string());
                parts(value, path, places);
                path.pop();
            }
        }
        _ => {}
    }
}

fn remove(value: &mut Value, path: &[String]) {
    let [first, rest @ ..] = path else { return };
    match value {
        Value::Table(entries) if rest.is_empty() && first == "guard" => {
            // Nobody may leave it out; one that always says yes is none.
            entries.insert(first.clone(), Value::String("true".to_owned()));
        }
        Value::Table(entries) if rest.is_empty() => drop(entries.remove(first)),
        Value::Table(entries) => {
            if let Some(inner) = entries.get_mut(first) {
                remove(inner, rest);
            }
        }
        Value::Array(items) => {
            let Ok(n) = first.parse::<usize>() else { return };
            if rest.is_empty() {
                items.remove(n);
            } else if let Some(inner) = items.get_mut(n) {
                remove(inner, rest);
            }
        }
        _ => {}
    }
}

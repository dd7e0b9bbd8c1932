//! Mutants: each preset with one thing less in what it does to a job (a column, a statement, a condition in one, a column of its
//! precondition, a skip, the guard, a wake-up) must end some scene differently. Otherwise nobody would notice if it were missing.

use super::database::{Databases, nothing_is_wrong};
use super::{Stage, name, newest, play, preconditions, stages, waiting};
use crate::support::dice::one_in;
use jobdoctor::preset::Preset;
use std::cmp::Reverse;
use std::fs;
use std::ops::Range;
use std::path::Path;
use toml::{Table, Value};

/// Mutants that no scene can tell from the preset, and why.
const THE_SAME: [(&str, &str, &str); 28] = [
    ("graphile-worker", "waiting.where: j.is_available", "`is` says the same, and this is what the index asks for"),
    (
        "pg-boss",
        "action.requeue.clear.0",
        "an active job has no completed_on: its fetch empties it, and so does its retry",
    ),
    ("river", "action.requeue.clear.0", "a CHECK sees to it that a running job has no finalized_at"),
    (
        "river",
        "interrupted.skip.again.if.sqlite: k.id > j.id",
        "a later time of creation says the same, and the key is what an index leads to",
    ),
    (
        "river",
        "interrupted.skip.owner_lives.if: {sql.client} IN (SELECT {sql.other_client} FROM {sql.ended_last} AS k)",
        "the other condition says the same, and is asked for each job",
    ),
    ("pg-boss", "interrupted.skip.again.if: i.state = 'failed'", "no other job is asked about"),
    ("chancy", "interrupted.skip.again.if: i.state = 'failed'", "no other job is asked about"),
    ("oban", "interrupted.skip.again.if.postgres: i.state = 'discarded'", "no other job is asked about"),
    ("good-job", "interrupted.skip.again.if: i.error_event = 0", "no other job is asked about"),
    ("river", "sql.ended_last: n.state = 'completed'", "the states of jobs that have ended differ in the index alone"),
    ("river", "interrupted.skip.again.if.postgres: k.args @> j.args", "equal arguments say the same, without an index"),
    (
        "river",
        "sql.ended_last: n.finalized_at IS NOT NULL",
        "a CHECK sees to it that a completed job has one; the index asks for it",
    ),
    (
        "river",
        "interrupted.skip.owner_lives.if: k.state = 'running'",
        "an index leads to the running jobs; without it all are read, for the same answer",
    ),
    ("good-job", "sql.held_keys: l.locktype = 'advisory'", "no other lock has the objsubid 1"),
    ("que", "claim.from: l.locktype = 'advisory'", "no other lock has the objsubid 1"),
    (
        "good-job",
        "waiting.is: j.locked_by_id IS NULL",
        "what is held is in flight and does not wait; an index asks for it",
    ),
    ("good-job", "waiting.held: l.granted", "the library tries such a lock and never waits for it"),
    ("pg-boss", "sql.open: b.policy = 'singleton'", "the jobs of a queue have its policy; an index asks for it"),
    ("pg-boss", "sql.open: b.policy = 'stately'", "the jobs of a queue have its policy; an index asks for it"),
    ("pg-boss", "sql.open: b.policy = 'key_strict_fifo'", "the jobs of a queue have its policy; an index asks for it"),
    ("pg-boss", "sql.turn: b.policy = 'singleton'", "the jobs of a queue have its policy; an index asks for it"),
    ("pg-boss", "sql.turn: b.policy = 'stately'", "the jobs of a queue have its policy; an index asks for it"),
    ("pg-boss", "sql.turn: b.policy = 'key_strict_fifo'", "the jobs of a queue have its policy; an index asks for it"),
    ("que", "waiting.held: l.granted", "the library tries such a lock and never waits for it"),
    (
        "quartz",
        "action.requeue.step.0.sql: ({sql.alone} OR {sql.silent})",
        "for a node that fires between the skips and the lock on TRIGGER_ACCESS, which is taken after them",
    ),
    (
        "quartz",
        "action.requeue.step.2.sql: NOT EXISTS (SELECT 1 FROM {fired} AS e WHERE {sql.holds})",
        "for a node that fires between the skips and the lock on TRIGGER_ACCESS, which is taken after them",
    ),
    (
        "quartz",
        "skip.several_nodes.if: NOT {sql.alone}",
        "only a live-owner list or a restart sweep calls a node dead that is not silent: see missing_rows",
    ),
    (
        "quartz",
        "sql.holds: (e.trigger_name, e.trigger_group) = (j.trigger_name, j.trigger_group)",
        "the fired row of an acquired trigger names no job",
    ),
];

struct Mutant {
    queue: String,
    lacks: String,
    /// The words of what is gone: an end that tells of them is likely to be another one.
    words: Vec<String>,
    text: String,
}

#[test]
fn parts_of_actions_matter_to_some_scene() {
    let stages = stages();
    let mutants = all(&stages);
    let of_preconditions = mutants.iter().filter(|mutant| mutant.lacks.contains("precondition")).count();
    assert!(mutants.len() >= 150 && of_preconditions >= 15, "only {} mutants", mutants.len());
    matter(&stages, &one_in(12, mutants));
}

fn all(stages: &[Stage]) -> Vec<Mutant> {
    queues(stages).iter().flat_map(|queue| mutants(queue)).collect()
}

fn matter(stages: &[Stage], mutants: &[Mutant]) {
    nothing_is_wrong(mutants, |databases, mutant| {
        let said = match (ends_as_written(databases, stages, mutant), is_same_by_nature(mutant)) {
            (true, false) => "no scene ends differently",
            (false, true) => "a scene ends differently",
            (true, true) | (false, false) => return None,
        };
        Some(format!("{} without {}: {said}", mutant.queue, mutant.lacks))
    });
}

/// True if every scene of the queue does. Those come first whose end tells of what is gone.
fn ends_as_written(databases: &mut Databases, stages: &[Stage], mutant: &Mutant) -> bool {
    let catalog = play::catalog_of(&mutant.queue, &mutant.text);
    let of_queue = stages.iter().filter(|stage| stage.queue == mutant.queue);
    let mut ends: Vec<_> = of_queue.flat_map(play::written).collect();
    ends.sort_by_key(|end| Reverse(mutant.words.iter().filter(|word| end.told.contains(*word)).count()));
    let is_newest = |stage: &&Stage| stage.queue == mutant.queue;
    ends.iter().all(|end| end.is_reached(databases, &catalog))
        && newest().iter().filter(is_newest).all(|stage| waiting::is_as_told(databases, stage, &catalog))
        && newest()
            .iter()
            .filter(|stage| stage.queue == mutant.queue)
            .all(|stage| preconditions::unprotected(databases, stage, &catalog).is_empty())
}

fn is_same_by_nature(mutant: &Mutant) -> bool {
    THE_SAME.iter().any(|(queue, lacks, _)| *queue == mutant.queue && *lacks == mutant.lacks)
}

fn queues(stages: &[Stage]) -> Vec<String> {
    let mut queues: Vec<String> = stages.iter().map(|stage| stage.queue.clone()).collect();
    queues.dedup();
    queues
}

fn mutants(queue: &str) -> Vec<Mutant> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/preset/presets/{queue}.toml"));
    let text = fs::read_to_string(&path).unwrap();
    let whole: Table = text.parse().unwrap();
    let mut places = Vec::new();
    parts(&Value::Table(whole.clone()), &mut Vec::new(), &mut places);
    let mutant = |lacks: String, gone: &str, table: &Value| {
        let text = toml::to_string(table).unwrap();
        let words = gone.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words = words.filter(|word| word.len() > 3).map(str::to_owned).collect();
        // One that cannot be read or resolved is noticed already.
        let is_read = Preset::parse("mutant", &name(&path), &text).is_ok();
        is_read.then(|| Mutant { queue: queue.to_owned(), lacks, words, text })
    };
    let lock = text.find(" FOR SHARE OF ").and_then(|at| text.get(at..at + " FOR SHARE OF x".len()));
    let without_lock = lock.map(|lock| Mutant {
        queue: queue.to_owned(),
        lacks: lock.to_owned(),
        words: vec!["locked".to_owned()],
        text: text.replace(lock, ""),
    });
    let less_by_a_part = |place: &Vec<String>| {
        let mut table = Value::Table(whole.clone());
        let gone = remove(&mut table, place).map(|value| value.to_string()).unwrap_or_default();
        mutant(place.join("."), &format!("{gone} {}", place.last()?), &table)
    };
    let less_by_a_condition = |(place, sql, condition): (Vec<String>, String, String)| {
        let mut table = Value::Table(whole.clone());
        *at(&mut table, &place)? = Value::String(sql);
        mutant(format!("{}: {condition}", place.join(".")), &condition, &table)
    };
    let mut texts = Vec::new();
    texts_of_actions(&Value::Table(whole.clone()), &mut Vec::new(), &mut texts);
    let conditions = texts.into_iter().flat_map(|(place, sql)| {
        without_one_condition(&sql).into_iter().map(move |(sql, condition)| (place.clone(), sql, condition))
    });
    let less = places.iter().filter_map(less_by_a_part).chain(conditions.filter_map(less_by_a_condition));
    less.chain(without_lock).collect()
}

/// Keys whose texts no action needs: what they count, show or tell apart is tried elsewhere.
const OF_NO_ACTION: [&str; 8] = ["finished", "show", "check", "when", "detect", "advice", "command", "ended"];

/// The texts in a preset that decide what becomes of a job, with their places.
fn texts_of_actions(value: &Value, path: &mut Vec<String>, texts: &mut Vec<(Vec<String>, String)>) {
    let mut within = |key: String, value: &Value| {
        path.push(key);
        texts_of_actions(value, path, texts);
        path.pop();
    };
    match value {
        Value::Table(entries) => {
            let entries = entries.iter().filter(|(key, _)| !OF_NO_ACTION.contains(&key.as_str()));
            entries.for_each(|(key, value)| within(key.clone(), value));
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(n, value)| within(n.to_string(), value)),
        Value::String(text) => texts.push((path.clone(), text.clone())),
        _ => {}
    }
}

/// The words between which a condition stands; so do brackets.
const WORDS: [&str; 12] = [
    " AND ", " OR ", " WHERE ", " ON ", " WHEN ", " THEN ", " ELSE ", " LEFT ", " ORDER ", " GROUP ", " LIMIT ",
    " FOR ",
];

/// The SQL text without each of the conditions that AND joins, and that condition.
fn without_one_condition(sql: &str) -> Vec<(String, String)> {
    let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let without = |cut: Range<usize>, condition: Range<usize>| {
        (format!("{}{}", &sql[..cut.start], &sql[cut.end..]), sql[condition].to_owned())
    };
    let ands = sql.match_indices(" AND ").filter(|(at, _)| !sql[..*at].contains("BETWEEN"));
    let conditions = ands.flat_map(|(at, and)| {
        let next = at + and.len();
        let (begin, end) = (begin_of_condition(&sql[..at]), next + length_of_condition(&sql[next..]));
        let is_first = !sql[..begin].ends_with(" AND ");
        is_first.then(|| without(begin..next, begin..at)).into_iter().chain([without(at..end, next..end)])
    });
    conditions.collect()
}

fn deeper(text: &str) -> i32 {
    i32::from(text.starts_with('(') || text.starts_with("CASE "))
        - i32::from(text.starts_with(')') || text.starts_with(" END"))
}

fn begin_of_condition(text: &str) -> usize {
    let mut depth = 0_i32;
    for (at, _) in text.char_indices().rev() {
        depth -= deeper(&text[at..]);
        let is_word = depth == 0 && WORDS.iter().any(|word| text[..=at].ends_with(word));
        if depth < 0 || is_word {
            return at + 1;
        }
    }
    0
}

fn length_of_condition(text: &str) -> usize {
    let mut depth = 0_i32;
    for (at, _) in text.char_indices() {
        depth += deeper(&text[at..]);
        if depth < 0 || depth == 0 && WORDS.iter().any(|word| text[at..].starts_with(word)) {
            return at;
        }
    }
    text.len()
}

fn at<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    match path {
        [] => Some(value),
        [first, rest @ ..] => match value {
            Value::Table(entries) => at(entries.get_mut(first)?, rest),
            Value::Array(items) => at(items.get_mut(first.parse::<usize>().ok()?)?, rest),
            _ => None,
        },
    }
}

/// The places of everything whose absence should be noticed.
fn parts(value: &Value, path: &mut Vec<String>, places: &mut Vec<Vec<String>>) {
    let within = |word: &str| path.iter().any(|part| part == word);
    let last = path.last().map_or("", String::as_str);
    let is_part = match last {
        "attempts" => within("action"),
        "guard" => true,
        // A reason, which is printed and changes nothing.
        "why" => false,
        _ => {
            let parent = path.len().checked_sub(2).and_then(|n| path.get(n)).map_or("", String::as_str);
            ["clear", "stamp", "set", "step"].contains(&parent) && within("action")
                || parent == "precondition"
                || ["skip", "notify", "rules"].contains(&parent)
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

fn remove(value: &mut Value, path: &[String]) -> Option<Value> {
    let [first, rest @ ..] = path else { return None };
    match value {
        Value::Table(entries) if rest.is_empty() && first == "guard" => {
            // Nobody may leave it out; one that always says yes is none.
            entries.insert(first.clone(), Value::String("true".to_owned()))
        }
        Value::Table(entries) if rest.is_empty() => entries.remove(first),
        Value::Table(entries) => remove(entries.get_mut(first)?, rest),
        Value::Array(items) => {
            let n = first.parse::<usize>().ok()?;
            if rest.is_empty() { Some(items.remove(n)) } else { remove(items.get_mut(n)?, rest) }
        }
        _ => None,
    }
}

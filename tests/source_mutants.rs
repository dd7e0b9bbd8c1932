//! Mutants of the source: each conclusion of `adopt` with one that concludes too much (any row instead of all, the newest
//! instead of each, a name instead of rows), and each shortcut with one that cuts too short. By night each is built, and
//! its tests must notice it.

use std::fs;
use std::path::Path;
use std::process::Command;

/// What it gets wrong, the file, and what becomes of which text.
type Mutant = (&'static str, &'static str, &'static str, &'static str);

/// Which tests must notice which mutants of the files below which folder.
const GROUPS: [(&str, &str, &[Mutant]); 19] = [
    ("adopt::", "src/ops/adopt", &OF_ADOPT),
    ("conformance::", "src/store", &OF_STORE),
    ("preset::catalog", "", &OF_PRESETS),
    ("plans::passes", "src/ops", &OF_PASSES),
    ("diagnoses::due", "src", &OF_WAITING),
    ("diagnoses::", "src", &OF_CAUSES),
    ("interrupted::", "src", &OF_INTERRUPTED),
    ("extends::", "src", &OF_EXTENDS),
    ("cron::best_effort", "src/cli", &OF_HOOKS),
    ("journal::", "src", &OF_RECORDS),
    ("cron::on_run", "src/cli/commands/pass", &OF_TELLING),
    ("metrics::", "src", &OF_METRICS),
    ("property::zones", "src", &OF_ZONES),
    ("liveness_evidence::absent", "src", &OF_ABSENCE),
    ("cli::leads", "src", &OF_LEADING),
    ("liveness_evidence::veto", "src", &OF_VETO),
    ("journal::databases", "src", &OF_FILES),
    ("liveness_evidence::confirm", "src/ops", &OF_CONFIRMING),
    ("cli::refused", "src", &OF_REFUSALS),
];

/// A judge that hears no veto, and a writer that asks it once.
const OF_VETO: [Mutant; 3] = [
    (
        "nobody speaks for it",
        "policy/judge/liveness.rs",
        "Some(veto)) if claim.vetoed",
        "Some(veto)) if claim.vetoed && claim.signs.len() > 99",
    ),
    ("a beat after the look", "preset/resolve/claim.rs", ".chain(claim.veto.iter().map(|veto| &veto.fresh))", ""),
    (
        "writers are not asked for",
        "store/batch/verify.rs",
        "Some(true) if is_written =>",
        "Some(true) if is_written && results.is_empty() =>",
    ),
];

/// A second snapshot that confirms claims alone.
const OF_CONFIRMING: [Mutant; 1] =
    [("only the first part", "confirm.rs", "second.parts.iter_mut().zip(", "second.parts.iter_mut().take(1).zip(")];

/// Fails of jobs that no other one stands in the way of, and a plan that does not tell of them.
const OF_REFUSALS: [Mutant; 2] = [
    (
        "whoever holds the key",
        "ops/apply.rs",
        "let is_held = held.iter().any(",
        "let is_held = true || held.iter().any(",
    ),
    (
        "a digest of requeues",
        "policy/unchanged.rs",
        "if step.fails_if_refused()",
        "if step.fails_if_refused() && false",
    ),
];

/// Records of a path.
const OF_FILES: [Mutant; 1] = [(
    "any file at the path",
    "model/engine.rs",
    "is_some_and(|(then, now)| then != now)",
    "is_some_and(|(then, now)| then.is_empty() != now.is_empty())",
)];

/// An action that is not asked where it leads, before or after.
const OF_LEADING: [Mutant; 5] = [
    ("a plan does not ask", "ops/plan/drafts.rs", "claim.astray.contains(&step.action)", "claim.astray.len() > 9"),
    (
        "any place will do",
        "store/sql/left.rs",
        "waits.map(|waits| format!(\"(({waits}) IS NOT TRUE)\"))",
        "waits.filter(|_| false)",
    ),
    (
        "what is gone waits",
        "store/batch/execute.rs",
        "if moved.requeues {",
        "if moved.requeues && moved.steps.is_empty() {",
    ),
    ("check asks only rows that are there", "store/explain.rs", "(!is_made_up || astray == asked)", "!is_made_up"),
    (
        "what is in flight is due",
        "preset/resolve/waiting.rs",
        "(?) AND (?) IS NOT TRUE",
        "(?) AND ((?) IS NOT TRUE OR true)",
    ),
];

/// A judge that concludes a zone, and what keeps a living worker alive in each.
const OF_ZONES: [Mutant; 6] = [
    ("UTC is believed", "preset/queue/utc.rs", "Said::ByNobody => true,", "Said::ByNobody => false,"),
    ("zones differ by hours", "preset/queue/utc.rs", "Duration::from_secs(900)", "Duration::from_secs(3600)"),
    (
        "no zone is so far west",
        "preset/queue/utc.rs",
        "Duration::from_secs(12 * 3600)",
        "Duration::from_secs(10 * 3600)",
    ),
    (
        "a lease cannot lie ahead",
        "preset/queue/utc.rs",
        "Liveness::Lease { .. }) { latest_end }",
        "Liveness::Lease { .. }) { latest_past }",
    ),
    (
        "clocks are right",
        "preset/queue/utc.rs",
        "Some(latest.plus(FUTURE_TOLERANCE))",
        "Some(latest.plus(Duration::ZERO))",
    ),
    (
        "a deadline is believed",
        "preset/queue/utc.rs",
        "later(self.rules.deadline.as_ref(), latest_end, &mut claim.deadline);",
        "",
    ),
];

/// An absence that is death at once, and other claims of the owner that count for nothing.
const OF_ABSENCE: [Mutant; 3] = [
    (
        "a missing row is death at once",
        "policy/judge/liveness.rs",
        "(Absence::Dead, Some(allowed)) => self.after_silence(rule, what, sign, allowed),",
        "(Absence::Dead, Some(_)) => self.unless_younger(rule, what, sign),",
    ),
    (
        "other claims say nothing",
        "policy/judge/liveness.rs",
        "let sign = Timestamp::newest(self.last_seen_at, seen.at());",
        "let sign = self.last_seen_at.filter(|_| seen != &Reading::Absent || true);",
    ),
    (
        "a claim outshines a silent owner",
        "policy/judge/liveness.rs",
        "&& claimed.is_after(beat.plus(allowed.span), Clocks::Two)",
        "&& claimed.is_after(self.now, Clocks::Two)",
    ),
];

/// A counter that forgets, counts for another target, or grows without end; and an owner that was not asked about.
const OF_METRICS: [Mutant; 3] = [
    (
        "the counter begins anew",
        "output/metrics.rs",
        "let mut totals = self.totals.clone();",
        "let mut totals = Totals::new();",
    ),
    (
        "another target's counts",
        "cli/monitor/metrics.rs",
        "previous.target.as_deref() == Some(target)",
        "previous.target.is_some() || target.is_empty()",
    ),
    ("owners that were not asked about", "ops/health.rs", "*is_counted |= is_selected;", "*is_counted |= true;"),
];

/// A program of `on_run` that is told too much, or too often, and what it leaves behind.
const OF_TELLING: [Mutant; 5] = [
    ("a hook waits for it", "on_run.rs", " || (context.interrupt.is_raised() && !was_raised)", ""),
    ("it inherits descriptors", "on_run.rs", "set_fds_cloexec_threadsafe(3, &[]);", ""),
    ("it sees the environment", "on_run.rs", ".env_clear()", ""),
    ("its children stay", "on_run.rs", "let _ = kill_process_group(pid, Signal::KILL);", "let _ = child.kill();"),
    (
        "it hears of plans",
        "mod.rs",
        "if is_news && self.options.act.mode() == Mode::Apply {",
        "if self.options.name != \"\" {",
    ),
];

/// The wrong run for `last`, one that is applied unseen, and texts of the database that Markdown obeys.
const OF_RECORDS: [Mutant; 5] = [
    ("anybody's is the latest", "ops/history/list.rs", ".as_deref() == Some(by)", ".as_deref() != Some(\"\")"),
    ("one that did nothing is the latest", "ops/history/list.rs", "may_have_moved && is_by", "is_by"),
    ("the latest is reverted unseen", "cli/commands/undo.rs", "if args.apply && !args.dry_run {", "if false {"),
    ("backticks end the code", "output/handover.rs", ".repeat(longest + 1)", ".repeat(1)"),
    ("a run's queue is forgotten", "cli/commands/recorded.rs", ".or(place.table)", ""),
];

/// Hooks that keep workers from starting, and mistakes that nobody hears of.
const OF_HOOKS: [Mutant; 4] = [
    ("a mistake is hidden", "best_effort.rs", "Exit::Usage => return exit,", "Exit::Usage => Exit::Usage,"),
    (
        "a signal is hidden",
        "best_effort.rs",
        "caught.signal().is_some() => return exit",
        "caught.signal().is_some() => exit",
    ),
    ("a hang is waited for", "best_effort.rs", "std::process::exit(Exit::Done.code().into());", ""),
    (
        "the work has all the time",
        "commands/sweep/mod.rs",
        ".map(best_effort::working_time)",
        ".map(|longest| longest * 9)",
    ),
];

/// Jobs that come back although they are old, many, somebody's decision or still running; and without end.
const OF_INTERRUPTED: [Mutant; 13] = [
    ("an old one comes back", "policy/plan.rs", "policy.interrupted < Some(*ago)", "policy.interrupted > Some(*ago)"),
    ("all may be lost", "policy/brake.rs", " && jobs * 2 > ended", " && jobs > ended"),
    (
        "any number may be lost",
        "policy/brake.rs",
        "None if jobs > Interrupted::FREE",
        "None if jobs > Interrupted::FREE * 100",
    ),
    ("a sweep needs no bound", "ops/interrupted.rs", "is_retried && max_stalls.is_some()", "is_retried"),
    ("a restart is about all", "cli/commands/sweep/mod.rs", ".interrupted && !args.restart", ".interrupted"),
    (
        "lost jobs hold back claims",
        "ops/plan/parts.rs",
        "is_first && plan.parts.first().is_none_or(|own| own.steps.is_empty())",
        "is_first",
    ),
    (
        "what has no room is not lost",
        "ops/plan/parts.rs",
        "seen.claims(), also.within",
        "part.steps.len() as u64, also.within",
    ),
    ("a decision is a loss", "preset/presets/lease.toml", " AND j.attempts >= j.max_attempts", ""),
    ("a beat of its own is none", "preset/presets/lease.toml", "\"j.heartbeat_at >= j.finished_at OR ", "\""),
    (
        "a deadline is no matter",
        "policy/judge/interrupted.rs",
        "is_after(*deadline, Clocks::One)",
        "is_after(self.now, Clocks::One)",
    ),
    (
        "a cancel is no matter",
        "policy/judge/interrupted.rs",
        "self.claim.cancel_requested.then_some",
        "false.then_some",
    ),
    (
        "a sweep fails them",
        "ops/plan/parts.rs",
        "(selection.with_interrupted, plan.policy.to)",
        "(selection.with_interrupted, plan.policy.to.filter(|_| false))",
    ),
    (
        "a loss is not counted",
        "preset/presets/lease.toml",
        "run_at = \":run_at\", stalls = \"coalesce(j.stalls, 0) + 1\"",
        "run_at = \":run_at\"",
    ),
];

/// Mappings that take away what protects a job.
const OF_EXTENDS: [Mutant; 8] = [
    (
        "what the preset compares is no guard",
        "preset/queue/mod.rs",
        "self.claim.precondition.extend(precondition);",
        "drop(precondition);",
    ),
    (
        "its evidence contradicts nothing",
        "policy/judge/liveness.rs",
        "if n >= jobs.liveness.len() - jobs.kept =>",
        "if n > 99 =>",
    ),
    ("a plan forgets its mapping", "policy/unchanged.rs", "hash.update(mapping);", "let _ = mapping;"),
    (
        "a time is no override",
        "preset/extension.rs",
        "(known.is_empty() && is_time).then_some(0)",
        "(known.is_empty() && !is_time).then_some(0)",
    ),
    (
        "what protects is bent",
        "preset/extension.rs",
        "if STAYS.contains(of) && !known.is_empty()",
        "if STAYS.contains(of) && known.is_empty()",
    ),
    ("one engine's is another key", "preset/extension.rs", "(!is_engine).then(|| key.clone())", "Some(key.clone())"),
    ("the old retry goes on", "preset/extension.rs", "            own.take(\"retry\");\n", ""),
    ("the old steps go on", "preset/extension.rs", "drop(own.take(action))", "drop(action)"),
];

/// Causes that name the wrong one, or say more than is known, and holders of locks that are none.
const OF_CAUSES: [Mutant; 9] = [
    (
        "a multixact is no transaction",
        "store/sql/lock_holders.rs",
        "AS m WHERE m.mode <> 'keysh')",
        "AS m WHERE false)",
    ),
    (
        "any session of the table holds the row",
        "store/sql/lock_holders.rs",
        "AND t.transactionid = k.x",
        "AND t.transactionid IS NOT NULL",
    ),
    ("a lock outlives no savepoint", "store/sql/lock_holders.rs", "(NOT EXISTS (SELECT FROM sure) OR", "(false AND"),
    ("a reader is in the way", "store/sql/lock_holders.rs", "('AccessShareLock', ", "("),
    (
        "an owner's row is locked by nobody",
        "store/sql/lock_holders.rs",
        ".filter(|_| !owners.is_empty())",
        ".filter(|_| false)",
    ),
    ("a document tells what is executed", "model/lock.rs", "#[serde(skip)]", ""),
    ("a job is lost again, and with its host", "policy/diagnosis/find.rs", "|part| !part.again", "|_| true"),
    ("what examples say all say", "output/causes.rs", " && cause.is_none_or(is_known)", ""),
    ("a failed job is an example", "output/causes.rs", "const ODD: usize = 10;", "const ODD: usize = 1;"),
];

/// Shortcuts of the one pass that reads, and of the one look that checks and records.
const OF_STORE: [Mutant; 10] = [
    ("an owner is counted twice", "port.rs", "*claims += 1;", "*claims += 2;"),
    ("only suspects are counted", "reader.rs", "                note(&owner, &queue, &claimed_at);\n", ""),
    ("a page order skips a row", "sql/listing.rs", "GROUP BY 1) AS", "GROUP BY 1 LIMIT -1 OFFSET 1) AS"),
    (
        "a claim is in the state of the next leg",
        "sql/projection.rs",
        "usize::try_from(number - 1)",
        "usize::try_from(number)",
    ),
    (
        "the writes of others are not seen",
        "sqlite/session.rs",
        "Some((known, since)) if known == version",
        "Some((_, since)) if true",
    ),
    ("a row that is still held is moved", "batch/execute.rs", "in_flight += *is_held;", ""),
    ("a row in another state is moved", "batch/execute.rs", "elsewhere += 1 - *is_there;", ""),
    (
        "what returns is true under a trigger",
        "sql/act.rs",
        "WHERE g.tgrelid = c.oid AND NOT g.tgisinternal",
        "WHERE false",
    ),
    ("what returns is true in any collation", "sql/act.rs", "coalesce(o.collisdeterministic, true)", "true"),
    (
        "what returns is in the announced state",
        "batch/execute.rs",
        ".filter(|_| state.to_text() == moved.to.stored.to_text())",
        "",
    ),
];

const OF_PRESETS: [Mutant; 1] =
    [("the tables of variants are not asked for", "build.rs", ".chain([&document])", ".take(0).chain([&document])")];

const OF_PASSES: [Mutant; 5] = [
    ("a pass is planned beside the writer", "apply.rs", "        applying.runner.close();\n", ""),
    (
        "a limit takes any",
        "plan/mod.rs",
        "!is_first && selection.limit.is_none() && selection",
        "!is_first && selection",
    ),
    ("a pass looks no further", "plan/mod.rs", "*claims *= 8", "{ break (drafts, holders) }"),
    ("a pass is content with a few", "plan/mod.rs", "room > most / 2", "room == most"),
    ("a delay takes any", "apply.rs", "(!order.later.is_asked(), Some(later.clone()))", "(true, Some(later.clone()))"),
];

/// All-clears that are none, and alarms without a cause.
const OF_WAITING: [Mutant; 6] = [
    (
        "what could not be read is nothing",
        "output/waiting.rs",
        "self.is_told && !self.unknown.is_empty()",
        "self.unknown.len() > 99",
    ),
    ("what was left out is nothing", "ops/waiting.rs", "if more && (", "if !more && ("),
    ("a text is later than any number", "store/sql/waiting.rs", " OR {column} >= ''", ""),
    ("every job is late", "policy/waiting.rs", "(delay * DELAYS).max(SHORTEST)", "delay"),
    (
        "a claim that cannot be judged is stuck",
        "policy/waiting.rs",
        "self.in_flight > self.stuck",
        "self.in_flight == u64::MAX",
    ),
    (
        "jobs that are taken are not seen",
        "policy/waiting.rs",
        "self.taken.is_some() && !is_long_ago(self.taken)",
        "self.due == 0",
    ),
];

const OF_ADOPT: [Mutant; 16] = [
    ("few rows show", "facts.rs", "ENOUGH.. if all_say_so", "2.. if all_say_so"),
    ("any row in flight holds", "rows.rs", "self.set(column).count() == self.len()", "self.set(column).count() > 0"),
    (
        "any row that waits is free",
        "rows.rs",
        "self.set(column).next().is_none()",
        "self.set(column).count() < self.len()",
    ),
    (
        "the newest of all owners tells the zone",
        "times.rs",
        "newest.values().all(is_near)",
        "newest.values().any(is_near)",
    ),
    (
        "one beat shows a silence",
        "watch.rs",
        "Support::by(steps.is_some(), of.len(), of.len())",
        "Support::by(true, of.len(), of.len())",
    ),
    ("a name outweighs its rows", "shape.rs", "if state.is_held() || state.is_over =>", "if state.is_over =>"),
    ("what can kill is never asked", "keys.rs", "support >= Support::Both", "support >= Support::Name"),
    ("results are the claim's own", "actions.rs", " && !is_kept(&column.name)", ""),
    ("what others have is the claim's own", "actions.rs", "\n            && is_called_as_claims(name);", ";"),
    (
        "an answer is added to",
        "actions.rs",
        "let may_be_called = facts.answers.get(\"action.requeue.clear\").is_none();",
        "let may_be_called = !facts.answers.get(\"action.requeue.clear\").is_some_and(str::is_empty);",
    ),
    (
        "leftovers of failures are the model",
        "mod.rs",
        "let mut fresh = waiting.clone();",
        "let mut fresh = waiting.clone(); if !fresh.is_empty() { return fresh; }",
    ),
    (
        "a time to live is a lease",
        "liveness.rs",
        "facts.waiting.is_empty() || facts.waiting.is_free(&column.name)",
        "!column.name.is_empty()",
    ),
    (
        "the least of retries tells when a run is counted",
        "attempts.rs",
        "(0, 1..) if in_flight > 0",
        "(0, _) if in_flight > 0",
    ),
    ("a deletion is no matter", "condition.rs", "is_deletion(&column.name) || (is_of_some", "(is_of_some"),
    ("what refers to a job is its lock", "owner.rs", "None => waiting.is_free(&column.name),", "None => true,"),
    (
        "few rows show a lock",
        "actions.rs",
        "!is_of_lock(facts, name) || facts.set_by_claims(name) == Support::Shown",
        "!is_of_lock(facts, name) || facts.set_by_claims(name) >= Support::Name",
    ),
];

#[test]
fn each_mutant_has_its_place() {
    for (_, folder, mutants) in GROUPS {
        for (wrong, file, from, to) in mutants {
            let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(file)).unwrap();
            assert_eq!(text.matches(from).count(), 1, "{wrong}: `{from}` in {file}");
            assert!(!text.contains(to) || from.contains(to), "{wrong}: `{to}` in {file}");
        }
    }
}

mod nightly {
    use super::*;

    #[test]
    fn each_mutant_is_noticed() {
        let copy = tempfile::tempdir().unwrap();
        let there = copy.path().join("jobdoctor");
        let root = env!("CARGO_MANIFEST_DIR");
        let copied = Command::new("git").args(["clone", "-q", root]).arg(&there).status().unwrap();
        assert!(copied.success());
        let tests = |tests: &str| {
            let mut cargo = Command::new("cargo");
            // Each mutant changes the text that this file looks for, which is not the notice that counts.
            cargo.args("test --locked --lib --test tests -- --skip mutants:: --skip nightly::".split(' ')).arg(tests);
            let target = Path::new(root).join("target/source-mutants");
            cargo.current_dir(&there).env("CARGO_TARGET_DIR", target).env("INSTA_UPDATE", "no").output().unwrap()
        };
        for (filter, folder, mutants) in GROUPS {
            assert!(tests(filter).status.success(), "without a mutant the tests of {filter} are green");
            for (wrong, file, from, to) in mutants {
                let path = there.join(folder).join(file);
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace(from, to)).unwrap();
                let ran = tests(filter);
                let said = String::from_utf8_lossy(&ran.stdout).into_owned();
                assert!(
                    said.contains("test result: FAILED"),
                    "{wrong}: {said}{}",
                    String::from_utf8_lossy(&ran.stderr)
                );
                fs::write(&path, text).unwrap();
            }
        }
    }
}

//! A plan as a SQL script for a change ticket: the statements that [`Writer`](super::Writer) would run, for psql, with
//! the same guard. Pure text; nothing runs here.
//!
//! The statements come from `store/sql`, through a dialect (`Inline`) whose parameters are literals, whose `now` is
//! SQL, and whose keys are in a temporary table. That table holds first all jobs of the batch, and at the end only
//! those that are still what was judged. So what is done to a job is written down in one place.
//!
//! Unlike the program, a script has no savepoint fallback: if a row is refused, its batch is rolled back and the script
//! ends.

mod inline;

use super::postgres::SYNCHRONOUS_COMMIT;
use super::sql::{self, Statement};
use super::{StoreError, StoreErrorKind};
use crate::model::{Action, Batch, Cell, EvidenceRow, Remedy, Step, Timestamp};
use crate::preset::ident::quoted;
use crate::preset::{ActionSpec, Jobs, OwnerRowSpec, Rows};
use inline::Inline;

#[derive(Debug, Clone)]
pub struct Heading<'a> {
    /// The database, without secrets.
    pub database: &'a str,
    pub table: &'a str,
    /// The database's time of the plan's snapshot.
    pub store_time: Timestamp,
    pub digest: &'a str,
    pub reason: &'a str,
    pub actions: &'a str,
    pub batches: u64,
    pub warnings: &'a [String],
}

/// A batch's number and the number of batches, both from 1.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub number: u64,
    pub of: u64,
}

/// The beginning of a script: settings of the shell, and comments.
pub fn heading(spec: &Jobs, heading: &Heading<'_>) -> String {
    let facts = [
        ("what", format!("{} of preset {}, table {}", heading.actions, spec.queue.preset, heading.table)),
        ("database", heading.database.to_owned()),
        ("planned at", format!("{}, by the database's clock", heading.store_time)),
        ("digest", heading.digest.to_owned()),
        ("reason", heading.reason.to_owned()),
        ("run with", RUN.to_owned()),
        ("needs", NEEDS.to_owned()),
    ];
    let facts = facts.iter().map(|(name, text)| format!("-- {name}: {}\n", comment(text)));
    let about = ABOUT.lines().map(|line| format!("-- {line}\n"));
    let warnings = heading.warnings.iter().map(|warning| format!("-- warning: {}\n", comment(warning)));
    let version = env!("CARGO_PKG_VERSION");
    let title = format!("-- jobdoctor {version}: {} to run by hand\n", batches(heading.batches));
    let lines = std::iter::once(title).chain(facts).chain(std::iter::once("--\n".to_owned())).chain(about);
    format!("{}{}", SETTINGS, lines.chain(warnings).collect::<String>())
}

/// The comment in every script.
const ABOUT: &str = "\
Each batch is one short transaction. It locks the jobs that are still exactly what was judged, without waiting for
locks, skips all others, moves the jobs, and prints how many. Running the script again moves no job twice.
An error ends the script: the current batch is rolled back, earlier ones stay. jobdoctor can then make a script of
the rest. Neither the journal nor the ledger records a script, so `jobdoctor undo` cannot revert it.";

fn batches(count: u64) -> String {
    if count == 1 { "1 batch".to_owned() } else { format!("{count} batches") }
}

pub fn batch(spec: &Jobs, batch: &Batch<'_>, place: Place) -> Result<String, StoreError> {
    let Some(moved) = spec.actions.get(&batch.action).filter(|moved| moved.refused.is_none()) else {
        return Err(cannot(format!("preset {} has no {}", spec.queue.preset, batch.action)));
    };
    let title = format!(
        "\n-- batch {} of {}: {}, {} to {}\n",
        place.number,
        place.of,
        batch.action,
        if batch.steps.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", batch.steps.len()) },
        comment(&moved.to.name)
    );
    let script = Script { spec, moved, batch, inline: Inline::default() };
    let text = script.text(place)?;
    match text.replace("\r\n", "\n").chars().find(|c| c.is_control() && !"\n\t".contains(*c)) {
        // Values are escaped, so a name in the catalog or the preset holds it.
        Some(c) => Err(cannot(format!("a name or a statement holds the control character U+{:04X}", u32::from(c)))),
        None => Ok(title + &text),
    }
}

/// The error for a batch that has no script.
fn cannot(why: impl std::fmt::Display) -> StoreError {
    let message = format!("no SQL script can do this: {why}");
    StoreError::new(StoreErrorKind::Unfit, message).remedy(Remedy::ApplyInstead)
}

/// Text for a comment: one line without control characters.
fn comment(text: &str) -> String {
    let plain = |c: char| c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric();
    text.chars().map(|c| if plain(c) { c } else { '?' }).collect()
}

/// The statement with its semicolon, on a line of its own if the statement may end with a comment.
fn ended(sql: &str) -> String {
    if sql.contains("--") { format!("{sql}\n;\n") } else { format!("{sql};\n") }
}

const SETTINGS: &str = "\\set ON_ERROR_STOP on\n\\set AUTOCOMMIT on\n\\encoding UTF8\n";
const RUN: &str = "psql -X -v ON_ERROR_STOP=1 -f FILE DATABASE";
const NEEDS: &str = "the rights that jobdoctor needs, and TEMPORARY on the database";

/// The settings of `store/postgres/settings.rs`, with longer limits: a person may pause between two statements.
const BEGIN: &str = "\
BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET LOCAL standard_conforming_strings = on;
SET LOCAL \"TimeZone\" = 'UTC';
SET LOCAL \"DateStyle\" = 'ISO, YMD';
SET LOCAL \"IntervalStyle\" = 'postgres';
SET LOCAL extra_float_digits = 1;
SET LOCAL bytea_output = 'hex';
SET LOCAL row_security = off;
SET LOCAL jit = off;
SET LOCAL statement_timeout = '10min';
SET LOCAL lock_timeout = '5s';
SET LOCAL idle_in_transaction_session_timeout = '1min';
SET CONSTRAINTS ALL IMMEDIATE;
";

struct Script<'a> {
    spec: &'a Jobs,
    moved: &'a ActionSpec,
    batch: &'a Batch<'a>,
    inline: Inline,
}

/// Settings that depend on the session's own: how a commit is confirmed, and the search paths, which are the system's
/// names for jobdoctor's own statements; also the queue's and the role's for the action's triggers and functions.
fn paths(spec: &Jobs) -> String {
    let of_queue = Some(&spec.queue.schema).filter(|schema| !schema.is_empty()).map(|schema| quoted(schema));
    let of_queue = of_queue.map(|schema| format!(", '{}'", schema.replace('\'', "''"))).unwrap_or_default();
    let body = format!(
        "BEGIN\n  PERFORM pg_catalog.set_config('jobdoctor.path', pg_catalog.concat_ws(', ', 'pg_catalog'{of_queue},\n    \
         CASE WHEN pg_catalog.current_setting('search_path') OPERATOR(pg_catalog.<>) '' THEN pg_catalog.current_setting('search_path') END,\n    \
         'pg_temp'), true),\n    {SYNCHRONOUS_COMMIT};\nEND"
    );
    format!("{}SET LOCAL search_path = pg_catalog, pg_temp;\n", block(&body))
}

/// Keeps the steps whose number a statement gives, and deletes the others.
fn kept(table: &str, columns: &str, statement: &Statement, which: &str) -> String {
    format!(
        "{}DELETE FROM pg_temp.jobdoctor_steps AS s WHERE s.n NOT IN ({which});\n",
        ended(&format!("CREATE TEMPORARY TABLE {table} ({columns}) ON COMMIT DROP AS\n{}", statement.sql))
    )
}

fn block(body: &str) -> String {
    let tag = tag("jobdoctor", body);
    format!("DO {tag}\n{body} {tag};\n")
}

/// A dollar quote that does not occur in the text.
fn tag(name: &str, text: &str) -> String {
    let longer = (0..).map(|n| if n == 0 { format!("${name}$") } else { format!("${name}{n}$") });
    longer.into_iter().find(|tag| !text.contains(tag.as_str())).unwrap_or_default()
}

fn execute(sql: &str) -> String {
    let tag = tag("sql", sql);
    format!("  EXECUTE {tag}\n{sql}\n  {tag}")
}

impl Script<'_> {
    /// The text, unless a value in it has no literal.
    fn text(&self, place: Place) -> Result<String, StoreError> {
        let Script { spec, moved, batch, inline } = self;
        let mut text = BEGIN.to_owned();
        text.push_str(&paths(spec));
        text.push_str("\n-- the jobs as they were judged\n");
        text.push_str(&self.steps());
        if let Some(row) = &spec.owner.row {
            text.push_str(&self.evidence_rows(row)?);
        }
        text.push_str("\n-- locks those that are unchanged; all others are skipped\n");
        let verify = sql::verify(spec, inline, (batch.action, moved.locks_for_update), None, &[]);
        text.push_str(&kept("jobdoctor_verified", "n", &verify, "SELECT v.n FROM pg_temp.jobdoctor_verified AS v"));
        if spec.unlocked.is_some() || batch.steps.iter().any(|step| *step.evidence_row() == EvidenceRow::Absent) {
            text.push_str("\n-- and whose evidence that cannot be locked is unchanged when it is read again\n");
            let again = sql::reread(spec, inline, batch.action, &[]);
            let same = "SELECT a.n FROM pg_temp.jobdoctor_again AS a WHERE a.same = 1";
            text.push_str(&kept("jobdoctor_again", "n, same", &again, same));
        }
        text.push_str("\n-- drops keys that have several rows\n");
        let shared = sql::shared_keys(spec, inline, &[]);
        text.push_str(&ended(&format!("DELETE FROM pg_temp.jobdoctor_steps AS s WHERE s.n IN (\n{}\n)", shared.sql)));
        if let Some(asked) = &spec.claim.guard {
            text.push_str("\n-- drops jobs that a worker holds, by the preset's guard\n");
            let guard = sql::guard(spec, inline, asked, &[]);
            let passed = "SELECT g.n FROM pg_temp.jobdoctor_guarded AS g WHERE g.passed = 1";
            text.push_str(&kept("jobdoctor_guarded", "n, passed", &guard, passed));
        }
        text.push_str("\n-- the action\n");
        text.push_str(&self.acts());
        if matches!(batch.action, Action::Requeue | Action::Wake) && !spec.queue.notify.is_empty() {
            text.push_str("\n-- wakes the workers at the commit\n");
            text.push_str(&self.wake());
        }
        text.push_str(&format!(
            "\nSELECT '{} of {}' AS batch, {planned} AS planned, count(*) AS moved, {planned} - count(*) AS skipped\n  \
         FROM pg_temp.jobdoctor_steps;\nCOMMIT;\n",
            place.number,
            place.of,
            planned = batch.steps.len()
        ));
        match self.inline.problem() {
            Some(why) => Err(cannot(why)),
            None => Ok(text),
        }
    }

    /// The batch's table: keys, preconditions, evidence rows, queues.
    fn steps(&self) -> String {
        let types = self.spec.claim.key.iter().enumerate().map(|(n, column)| {
            let name = Some(column.type_name.as_str()).filter(|name| !name.is_empty()).unwrap_or("text");
            format!("k{} {name}", n + 1)
        });
        let has_owners = self.spec.owner.row.is_some();
        let owners = ["owner text", "owner_image text", "owner_is_absent boolean"];
        let columns = std::iter::once("n bigint".to_owned())
            .chain(types)
            .chain(["precondition text".to_owned(), "queue text".to_owned()])
            .chain(owners.iter().filter(|_| has_owners).map(|column| (*column).to_owned()));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let rows = self.batch.steps.iter().enumerate().map(|(n, step)| {
            let mut values = vec![(n + 1).to_string()];
            // As text, which the column's type reads.
            values.extend(step.key.0.iter().map(|cell| self.inline.literal(cell)));
            values.push(self.inline.literal(&Cell::Text(step.precondition().to_owned())));
            values.push(self.inline.literal(&step.queue.clone().map_or(Cell::Null, Cell::Text)));
            let evidence_row = match step.evidence_row() {
                EvidenceRow::None => ["NULL".to_owned(), "NULL".to_owned(), "false".to_owned()],
                EvidenceRow::Absent => ["NULL".to_owned(), "NULL".to_owned(), "true".to_owned()],
                EvidenceRow::Row { key, image } => {
                    let image = self.inline.literal(&Cell::Text(image.0.clone()));
                    [self.inline.literal(key), image, "false".to_owned()]
                }
            };
            values.extend(evidence_row.into_iter().filter(|_| has_owners));
            format!("  ({})", values.join(", "))
        });
        let rows = rows.collect::<Vec<_>>().join(",\n");
        format!(
            "CREATE TEMPORARY TABLE jobdoctor_steps ({columns}) ON COMMIT DROP;\n\
             INSERT INTO pg_temp.jobdoctor_steps VALUES\n{rows};\nANALYZE pg_temp.jobdoctor_steps;\n"
        )
    }

    /// Locks the owners' rows on which verdicts rest, against heartbeats.
    fn evidence_rows(&self, row: &OwnerRowSpec) -> Result<String, StoreError> {
        let owners = Inline::of_owners();
        let locked = row.can_lock.then(|| sql::evidence_rows(self.spec, &owners, row, &[], true).sql);
        let writers = sql::evidence_writers(self.spec, &owners, &row.table).sql;
        if let Some(why) = owners.problem() {
            return Err(cannot(why));
        }
        let unchanged = locked.map_or_else(String::new, |locked| {
            format!(
                "\n-- locks the owners' rows, and drops the jobs of those that changed\n{}\
                 DELETE FROM pg_temp.jobdoctor_steps AS s WHERE s.owner IS NOT NULL AND NOT EXISTS\n  \
                 (SELECT FROM pg_temp.jobdoctor_owners AS o WHERE o.id = s.owner AND o.image = s.owner_image);\n",
                ended(&format!("CREATE TEMPORARY TABLE jobdoctor_owners (id, image) ON COMMIT DROP AS\n{locked}"))
            )
        });
        Ok(format!(
            "{unchanged}-- drops jobs of an owner whose row may be about to appear\n{}",
            ended(&format!("DELETE FROM pg_temp.jobdoctor_steps AS s WHERE s.owner_is_absent AND (\n{writers}\n) > 0"))
        ))
    }

    /// The preset's statements, each with the number of rows that it must touch. None of them runs if no step is left.
    fn acts(&self) -> String {
        // The script's clock is SQL; these times are not used.
        let acts = sql::acts(
            self.spec,
            &self.inline,
            self.moved,
            &[],
            (Timestamp::EPOCH, Timestamp::EPOCH),
            (self.batch.reason, self.batch.steps.first().map(Step::fail_code).unwrap_or_default()),
        );
        let mut body =
            "DECLARE\n  wanted bigint := (SELECT count(*) FROM pg_temp.jobdoctor_steps);\n  touched bigint;\n  \
                        in_flight bigint;\n  elsewhere bigint;\nBEGIN\n  IF wanted = 0 THEN RETURN; END IF;\n"
                .to_owned();
        body.push_str(
            "  PERFORM pg_catalog.set_config('search_path', pg_catalog.current_setting('jobdoctor.path'), true),\n    \
             pg_catalog.set_config('lock_timeout', '100ms', true);\n",
        );
        for act in acts {
            body.push_str(&execute(&act.statement.sql));
            body.push_str(";\n");
            let differs = match act.rows {
                Rows::Each => "<>",
                Rows::AtMostEach => ">",
                Rows::Any => continue,
            };
            body.push_str(&format!(
                "  GET DIAGNOSTICS touched = ROW_COUNT;\n  IF touched OPERATOR(pg_catalog.{differs}) wanted THEN\n    \
                 RAISE EXCEPTION 'the statement touched % rows instead of %: this batch is rolled back', touched, wanted;\n  \
                 END IF;\n"
            ));
        }
        body.push_str(
            "  PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),\n    \
             pg_catalog.set_config('lock_timeout', '5s', true);\n",
        );
        if let Some(check) = sql::left_behind(self.spec, &self.inline, self.moved, &[]) {
            body.push_str(&execute(&check.sql));
            body.push_str(
                " INTO in_flight, elsewhere;\n  IF in_flight > 0 OR elsewhere > 0 THEN\n    \
                 RAISE EXCEPTION 'of % rows, % are still in flight and % are in another state than announced: this batch is rolled back',\n      \
                 wanted, in_flight, elsewhere;\n  END IF;\n",
            );
        }
        body.push_str("END");
        block(&body)
    }

    /// The wake-ups, for each queue that got jobs back. Postgres sends them at the commit. A failure is only a warning.
    fn wake(&self) -> String {
        let mut body = "BEGIN\n".to_owned();
        for statement in sql::notifications(self.spec, &self.inline, None, 0) {
            let all = format!(
                "SELECT woken.* FROM (SELECT s.queue, count(*) AS moved FROM pg_temp.jobdoctor_steps AS s GROUP BY s.queue)\n  \
                 AS jobdoctor_moved CROSS JOIN LATERAL (\n{}\n) AS woken",
                statement.sql
            );
            body.push_str(&execute(&all));
            body.push_str(";\n");
        }
        body.push_str(
            "EXCEPTION WHEN OTHERS THEN\n  RAISE WARNING 'waking the workers failed, they will poll: %', SQLERRM;\nEND",
        );
        block(&body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_one_line_whatever_it_was_made_of() {
        assert_eq!(comment("a\n.shell b\r\u{1b}[2J\u{202e}é"), "a?.shell b??[2J?é");
    }

    #[test]
    fn no_comment_swallows_a_semicolon() {
        assert_eq!(ended("SELECT 1"), "SELECT 1;\n");
        assert_eq!(ended("SELECT 1 -- one"), "SELECT 1 -- one\n;\n");
    }

    #[test]
    fn a_dollar_quote_that_is_in_the_text_is_not_taken() {
        assert_eq!(tag("sql", "SELECT 1"), "$sql$");
        assert_eq!(tag("sql", "SELECT '$sql$', '$sql1$'"), "$sql2$");
    }
}

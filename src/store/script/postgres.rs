//! A batch as a script for psql.

use super::inline::Inline;
use super::{Place, Work, ended};
use crate::model::{Action, Batch, Cell, EvidenceRow, Timestamp};
use crate::preset::ident::quoted;
use crate::preset::{ActionSpec, OwnerRowSpec, QueueSpec, Rows};
use crate::store::StoreError;
use crate::store::postgres::SYNCHRONOUS_COMMIT;
use crate::store::sql::{self, Statement};

pub(super) const SETTINGS: &str = "\\set ON_ERROR_STOP on\n\\set AUTOCOMMIT on\n\\encoding UTF8\n";
pub(super) const RUN: &str = "psql -X -v ON_ERROR_STOP=1 -f FILE DATABASE";
pub(super) const NEEDS: &str = "the rights that jobdoctor needs, and TEMPORARY on the database";

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

pub(super) fn batch(
    spec: &QueueSpec,
    moved: &ActionSpec,
    batch: &Batch<'_>,
    place: Place,
) -> Result<String, StoreError> {
    let work = Work::new(spec, moved, batch);
    let mut text = BEGIN.to_owned();
    text.push_str(&paths(spec));
    text.push_str("\n-- the jobs as they were judged\n");
    text.push_str(&work.steps());
    if let Some(row) = &spec.owner.row {
        text.push_str(&work.evidence_rows(row)?);
    }
    text.push_str("\n-- locks those that are unchanged; all others are skipped\n");
    let verify = sql::verify(spec, &work.inline, (batch.action, moved.locks_for_update), None, &[]);
    text.push_str(&kept("jobdoctor_verified", "n", &verify, "SELECT v.n FROM pg_temp.jobdoctor_verified AS v"));
    if spec.unlocked.is_some() || batch.steps.iter().any(|step| *step.evidence_row() == EvidenceRow::Absent) {
        text.push_str("\n-- and whose evidence that cannot be locked is unchanged when it is read again\n");
        let again = sql::reread(spec, &work.inline, batch.action, &[]);
        let same = "SELECT a.n FROM pg_temp.jobdoctor_again AS a WHERE a.same = 1";
        text.push_str(&kept("jobdoctor_again", "n, same", &again, same));
    }
    text.push_str("\n-- drops keys that have several rows\n");
    let shared = sql::shared_keys(spec, &work.inline, &[]);
    text.push_str(&ended(&format!("DELETE FROM pg_temp.jobdoctor_steps AS s WHERE s.n IN (\n{}\n)", shared.sql)));
    if let Some(asked) = &spec.claim.guard {
        text.push_str("\n-- drops jobs that a worker holds, by the preset's guard\n");
        let guard = sql::guard(spec, &work.inline, asked, &[]);
        let passed = "SELECT g.n FROM pg_temp.jobdoctor_guarded AS g WHERE g.passed = 1";
        text.push_str(&kept("jobdoctor_guarded", "n, passed", &guard, passed));
    }
    text.push_str("\n-- the action\n");
    text.push_str(&work.acts());
    if matches!(batch.action, Action::Requeue | Action::Wake) && !spec.notify.is_empty() {
        text.push_str("\n-- wakes the workers at the commit\n");
        text.push_str(&work.wake());
    }
    text.push_str(&format!(
        "\nSELECT '{} of {}' AS batch, {planned} AS planned, count(*) AS moved, {planned} - count(*) AS skipped\n  \
         FROM pg_temp.jobdoctor_steps;\nCOMMIT;\n",
        place.number,
        place.of,
        planned = batch.steps.len()
    ));
    work.finish(text)
}

/// Settings that depend on the session's own: how a commit is confirmed, and the search paths, which are the system's
/// names for jobdoctor's own statements; also the queue's and the role's for the action's triggers and functions.
fn paths(spec: &QueueSpec) -> String {
    let of_queue = Some(&spec.schema).filter(|schema| !schema.is_empty()).map(|schema| quoted(schema));
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

impl Work<'_> {
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
        let locked = row.can_lock.then(|| sql::evidence_rows(self.spec, &owners, row, &[]).sql);
        let writers = sql::evidence_writers(self.spec, &owners, row).sql;
        if let Some(why) = owners.problem() {
            return Err(super::cannot(why));
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
            self.batch.reason,
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
    fn a_dollar_quote_that_is_in_the_text_is_not_taken() {
        assert_eq!(tag("sql", "SELECT 1"), "$sql$");
        assert_eq!(tag("sql", "SELECT '$sql$', '$sql1$'"), "$sql2$");
    }
}

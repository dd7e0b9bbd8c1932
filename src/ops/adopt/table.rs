//! The table that is adopted, as the catalog describes it: its columns with their roles, its keys and what refers to
//! it.

use super::Adoption;
use super::constraints::{Piece, checks, listed, literal_of, pieces};
use super::draft::{bare, of_job};
use super::roles::{Class, Role, class, role};
use super::rows::Rows;
use super::times::newest_in;
use crate::model::{Cell, Engine, Timestamp};
use crate::ops::OpsError;
use crate::ops::session::suggestion;
use crate::preset::ident::{qualified, quoted};
use crate::preset::lex::Kind;
use crate::preset::{LiveColumn, LiveSchema, LiveTable, SpecError, meanings};
use crate::store::{Reader, StoreError, StoreErrorKind, catalog, parts};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The table, with what the catalog says beyond [`LiveTable`].
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    /// What the mapping calls it.
    pub(super) written: String,
    pub(super) sql: String,
    pub(super) live: LiveTable,
    /// Its columns that the role may read.
    pub(super) columns: Vec<SubjectColumn>,
    pub(super) primary: Vec<String>,
    /// Columns with the table and column that they refer to.
    pub(super) foreign: Vec<Foreign>,
    /// The columns of other tables that refer to this one.
    pub(super) referred_from: Vec<Foreign>,
    /// The table of locks, by its column that refers to this one.
    pub(super) lock: Option<Foreign>,
    /// What new rows begin with, by column: expressions.
    pub(super) defaults: BTreeMap<String, String>,
    /// The columns that the database computes.
    pub(super) generated: BTreeSet<String>,
    /// The CHECKs on one column, by column.
    pub(super) checks: Vec<(String, Vec<Piece>)>,
}

/// A column with what it probably keeps.
#[derive(Debug, Clone)]
pub(super) struct SubjectColumn {
    /// One of the table of locks begins with `o.`.
    pub(super) name: String,
    /// What reads it from a job's row `j`.
    pub(super) sql: String,
    pub(super) type_name: String,
    pub(super) class: Class,
    pub(super) role: Option<Role>,
    pub(super) labels: Option<Vec<String>>,
    pub(super) comment: Option<String>,
}

/// A foreign key of one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Foreign {
    pub(super) column: String,
    pub(super) schema: String,
    pub(super) table: String,
    pub(super) to: String,
}

impl Subject {
    /// Finds the table, and looks at its rows which columns may keep a time.
    pub(super) fn read(reader: &mut dyn Reader, engine: Engine, adoption: &Adoption<'_>) -> Result<Subject, OpsError> {
        let mut subject = Subject::find(reader, engine, adoption.schema, adoption.table)?;
        let now = reader.now();
        let ends = Sampler::new(reader, engine, &subject).ends()?;
        subject.see_times(&ends, now);
        Ok(subject)
    }

    fn find(reader: &mut dyn Reader, engine: Engine, schema: Option<&str>, name: &str) -> Result<Subject, OpsError> {
        let names: Vec<String> = meanings(name).into_iter().map(|(_, name)| name).collect();
        let schema_live = reader.live_schema(&names)?;
        let Some(live) = schema_live.table_meant(schema, name).cloned() else {
            return Err(missing(reader, engine, schema, name, &schema_live)?.into());
        };
        let sql = qualified(&live.schema, &live.name);
        let written = if live.visible { live.name.clone() } else { written(&live) };
        if live.is_view {
            return Err(by_hand(&written, "is a view, and a worker's claim is in the tables behind it:"));
        }
        let mut subject = Subject { written, sql, ..Subject::default() };
        for row in reader.texts(&catalog::keys_and_references(engine, &live))? {
            let [kind, a, b, c, d] = row.as_slice() else { continue };
            match kind.as_str() {
                "primary" => subject.primary.push(a.clone()),
                "foreign" | "from" => {
                    let (column, schema, table, to) = (a.clone(), b.clone(), c.clone(), d.clone());
                    let known = if kind == "from" { &mut subject.referred_from } else { &mut subject.foreign };
                    known.push(Foreign { column, schema, table, to });
                }
                "parent" => return Err(by_hand(&subject.written, &format!("is a partition of {a}: adopt that, or"))),
                "default" => drop(subject.defaults.insert(a.clone(), b.clone())),
                "generated" => drop(subject.generated.insert(a.clone())),
                "check" => subject.checks.push((a.clone(), pieces(b, engine))),
                "sql" => subject.checks.extend(checks(b, engine).into_iter().filter_map(|check| {
                    let is_in = |column: &&LiveColumn| {
                        let is_it =
                            |(kind, text): &Piece| *kind != Kind::Text && text.eq_ignore_ascii_case(&column.name);
                        check.iter().any(is_it)
                    };
                    let mut named = live.columns.iter().filter(is_in);
                    let column = named.next().filter(|_| named.next().is_none())?.name.clone();
                    Some((column, check))
                })),
                _ => {}
            }
        }
        let comments =
            catalog::comments(engine, &live).map(|asked| reader.texts(&asked)).transpose()?.unwrap_or_default();
        for column in live.columns.iter().filter(|column| column.readable) {
            let comment = comments.iter().find(|row| row.first() == Some(&column.name)).and_then(|row| row.get(1));
            let comment = comment.filter(|comment| !comment.is_empty()).cloned();
            let checks = subject.checks.iter().filter(|(of, _)| *of == column.name);
            let listed: Vec<String> = checks.flat_map(|(_, check)| listed(check)).collect();
            let listed = Some(listed.as_slice()).filter(|listed| listed.len() > 1);
            let labels = schema_live.labels(column).or(listed);
            let mut of_column = SubjectColumn { comment, ..SubjectColumn::of(column, labels) };
            // What the database computes tells of a claim what other columns tell.
            of_column.role = of_column.role.filter(|_| !subject.generated.contains(&column.name));
            subject.columns.push(of_column);
        }
        subject.live = live;
        subject.find_lock(reader)?;
        Ok(subject)
    }

    /// Finds the table of locks, if this one keeps no owner: it refers to this one's key, and has a row at most for each
    /// job, with its owner and a time.
    fn find_lock(&mut self, reader: &mut dyn Reader) -> Result<(), StoreError> {
        let key = self.key().unwrap_or_default();
        for foreign in self.referred_from.iter().filter(|foreign| key.as_slice() == [foreign.to.as_str()]) {
            let live = reader.live_schema(std::slice::from_ref(&foreign.table))?;
            let Some(table) = live.table(Some(&foreign.schema), &foreign.table) else { continue };
            let columns = SubjectColumn::all_of(table);
            let of = |role: Role| columns.iter().find(|column| column.role == Some(role));
            let is_lock = of(Role::Heartbeat).or(of(Role::Claimed)).is_some() && table.is_unique(&[&foreign.column]);
            if let Some(owner) = of(Role::Owner).filter(|_| is_lock && self.of_role(Role::Owner).next().is_none()) {
                let [owner_column, column, to] = [&owner.name, &foreign.column, &foreign.to].map(|name| quoted(name));
                let locks = qualified(&foreign.schema, &foreign.table);
                let sql = format!("(SELECT l.{owner_column} FROM {locks} AS l WHERE l.{column} = j.{to})");
                let name = format!("o.{}", bare(&owner.name));
                self.columns.push(SubjectColumn { name, sql, ..owner.clone() });
                self.lock = Some(foreign.clone());
                return Ok(());
            }
        }
        Ok(())
    }

    pub(super) fn column(&self, name: &str) -> Option<&SubjectColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    pub(super) fn of_role(&self, role: Role) -> impl Iterator<Item = &SubjectColumn> {
        self.columns.iter().filter(move |column| column.role == Some(role))
    }

    /// The plain value with which a new row begins.
    pub(super) fn begins_with(&self, column: &str) -> Option<String> {
        self.defaults.get(column).and_then(|default| literal_of(default))
    }

    /// Returns the default that stands for no owner or no time in a column of a claim: a word, or a number below zero.
    fn absent(&self, column: &SubjectColumn) -> Option<String> {
        let may_be_claims = match (column.class, column.role) {
            (_, None | Some(Role::Owner | Role::Host | Role::Token)) => true,
            (Class::Number, role) => matches!(role, Some(Role::Claimed | Role::Heartbeat | Role::Lease)),
            (_, role) => role == Some(Role::Kind),
        };
        let default = self.begins_with(&column.name).filter(|_| may_be_claims && column.labels.is_none())?;
        let is_absent = match column.class {
            Class::Text | Class::Other => !default.is_empty(),
            _ => column.class == Class::Number && default.starts_with('-'),
        };
        is_absent.then_some(default)
    }

    /// Takes the roles of times from columns that hold none: an amount, a count, a reason.
    pub(super) fn see_times(&mut self, rows: &Rows, now: Timestamp) {
        for column in &mut self.columns {
            let is_of_time = matches!(
                column.role,
                Some(Role::Claimed | Role::Heartbeat | Role::Lease | Role::Ended(_) | Role::Updated | Role::OtherTime)
            );
            let may_be_none = is_of_time && matches!(column.class, Class::Number | Class::Text);
            if may_be_none
                && rows.set(&column.name).next().is_some()
                && newest_in(rows.set(&column.name), now).is_none()
            {
                column.role = None;
            }
        }
    }

    /// The columns whose rows no role of this database user may read.
    pub(super) fn unreadable(&self) -> Vec<&str> {
        self.live.columns.iter().filter(|column| !column.readable).map(|column| column.name.as_str()).collect()
    }

    /// The key that tells its rows apart: the primary key, or else a unique one without NULLs.
    pub(super) fn key(&self) -> Option<Vec<String>> {
        if !self.primary.is_empty() {
            return Some(self.primary.clone());
        }
        let is_set = |key: &&Vec<String>| key.iter().all(|column| self.live.not_null.contains(column));
        self.live.unique.iter().filter(is_set).min_by_key(|key| key.len()).cloned()
    }
}

impl SubjectColumn {
    /// The columns of a table that the role may read.
    pub(super) fn all_of(table: &LiveTable) -> Vec<SubjectColumn> {
        let readable = table.columns.iter().filter(|column| column.readable);
        readable.map(|column| SubjectColumn::of(column, None)).collect()
    }

    pub(super) fn of(column: &LiveColumn, labels: Option<&[String]>) -> SubjectColumn {
        let class = class(&column.type_name);
        SubjectColumn {
            role: role(&column.name, class, labels.is_some()),
            name: column.name.clone(),
            sql: of_job(&column.name),
            type_name: column.type_name.clone(),
            class,
            labels: labels.map(<[String]>::to_vec),
            comment: None,
        }
    }
}

/// A table's name with its schema in a mapping.
pub(super) fn written(table: &LiveTable) -> String {
    format!("{}.{}", word(&table.schema), word(&table.name))
}

/// A part of a table's name in a mapping, quoted if a dot or a quote in it would be taken for more than a part of the
/// name.
fn word(name: &str) -> String {
    if name.contains(['.', '"']) { quoted(name) } else { name.to_owned() }
}

/// The error that no draft could be true, and what to do.
pub(super) fn by_hand(table: &str, why: &str) -> OpsError {
    let way_out = "write a mapping by hand (docs/mapping.md, `jobdoctor help mapping`)";
    SpecError::whole("adopt", format!("table {table} {why} {way_out}")).into()
}

/// The error that the table is not there, with those that are: of this name in other schemas, or else any.
fn missing(
    reader: &mut dyn Reader,
    engine: Engine,
    schema: Option<&str>,
    name: &str,
    live: &LiveSchema,
) -> Result<StoreError, StoreError> {
    let mut known: Vec<String> = live.tables.iter().map(written).collect();
    if known.is_empty() {
        known = reader.texts(catalog::all_tables(engine))?.into_iter().flatten().collect();
    }
    let within = schema.map_or_else(String::new, |schema| format!(" in schema `{schema}`"));
    let hint = suggestion(&known, &meanings(name).pop().map_or_else(|| name.to_owned(), |(_, bare)| bare));
    let known = known.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { known } else { format!("; there are: {known}") };
    Ok(StoreError::new(StoreErrorKind::Missing, format!("there is no table `{name}`{within}{hint}{known}")))
}

const ROWS: usize = 500;
const STATES: usize = 40;
/// The most bytes of a text that are read: enough for a time, an owner or the keys of a JSON object.
const BYTES: usize = 2000;
/// How long one sample may take, and all of them together; what takes longer is done without.
const PATIENCE: Duration = Duration::from_secs(2);
const WHOLE_PATIENCE: Duration = Duration::from_secs(10);

/// A reader of samples of one table.
pub(super) struct Sampler<'a> {
    pub(super) reader: &'a mut dyn Reader,
    pub(super) engine: Engine,
    pub(super) subject: &'a Subject,
    /// What took too long, in a sentence.
    pub(super) note: Option<String>,
    until: Instant,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(reader: &'a mut dyn Reader, engine: Engine, subject: &'a Subject) -> Sampler<'a> {
        Sampler { reader, engine, subject, note: None, until: Instant::now() + WHOLE_PATIENCE }
    }

    /// The newest and the oldest rows by the key; where there is no key, any.
    pub(super) fn ends(&mut self) -> Result<Rows, OpsError> {
        let key = self.subject.key().unwrap_or_default();
        if key.is_empty() || key.iter().any(|column| self.subject.column(column).is_none()) {
            return self.rows("true", "");
        }
        let order = |direction: &str| {
            let columns: Vec<String> = key.iter().map(|column| format!("j.{} {direction}", quoted(column))).collect();
            format!(" ORDER BY {}", columns.join(", "))
        };
        Ok(self.rows("true", &order("DESC"))?.and(&self.rows("true", &order("ASC"))?).distinct(&key))
    }

    /// Rows that meet a condition, in which the table is `j`; none if finding them takes too long.
    pub(super) fn rows(&mut self, condition: &str, order: &str) -> Result<Rows, OpsError> {
        let columns: Vec<String> = self.subject.columns.iter().map(|column| column.name.clone()).collect();
        let read = |column: &SubjectColumn| parts::sampled(self.engine, &column.sql, &column.type_name, BYTES);
        let list: Vec<String> = self.subject.columns.iter().map(read).collect();
        let list = if list.is_empty() { "1".to_owned() } else { list.join(", ") };
        let table = &self.subject.sql;
        let sql = format!("SELECT {list} FROM {table} AS j WHERE {condition}{order} LIMIT {ROWS}");
        let absent =
            self.subject.columns.iter().filter_map(|column| Some((column.name.clone(), self.subject.absent(column)?)));
        Ok(Rows { columns, rows: self.query(&sql)?, absent: absent.collect() })
    }

    /// The rows of a query, none if it takes too long.
    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, StoreError> {
        let left = self.until.saturating_duration_since(Instant::now()).min(PATIENCE);
        let rows = if left.is_zero() { None } else { Some(self.reader.sample(sql, left)) };
        match rows {
            Some(Err(error)) if error.kind != StoreErrorKind::TimedOut => Err(error),
            Some(Ok(rows)) => Ok(rows),
            None | Some(Err(_)) => {
                let name = &self.subject.live.name;
                self.note =
                    Some(format!("some samples of table {name} took too long: the draft may miss what its rows show"));
                Ok(Vec::new())
            }
        }
    }

    /// The stored values of a column with few of them: by steps over an index if one begins with the column, by the
    /// statistics of Postgres, or from the rows that were read.
    pub(super) fn distinct(&mut self, column: &SubjectColumn, ends: &Rows) -> Result<Vec<Cell>, OpsError> {
        let (labels, is_number) = (column.labels.as_deref(), column.class == Class::Number);
        let column = column.name.as_str();
        let listed = labels.unwrap_or_default().iter().map(|label| match label.parse() {
            Ok(number) if is_number => Cell::Integer(number),
            _ => Cell::Text(label.clone()),
        });
        let leads = self
            .subject
            .live
            .indexes
            .iter()
            .any(|index| index.condition.is_none() && index.columns.first().is_some_and(|first| first == column));
        let (table, name) = (&self.subject.sql, quoted(column));
        let distinct = if leads {
            format!(
                "WITH RECURSIVE step(v) AS (SELECT min({name}) FROM {table} UNION ALL SELECT (SELECT min(t.{name}) FROM {table} AS t \
                 WHERE t.{name} > step.v) FROM step WHERE step.v IS NOT NULL) SELECT v FROM step"
            )
        } else {
            // The newest of many rows, in any order that costs no sorting.
            format!("SELECT DISTINCT v FROM (SELECT {name} AS v FROM {table} LIMIT 100000) AS sampled")
        };
        let sql = format!("{distinct} WHERE v IS NOT NULL LIMIT {}", STATES + 1);
        let mut values: Vec<Cell> = listed.chain(self.query(&sql)?.into_iter().flatten()).collect();
        if let Some(common) = catalog::common_values(self.engine, &self.subject.live, column).filter(|_| !leads) {
            let is_number = matches!(values.first(), Some(Cell::Integer(_)));
            for cell in self.query(&common)?.into_iter().flatten() {
                let text = cell.to_string();
                values.push(match text.parse() {
                    Ok(number) if is_number => Cell::Integer(number),
                    _ if matches!(values.first(), Some(Cell::Integer(_))) => continue,
                    _ => cell,
                });
            }
        }
        values.extend(ends.values(column).filter(|value| !value.is_null()).cloned());
        let mut distinct: Vec<Cell> = Vec::new();
        for value in values {
            if !distinct.contains(&value) && distinct.len() <= STATES {
                distinct.push(value);
            }
        }
        Ok(distinct)
    }
}

//! Differences between versions of a queue library, each a probe and the part of the document it replaces; and which of
//! them a database has.

use super::SpecError;
use super::catalog::Preset;
use super::document::Document;
use super::field::{Field, Fragment, named};
use super::ident::{literal, qualified, quoted};
use super::live::{LiveColumn, LiveSchema, LiveTable};
use super::node::Node;
use super::options::chosen;
use super::queue::Ignored;
use super::resolve::{Place, ResolveError, STRANGER, Tables, distrusted, ignored, physical_tables};
use super::template::{Piece, Template};
use crate::model::Engine;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) when: Vec<Probe>,
    pub(crate) refuse: Option<String>,
    pub(super) overlay: Node,
    /// True for the mapping that bends a preset.
    pub(crate) is_mapping: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Probe {
    Engine(Engine),
    Table(String, bool),
    Column(String, String, bool),
    Type(String, String, Vec<String>),
    Label(String, String),
    Function(String, bool),
    Option(String, String),
    Sql(Template),
}

impl Variant {
    /// Lays its overlay, as it is or with values filled in, over a document.
    pub(super) fn lay_over(&self, document: &mut Node, overlay: Node) {
        if self.is_mapping { document.extend(overlay) } else { document.overlay(overlay) }
    }

    /// The tables that its overlay names, with their physical names.
    pub(crate) fn tables(&self) -> Vec<(String, String)> {
        let tables = self.overlay.get("tables").into_iter().flat_map(Node::texts);
        tables.map(|(logical, name)| (logical.to_owned(), name.to_owned())).collect()
    }

    /// Whether a database of that engine can have it.
    pub(crate) fn is_on(&self, engine: Engine) -> bool {
        !self.when.iter().any(|probe| matches!(probe, Probe::Engine(other) if *other != engine))
    }
}

/// The variants of a document whose engine leaves are picked.
pub(super) fn variants(document: &str, root: &Node) -> Result<Vec<Variant>, SpecError> {
    let nodes = root.get("variant").map_or(&[][..], Node::items).iter();
    nodes.map(|node| variant(&Field::of(document, "variant", node))).collect()
}

fn variant(field: &Field<'_>) -> Result<Variant, SpecError> {
    let need = |key: &str| field.child(key).ok_or_else(|| field.error(format!("needs `{key}`")));
    let (name, when) = (need("name")?.read()?, need("when")?);
    let mut overlay = field.node.clone();
    for key in ["extends", "name", "when", "refuse", "why"] {
        overlay.take(key);
    }
    let is_mapping = field.child("extends").is_some();
    Ok(Variant { name, when: probes(&when)?, refuse: field.get("refuse")?, overlay, is_mapping })
}

/// `when`: what must be so, or must not.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct When {
    engine: Option<Engine>,
    table: Vec<String>,
    no_table: Vec<String>,
    column: Vec<String>,
    no_column: Vec<String>,
    #[serde(rename = "type", deserialize_with = "named")]
    types: Vec<(String, Vec<String>)>,
    #[serde(deserialize_with = "named")]
    label: Vec<(String, String)>,
    function: Vec<String>,
    no_function: Vec<String>,
    #[serde(deserialize_with = "named")]
    option: Vec<(String, String)>,
    sql: Option<Fragment>,
}

fn probes(field: &Field<'_>) -> Result<Vec<Probe>, SpecError> {
    let when: When = field.read()?;
    let split = |place: &str| match place.split_once('.') {
        Some((table, column)) => Ok((table.to_owned(), column.to_owned())),
        None => Err(field.error(format!("`{place}` must be `table.column`"))),
    };
    let mut probes: Vec<Probe> = when.engine.map(Probe::Engine).into_iter().collect();
    for (tables, there) in [(when.table, true), (when.no_table, false)] {
        probes.extend(tables.into_iter().map(|table| Probe::Table(table, there)));
    }
    for (columns, there) in [(when.column, true), (when.no_column, false)] {
        for place in columns {
            let (table, column) = split(&place)?;
            probes.push(Probe::Column(table, column, there));
        }
    }
    for (place, types) in when.types {
        let (table, column) = split(&place)?;
        probes.push(Probe::Type(table, column, types));
    }
    probes.extend(when.label.into_iter().map(|(type_name, label)| Probe::Label(type_name, label)));
    for (functions, there) in [(when.function, true), (when.no_function, false)] {
        probes.extend(functions.into_iter().map(|function| Probe::Function(function, there)));
    }
    probes.extend(when.option.into_iter().map(|(option, value)| Probe::Option(option, value)));
    if let Some(Fragment { written, sql }) = when.sql {
        if sql.0.iter().any(|piece| !matches!(piece, Piece::Text(_) | Piece::Name(_))) {
            return Err(written.error("a probe takes no markers but {table}"));
        }
        probes.push(Probe::Sql(sql));
    }
    Ok(probes)
}

/// Asks the database one boolean question; NULL counts as no.
pub type Ask<'a, E> = &'a mut dyn FnMut(&str) -> Result<bool, E>;

/// What the database has of a preset, its options still to be filled in.
pub(super) struct Chosen {
    /// The document with the variants laid over it.
    pub(super) node: Node,
    /// The same without the mapping that bends it, if one does, but for how it spells names and values.
    pub(super) unbent: Option<Node>,
    pub(super) variants: Vec<String>,
    /// The tables and functions that switch no variant on, because they do not count.
    pub(super) ignored: Ignored,
}

/// Picks the variants that the database has, and lays them over the preset's document for its engine.
pub(super) fn choose<E>(
    preset: &Preset,
    live: &LiveSchema,
    place: &Place,
    ask: Ask<'_, E>,
) -> Result<Chosen, ResolveError<E>> {
    let mut node = preset.for_engine(live.engine)?;
    // What is asked has the options' values in it; what is laid over may change them.
    let overlays: Vec<Node> = variants(&preset.document, &node)?.into_iter().map(|variant| variant.overlay).collect();
    let filled = preset.filled_with(node.clone(), &place.options)?;
    let variants = variants(&preset.document, &filled)?;
    let mut optional = Vec::new();
    let mut base = Document::of(&preset.document, &preset.name, &filled, live.engine)?;
    for (logical, physical) in variants.iter().flat_map(Variant::tables) {
        if !base.tables.iter().any(|(known, _)| *known == logical) {
            optional.push(logical.clone());
            base.tables.push((logical, physical));
        }
    }
    let (schema, mut tables) = physical_tables(&base, live, place)?;
    let mut ignored = Ignored::new();
    let own = tables.get(&base.row().0).copied().flatten();
    for logical in optional {
        let found = tables.get(&logical).copied().flatten().zip(own);
        if let Some((table, why)) = found.and_then(|(table, own)| Some((table, distrusted(table, own)?))) {
            ignored.insert(table.name.clone(), why);
            tables.insert(logical, None);
        }
    }
    let options = chosen(&preset.document, &preset.options, &place.options)?;
    let options = options.into_iter().map(|(name, value)| (name, value.to_string())).collect();
    let names = base.tables.into_iter().collect();
    let mut probing = Probing { live, schema, tables, names, options, ignored, own };
    let (mut held, mut unbent) = (Vec::new(), None);
    for (variant, overlay) in variants.iter().zip(overlays) {
        if probing.holds(variant, ask).map_err(ResolveError::Ask)? {
            if let Some(why) = &variant.refuse {
                let message = format!("variant `{}` is refused: {why}", variant.name);
                return Err(SpecError::whole(&preset.document, message).into());
            }
            if variant.is_mapping {
                let mut node = node.clone();
                node.overlay(overlay.only(&["options", "schema", "sql", "tables", "time", "time_zone"]));
                unbent = Some(node);
            }
            variant.lay_over(&mut node, overlay);
            held.push(variant.name.clone());
        }
    }
    probing.is_known(preset, &variants, &held)?;
    Ok(Chosen { node, unbent, variants: held, ignored: probing.ignored })
}

struct Probing<'a> {
    live: &'a LiveSchema,
    schema: String,
    tables: Tables<'a>,
    /// What the tables are called where they are not there.
    names: BTreeMap<String, String>,
    options: BTreeMap<String, String>,
    ignored: Ignored,
    own: Option<&'a LiveTable>,
}

impl Probing<'_> {
    fn holds<E>(&mut self, variant: &Variant, ask: Ask<'_, E>) -> Result<bool, E> {
        for probe in &variant.when {
            let holds = match (probe, self.seen(probe)) {
                (_, Some(seen)) => seen,
                (Probe::Function(name, there), None) => self.has_function(name, ask)? == *there,
                (Probe::Sql(sql), None) => ask(&self.probe_sql(sql))?,
                (_, None) => false,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a condition holds, where the catalog answers; `None` where only a query can.
    fn seen(&self, probe: &Probe) -> Option<bool> {
        Some(match probe {
            Probe::Engine(engine) => self.live.engine == *engine,
            Probe::Table(table, there) => self.table(table).is_some() == *there,
            Probe::Column(table, column, there) => self.column(table, column).is_some() == *there,
            Probe::Type(table, column, types) => {
                self.column(table, column).is_some_and(|column| types.contains(&column.type_name))
            }
            Probe::Label(type_name, label) => {
                self.live.enums.get(type_name).is_some_and(|labels| labels.contains(label))
            }
            Probe::Option(name, value) => self.options.get(name) == Some(value),
            Probe::Function(_, there) if self.live.engine.is_file() => !*there,
            // A table that does not exist cannot be queried.
            Probe::Sql(sql) if self.absent(sql).is_some() => false,
            Probe::Function(..) | Probe::Sql(_) => return None,
        })
    }

    fn table(&self, logical: &str) -> Option<&LiveTable> {
        self.tables.get(logical).copied().flatten()
    }

    /// A table that a question names and the database does not have.
    fn absent<'t>(&self, sql: &'t Template) -> Option<&'t str> {
        sql.0.iter().find_map(|piece| match piece {
            Piece::Name(name) if self.tables.get(name).is_some_and(Option::is_none) => Some(name.as_str()),
            _ => None,
        })
    }

    /// A table's name in the database.
    fn named<'s>(&'s self, logical: &'s str) -> &'s str {
        match self.table(logical) {
            Some(table) => &table.name,
            None => self.names.get(logical).map_or(logical, String::as_str),
        }
    }

    fn column(&self, table: &str, column: &str) -> Option<&LiveColumn> {
        self.table(table)?.column(column)
    }

    /// True if there is such a function, and it counts as a table would.
    fn has_function<E>(&mut self, name: &str, ask: Ask<'_, E>) -> Result<bool, E> {
        let owner = self.own.map_or("", |own| own.owner.as_str());
        let there = format!(
            "SELECT EXISTS (WITH RECURSIVE circle(role) AS (SELECT r.oid FROM pg_catalog.pg_roles AS r \
             WHERE r.rolname IN (current_user, {}) OR r.oid = (SELECT d.datdba FROM pg_catalog.pg_database AS d \
             WHERE d.datname = pg_catalog.current_database()) \
             UNION SELECT m.roleid FROM circle JOIN pg_catalog.pg_auth_members AS m ON m.member = circle.role \
             JOIN pg_catalog.pg_roles AS g ON g.oid = m.roleid AND NOT pg_catalog.starts_with(g.rolname::text, 'pg_')) \
             SELECT FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace \
             WHERE p.proname = {} AND n.nspname = {}",
            literal(owner),
            literal(name),
            literal(&self.schema)
        );
        let trusted =
            "SELECT circle.role FROM circle UNION SELECT s.oid FROM pg_catalog.pg_roles AS s WHERE s.rolsuper";
        let counts = ask(&format!("{there} AND p.proowner IN ({trusted}))"))?;
        if !counts && ask(&format!("{there})"))? {
            let (function, why) = (format!("function {}.{name}", self.schema), format!("its owner is {STRANGER}"));
            self.ignored.insert(name.to_owned(), ignored(&function, &why, owner));
        }
        Ok(counts)
    }

    fn probe_sql(&self, sql: &Template) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Name(name) => match self.table(name) {
                Some(table) => qualified(&table.schema, &table.name),
                None => quoted(name),
            },
            _ => String::new(),
        };
        sql.0.iter().map(piece).collect()
    }

    /// Refuses tables that no known version has: what is not understood is not touched.
    fn is_known(&self, preset: &Preset, variants: &[Variant], held: &[String]) -> Result<(), SpecError> {
        let exactly_one = &preset.detect.exactly_one;
        let fits: Vec<&str> = exactly_one.iter().filter(|name| held.contains(name)).map(String::as_str).collect();
        // A table that is missing altogether is reported as such.
        let is_missing = preset.detect.tables.iter().any(|wanted| self.table(&wanted.table).is_none());
        if exactly_one.is_empty() || fits.len() == 1 || is_missing {
            return Ok(());
        }
        let (checked, columns) = (preset.checked.join(", "), self.columns(variants));
        let message = if fits.is_empty() {
            let wanted = variants.iter().filter(|variant| exactly_one.contains(&variant.name));
            let wanted = wanted.map(|variant| format!("`{}` wants {}", variant.name, self.wants(variant)));
            let wanted = wanted.collect::<Vec<_>>().join("; ");
            format!("these tables match no known version (checked against {checked}): {wanted}; {columns}")
        } else {
            let fits = fits.join("` and `");
            format!(
                "these tables fit `{fits}` at once, and can be only one of them (checked against {checked}); {columns}"
            )
        };
        Err(SpecError::whole(&preset.document, message))
    }

    /// What a variant asks for and is not so.
    fn wants(&self, variant: &Variant) -> String {
        let unmet: Vec<String> = (variant.when.iter())
            .filter(|probe| self.seen(probe) != Some(true))
            .map(|probe| match probe {
                Probe::Engine(engine) => engine.to_string(),
                Probe::Table(table, true) => match self.ignored.get(self.named(table)) {
                    Some(why) => format!("table {}, which is there ({why})", self.named(table)),
                    None => format!("table {}", self.named(table)),
                },
                Probe::Table(table, false) => format!("no table {}", self.named(table)),
                Probe::Column(table, column, true) => format!("column {}.{column}", self.named(table)),
                Probe::Column(table, column, false) => format!("no column {}.{column}", self.named(table)),
                Probe::Type(table, column, types) => {
                    format!("{}.{column} to be {}", self.named(table), types.join(" or "))
                }
                Probe::Label(type_name, label) => format!("label {label} in type {type_name}"),
                Probe::Function(name, true) => format!("function {name}"),
                Probe::Function(name, false) => format!("no function {name}"),
                Probe::Option(name, value) => format!("--option {name}={value}"),
                Probe::Sql(sql) => match self.absent(sql) {
                    Some(table) => format!("table {}", self.named(table)),
                    None => "something that its probe did not find".to_owned(),
                },
            })
            .collect();
        unmet.join(" and ")
    }

    /// The columns of the tables that the variants ask about.
    fn columns(&self, variants: &[Variant]) -> String {
        let asked = variants.iter().flat_map(|variant| &variant.when).filter_map(|probe| match probe {
            Probe::Column(table, ..) | Probe::Type(table, ..) => Some(table.as_str()),
            _ => None,
        });
        let mut seen: Vec<String> = Vec::new();
        for table in asked.filter_map(|table| self.table(table)) {
            let columns: Vec<String> =
                table.columns.iter().map(|column| format!("{} {}", column.name, column.type_name)).collect();
            let line = format!("{}.{} has {}", table.schema, table.name, columns.join(", "));
            if !seen.contains(&line) {
                seen.push(line);
            }
        }
        seen.join("; ")
    }
}

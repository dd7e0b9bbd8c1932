/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns, as many as the screen is wide.
    Table,
    /// Aligned columns, all of them.
    Wide,
    /// One JSON document.
    Json,
    /// One JSON document per line.
    Jsonl,
    /// Comma-separated values under a line of column names.
    Csv,
    /// Ids alone, one per line.
    Name,
    /// Prometheus' text format, for metrics alone.
    Prometheus,
    /// Nothing: the exit code says it all.
    None,
}

impl Format {
    /// Every format, in the order in which help lists them.
    pub const ALL: [Format; 8] = [
        Format::Table,
        Format::Wide,
        Format::Json,
        Format::Jsonl,
        Format::Csv,
        Format::Name,
        Format::Prometheus,
        Format::None,
    ];

    /// The word that selects it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Wide => "wide",
            Format::Json => "json",
            Format::Jsonl => "jsonl",
            Format::Csv => "csv",
            Format::Name => "name",
            Format::Prometheus => "prometheus",
            Format::None => "none",
        }
    }

    /// Whether a program reads it rather than a person: such output has exact data and no limit of its own.
    pub fn is_machine(self) -> bool {
        !matches!(self, Format::Table | Format::Wide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_readers() {
        let names = ["table", "wide", "json", "jsonl", "csv", "name", "prometheus", "none"];
        assert_eq!(Format::ALL.map(Format::name), names);
        assert_eq!(Format::ALL.map(Format::is_machine), [false, false, true, true, true, true, true, true]);
    }
}

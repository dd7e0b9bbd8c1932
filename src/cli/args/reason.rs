use crate::cli::secret::masked;
use clap::Args;

/// The most characters of a reason: it goes into a column of each job.
const LONGEST: usize = 500;

/// Why it is done.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to do")]
pub struct ReasonArgs {
    /// Why, for who reads the history later: kept in the journal and the ledger, and written with each job where the queue
    /// keeps its last error
    #[arg(long, value_name = "TEXT", value_parser = parse_reason)]
    pub reason: Option<String>,
}

fn parse_reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    match () {
        () if text.is_empty() => Err("it is empty".to_owned()),
        () if text.chars().count() > LONGEST => Err(format!("it is longer than {LONGEST} characters")),
        () if text.chars().any(char::is_control) => Err("it has a control character or a line break in it".to_owned()),
        () if masked(text) != text => Err("it holds what looks like a password".to_owned()),
        () => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons() {
        assert_eq!(parse_reason(" INC-42: web1 lost power "), Ok("INC-42: web1 lost power".to_owned()));
        assert_eq!(parse_reason(&"ü".repeat(500)), Ok("ü".repeat(500)));
        for bad in ["", " ", &"x".repeat(501), "a\nb", "a\x1b[2Jb", "postgres://u:secret@h/d", "password=x"] {
            assert!(parse_reason(bad).is_err(), "{bad}");
        }
    }
}

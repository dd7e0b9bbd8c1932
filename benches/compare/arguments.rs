//! The arguments of the harness.

use crate::place::Engine;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// What to measure, and with which binary.
pub struct Arguments {
    /// The binary that is measured.
    pub jobdoctor: PathBuf,
    /// Rows per table; the lists of stuck jobs are measured at each size, the rest at the first.
    pub rows: Vec<u64>,
    /// The engines to measure on.
    pub engines: Vec<Engine>,
    /// A part of the names of rows; rows without it are left out.
    pub only: Option<String>,
    /// How often each command runs.
    pub turns: usize,
    /// True if peak memory is measured too, which builds a table of a million stuck jobs.
    pub memory: bool,
}

/// The usage, printed with every complaint about arguments.
const USAGE: &str =
    "usage: benches/run [--rows N[,N...]] [--engine sqlite|postgres] [--only TEXT] [--turns N] [--memory]";

impl Arguments {
    /// Reads them.
    ///
    /// # Errors
    /// When one is not known or has no proper value.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments> {
        let mut arguments = Arguments {
            jobdoctor: PathBuf::from(env!("CARGO_BIN_EXE_jobdoctor")),
            rows: vec![2_000_000],
            engines: vec![Engine::Sqlite, Engine::Postgres],
            only: None,
            turns: 9,
            memory: false,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
            match word.as_str() {
                "--jobdoctor" => arguments.jobdoctor = PathBuf::from(value()?),
                "--rows" => {
                    let sizes = value()?;
                    let sizes = sizes.split(',').map(|size| size.trim().replace('_', "").parse());
                    arguments.rows = sizes.collect::<Result<_, _>>().with_context(|| USAGE)?;
                }
                "--engine" => arguments.engines = vec![Engine::parse(&value()?).with_context(|| USAGE)?],
                "--only" => arguments.only = Some(value()?),
                "--turns" => arguments.turns = value()?.parse().with_context(|| USAGE)?,
                "--memory" => arguments.memory = true,
                // Cargo adds this one.
                "--bench" => {}
                _ => bail!("unknown argument {word}\n{USAGE}"),
            }
        }
        if arguments.turns == 0 || arguments.rows.iter().any(|rows| *rows < 100_000) {
            bail!("--turns is at least 1, and --rows at least 100000\n{USAGE}");
        }
        Ok(arguments)
    }
}

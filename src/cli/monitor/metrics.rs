//! The Prometheus metrics of one run, and the file from which node_exporter's textfile collector reads them.

use crate::cli::args::StoreArgs;
use crate::cli::atomic_file::{AtomicFile, FileKind};
use crate::cli::ui::host_time;
use crate::cli::{CliError, Context, Exit};
use crate::ops::{self, OpsError, Selection, Snapshot};
use crate::output::format::prometheus;
use crate::output::metrics::{FOUND, LAST_SUCCESS, OutcomeCounts, RECLAIMED, RunMetrics, Totals, metrics};
use crate::output::{FileMode, Measured, Reclaim};
use crate::policy::Policy;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;

/// The value of the label `target` where no target is configured.
const NO_TARGET: &str = "default";

/// Readable by all users, whatever our umask: the collector runs as another user.
static TEXTFILE: FileKind = FileKind {
    flag: "--textfile",
    name: "the textfile",
    holds: "metrics",
    mode: FileMode::Exactly(0o644),
    recognize: |text| text.starts_with("# HELP jobdoctor_"),
};

/// The metrics of one run, filled while it runs and written at its end.
pub struct Metrics {
    command: &'static str,
    /// When the run began, after a wait that does not count as its duration.
    pub began: Instant,
    textfile: Option<AtomicFile>,
    /// True if the jobs in flight are measured, because the metrics are written or printed.
    measures: bool,
    target: Option<String>,
    measured: Option<Measured>,
    outcomes: Option<OutcomeCounts>,
    /// True if the run read the queue and did no more, because another sweep runs or has just run.
    pub has_yielded: bool,
}

impl Metrics {
    /// Begins a run. Checks that the textfile can be written, before the run does anything.
    pub fn begin(
        command: &'static str,
        textfile: Option<&Path>,
        store: &StoreArgs,
        context: &Context,
    ) -> Result<Metrics, CliError> {
        Ok(Metrics {
            command,
            began: Instant::now(),
            textfile: textfile.map(|path| AtomicFile::at(path, &TEXTFILE)).transpose()?,
            measures: textfile.is_some(),
            target: store.target().or(context.environment.get("JOBDOCTOR_TARGET")).map(str::to_owned),
            measured: None,
            outcomes: None,
            has_yielded: false,
        })
    }

    pub fn with_outcomes(self) -> Metrics {
        Metrics { outcomes: Some(OutcomeCounts::new()), ..self }
    }

    /// Measures the jobs in flight even without a textfile, if the metrics are printed.
    pub fn printed(self, is_printed: bool) -> Metrics {
        Metrics { measures: self.measures || is_printed, ..self }
    }

    pub fn set_target(&mut self, target: Option<&str>) {
        self.target = Some(target.unwrap_or(NO_TARGET).to_owned());
    }

    /// Measures the jobs in flight, if the metrics are written or printed. Call it before the run acts on them.
    pub fn measure(&mut self, snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<(), OpsError> {
        if self.measures {
            selection.check(&snapshot.jobs, policy)?;
            self.measured = Some(ops::measure(snapshot, selection, policy)?);
        }
        Ok(())
    }

    pub fn in_flight(&self) -> u64 {
        self.measured.as_ref().map_or(0, Measured::in_flight)
    }

    pub fn count_outcomes(&mut self, document: &Reclaim) {
        let is_counted = self.measures && document.head.applied;
        let Some(outcomes) = self.outcomes.as_mut().filter(|_| is_counted) else { return };
        for ((queue, action, outcome), steps) in &document.by_queue {
            *outcomes.entry((queue.clone(), *action, outcome.name())).or_default() += steps;
        }
    }

    /// The metrics of a run that ends with exit code 0, as far as it has come.
    pub fn text(&self) -> io::Result<String> {
        self.render(Exit::Done, &PreviousMetrics::default())
    }

    fn write(&self, exit: Exit) -> Result<(), CliError> {
        // A mistake says nothing about a queue, and may have named another.
        let Some(textfile) = self.textfile.as_ref().filter(|_| exit != Exit::Usage) else { return Ok(()) };
        let previous = textfile.text().map(|text| PreviousMetrics::read(&text, self.command)).unwrap_or_default();
        let text = self.render(exit, &previous);
        let text = text.map_err(|error| CliError::new(Exit::Internal, error.to_string()))?;
        textfile.write(|out| out.write_all(text.as_bytes()))
    }

    /// Writes the textfile of a command that only reads, before its report: an error of either leaves stdout empty.
    pub fn finish<T>(&self, context: &Context, result: Result<T, CliError>) -> Result<T, CliError> {
        let written = self.write(ended(context, result.as_ref().map(|_| Exit::Done)));
        match (result, written) {
            (Ok(_), Err(error)) => Err(error),
            (Err(error), Err(unwritten)) => {
                context.ui.warn(&unwritten.message);
                Err(error)
            }
            (result, Ok(())) => result,
        }
    }

    /// Writes the textfile after a run that may have written to the database. A failure is reported and does not change
    /// how the run ends; monitoring notices it by the age of the last run.
    pub fn write_or_report(&self, context: &Context, result: &Result<Exit, CliError>) {
        if let Err(error) = self.write(ended(context, result.as_ref().copied())) {
            context.ui.side_error(&format!("{}; the run itself is not affected", error.message));
        }
    }

    fn render(&self, exit: Exit, previous: &PreviousMetrics) -> io::Result<String> {
        // A run that failed before it read its settings writes under the target of the previous run.
        let target = self.target.as_ref().or(previous.target.as_ref()).map_or(NO_TARGET, String::as_str);
        // Metrics of another target are no previous metrics of this one.
        let previous = Some(previous).filter(|previous| previous.target.as_deref() == Some(target));
        let text = prometheus(&metrics(&RunMetrics {
            command: self.command,
            target,
            ended_at: host_time().map_or(0.0, |now| now.micros() as f64 / 1e6),
            took: self.began.elapsed(),
            exit_code: exit.code(),
            last_success_at: previous.and_then(|previous| previous.last_success_at),
            yielded: self.has_yielded,
            measured: self.measured.as_ref(),
            outcomes: self.outcomes.as_ref(),
            totals: previous.map(|previous| previous.totals.clone()).unwrap_or_default(),
        }))?;
        let is_found_before = self.has_yielded && self.measured.is_none();
        Ok(text + previous.filter(|_| is_found_before).map_or("", |previous| &previous.found))
    }
}

/// The exit of a run with this result; a signal that came meanwhile decides.
fn ended(context: &Context, result: Result<Exit, &CliError>) -> Exit {
    context.caught.signal().map_or_else(|| result.unwrap_or_else(|error| error.exit), Exit::Signal)
}

/// The metrics that outlive a run.
#[derive(Debug, Default, PartialEq)]
struct PreviousMetrics {
    /// The target of the previous run.
    target: Option<String>,
    /// The end of the last run of the same command with exit code 0, in seconds since 1970.
    last_success_at: Option<f64>,
    /// The lines about what the last run of the same command found in flight.
    found: String,
    /// What all earlier runs of the same command did.
    totals: Totals,
}

impl PreviousMetrics {
    /// Reads a textfile. It may have been edited, so lines that do not begin or end as ours are ignored.
    fn read(text: &str, command: &str) -> PreviousMetrics {
        // No target contains these characters, because a quote in it has a backslash before it.
        let up = text.lines().find_map(|line| line.strip_prefix("jobdoctor_up{target=\""));
        let Some((target, _)) = up.and_then(|up| up.split_once("\",command=\"")) else {
            return PreviousMetrics::default();
        };
        let lines = |name| {
            let own = format!("{name}{{target=\"{target}\",command=\"{command}\"");
            let lines = text.lines().filter_map(move |line| line.strip_prefix(&own)?.rsplit_once("} "));
            lines.filter_map(|(labels, value)| {
                Some((labels, value.parse().ok().filter(|value: &f64| value.is_finite())?))
            })
        };
        let at = lines(LAST_SUCCESS).find_map(|(labels, at)| labels.is_empty().then_some(at));
        let mut found = String::new();
        for (name, help) in FOUND {
            let line =
                |(labels, value)| format!("{name}{{target=\"{target}\",command=\"{command}\"{labels}}} {value}\n");
            let lines: String = lines(name).map(line).collect();
            if !lines.is_empty() {
                found.push_str(&format!("# HELP {name} {help}\n# TYPE {name} gauge\n{lines}"));
            }
        }
        let [jobs, since]: [BTreeMap<&str, f64>; 2] = RECLAIMED.map(|name| lines(name).collect());
        let total = |(labels, jobs): (&&str, &f64)| {
            let (rest, outcome) = labels.strip_suffix('"')?.rsplit_once("\",outcome=\"")?;
            let (queue, action) = rest.strip_prefix(",queue=\"")?.rsplit_once("\",action=\"")?;
            let names = [unescaped(queue), action.to_owned(), outcome.to_owned()];
            Some((names, (*jobs, *since.get(labels)?))).filter(|_| *jobs >= 0.0)
        };
        PreviousMetrics {
            target: Some(unescaped(target)),
            // An instant lies between the years 2000 and 2100.
            last_success_at: at.filter(|at| (946_684_800.0..4_102_444_800.0).contains(at)),
            totals: jobs.iter().filter_map(total).collect(),
            found,
        }
    }
}

/// A label's value without the escapes of Prometheus' text format.
fn unescaped(label: &str) -> String {
    let part = |part: &str| part.replace("\\n", "\n").replace("\\\"", "\"");
    label.split("\\\\").map(part).collect::<Vec<_>>().join("\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# HELP jobdoctor_up x\n\
        jobdoctor_up{target=\"a\\\"\\\\\\n}\",command=\"sweep\"} 1\n\
        jobdoctor_last_success_timestamp_seconds{target=\"a\\\"\\\\\\n}\",command=\"sweep\"} 1795168800.25\n\
        jobdoctor_unknown_jobs{target=\"a\\\"\\\\\\n}\",command=\"sweep\",queue=\"} 7\",state=\"RUNNING\"} 3\n\
        jobdoctor_reclaimed_jobs_total{target=\"a\\\"\\\\\\n}\",command=\"sweep\",queue=\"a\\\"b\",action=\"requeue\",outcome=\"moved\"} 3\n\
        jobdoctor_reclaimed_jobs_created{target=\"a\\\"\\\\\\n}\",command=\"sweep\",queue=\"a\\\"b\",action=\"requeue\",outcome=\"moved\"} 7\n";

    #[test]
    fn what_was_found_and_what_was_done_are_kept() {
        let read = |text: &str, command| {
            let previous = PreviousMetrics::read(text, command);
            assert_eq!(previous.target.as_deref(), Some("a\"\\\n}"));
            let found: Vec<String> =
                previous.found.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
            (previous.last_success_at, found, previous.totals)
        };
        let totals = Totals::from([(["a\"b", "requeue", "moved"].map(str::to_owned), (3.0, 7.0))]);
        let found = vec![GOOD.lines().nth(3).unwrap().to_owned()];
        assert_eq!(read(GOOD, "sweep"), (Some(1_795_168_800.25), found, totals));
        assert_eq!(read(GOOD, "stats"), (None, Vec::new(), Totals::new()), "another command's");
        for bad in ["} NaN\n", "} 3 4\n", "\n", " 3\n"] {
            let (_, found, totals) = read(&GOOD.replace("} 3\n", bad), "sweep");
            assert!(found.is_empty() && totals.is_empty(), "{bad}");
        }
        assert!(read(&GOOD.replace("} 3\n", "} -3\n"), "sweep").2.is_empty(), "a counter is never less than 0");
    }
}

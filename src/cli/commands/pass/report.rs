//! Decides whether and how a finished run is reported: cron mails every line, so a sweep that did nothing is silent.

use super::PassCommand;
use crate::cli::atomic_file::{AtomicFile, FileKind};
use crate::cli::environment::host;
use crate::cli::{CliError, Context, Exit, masked};
use crate::model::Outcome;
use crate::ops::{self, Mode, Reclaimed, Records};
use crate::output::format::{Format, count, inert, json};
use crate::output::{
    Closing, FileMode, HistoryOne, Reclaim, SkippedJob, WhySkipped, closing as sentences, left_behind, paragraph,
    place, skipped_by_reason, statements,
};
use crate::policy::SkipReason;
use serde::Serialize;
use std::cell::Cell;
use std::path::Path;

/// How much of a finished run is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loudness {
    /// Nothing: a sweep without news.
    Silent,
    /// The document for a program, without a sentence.
    Document,
    /// A few plain lines for a mail.
    Paragraph,
    /// The document and its sentences.
    Report,
}

impl PassCommand<'_> {
    /// Prints the report, if there is anything to tell.
    pub(super) fn print(&self, done: &Reclaimed, closing: &Closing<'_>) -> Result<(), CliError> {
        let ui = &self.context.ui;
        let loudness = self.loudness(done);
        if matches!(loudness, Loudness::Silent | Loudness::Document) {
            self.detail_skipped(&done.document, closing);
        }
        statements(&done.document.summary.locked_by).for_each(|line| ui.detail(&inert(&line)));
        if self.options.is_restart && !ui.is_watched() {
            self.note_unknown(&done.document);
        }
        match loudness {
            Loudness::Silent => Ok(()),
            _ if self.context.format == Format::Markdown => self.print_markdown(done, closing),
            Loudness::Document => ui.print(self.context.format, &done.document),
            Loudness::Paragraph => self.print_paragraph(done, closing),
            Loudness::Report => {
                ui.print(self.context.format, &done.document)?;
                ui.messages(&sentences(&done.document, closing));
                let Reclaim { head, summary, .. } = &done.document;
                self.context.hint_zone(self.settings, self.options.name, &head.target.preset, summary.unknown_zone);
                Ok(())
            }
        }
    }

    /// Another sweep that was first reports its own actions; the next sweep tries a locked job again, so cron needs no
    /// mail of it; waiting workers are woken by each sweep until one claims the job.
    fn loudness(&self, done: &Reclaimed) -> Loudness {
        if self.options.name != "sweep" || self.context.ui.is_watched() {
            return Loudness::Report;
        }
        let is_format_said = self.options.output.json || self.options.output.output.is_some();
        let is_mail = !is_format_said && self.options.act.mode() == Mode::Apply;
        let is_news = |outcome: &Outcome| match outcome {
            Outcome::Changed | Outcome::Gone => false,
            Outcome::Locked => !is_mail,
            _ => true,
        };
        let document = &done.document;
        let has_steps = match &document.summary.outcomes {
            Some(_) => document.by_queue.keys().any(|(.., outcome)| is_news(outcome)),
            None => document.steps.items.iter().any(|step| !step.is_wake_up()),
        };
        let has_news = document.head.refused.is_some() || !done.after.is_empty() || has_steps;
        match (has_news, is_mail) {
            (true, true) => Loudness::Paragraph,
            (true, false) => Loudness::Report,
            (false, false) if self.context.format.is_machine() => Loudness::Document,
            (false, _) => Loudness::Silent,
        }
    }

    /// Names the jobs that may be stuck although the sweep did nothing, with `--verbose`.
    fn detail_skipped(&self, document: &Reclaim, closing: &Closing<'_>) {
        let ui = &self.context.ui;
        document.summary.outcomes.as_ref().and_then(left_behind).iter().for_each(|line| ui.detail(line));
        if let Some(skipped) = skipped_by_reason(document) {
            ui.detail(&format!("{skipped} To see why: {}", closing.next.explain));
        }
    }

    /// Says in one line how many claims the sweep could not judge, and why it could not judge the first.
    fn note_unknown(&self, document: &Reclaim) {
        let is_unknown = |job: &&SkippedJob| job.skipped.reason == SkipReason::Unknown;
        let Some(first) = document.skipped.iter().find(is_unknown) else { return };
        let unknown = document.summary.skipped_by_reason.get(&SkipReason::Unknown).copied().unwrap_or(0);
        let skipped = count(unknown, "unknown claim was", "unknown claims were");
        let (id, why) = (&first.job.id, WhySkipped::from(&first.skipped).detail);
        self.context.ui.note(&format!("{skipped} skipped, job {id} for one: {why}. `jobdoctor stale` lists them"));
    }

    /// Prints the run in Markdown, from its record.
    fn print_markdown(&self, done: &Reclaimed, closing: &Closing<'_>) -> Result<(), CliError> {
        let head = &done.document.head;
        let Some(run) = head.run_id.as_ref().filter(|_| done.is_recorded) else {
            self.context.ui.messages(&sentences(&done.document, closing));
            return Ok(());
        };
        let journals = self.context.environment.journals();
        let mut snapshot = if head.journal.is_some() { None } else { Some(self.snapshot()?) };
        let mut records = Records { journals: journals.as_ref(), snapshot: snapshot.as_mut() };
        let document = ops::history_run(&mut records, run, HistoryOne::collector(self.context.format))?;
        self.context.ui.report(|out| write!(out, "{}", masked(&document.markdown(&closing.next.undo))))
    }

    /// Prints a few plain lines; a plan that was refused is an error.
    fn print_paragraph(&self, done: &Reclaimed, closing: &Closing<'_>) -> Result<(), CliError> {
        let (ui, document, host) = (&self.context.ui, &done.document, host());
        if let Some(why) = &document.head.refused {
            let message = format!("{}: refused: {why}; nothing was written", place(document, host.as_deref()));
            let error = CliError::new(Exit::Refused, inert(&message));
            let can_override = document.head.brake.pulled && document.head.brake.overridden_by.is_some();
            let hint = || format!("if that is right all the same: {}", closing.next.apply_exactly);
            ui.error(&error.hints(can_override.then(hint)));
            return Ok(());
        }
        let lines = paragraph(document, host.as_deref(), done.is_recorded, closing);
        // A line break in database text must not forge a line of the paragraph.
        ui.report(|out| lines.iter().try_for_each(|line| writeln!(out, "{}", inert(&masked(line)))))
    }
}

/// How the documents begin that a report file may hold.
const BEGINNINGS: [&str; 2] = ["{\n  \"schema\": \"jobdoctor.sweep/v1\",", "{\n  \"schema\": \"jobdoctor.error/v1\","];

/// The group may read it, as it may read logs: a report holds ids and owners.
static REPORT_FILE: FileKind = FileKind {
    flag: "--report-file",
    name: "report file",
    holds: "reports",
    mode: FileMode::UpTo(0o640),
    recognize: |text| BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)),
};

/// `--report-file`: the run's JSON document in a file, for other programs.
pub(in crate::cli::commands) struct ReportFile {
    file: AtomicFile,
    is_written: Cell<bool>,
}

impl ReportFile {
    /// Checks that the file can be written, before the run does anything.
    pub(in crate::cli::commands) fn at(path: &Path) -> Result<ReportFile, CliError> {
        Ok(ReportFile { file: AtomicFile::at(path, &REPORT_FILE)?, is_written: Cell::new(false) })
    }

    /// Writes the document of a finished run; a failure is reported and does not change how the run ends.
    pub(super) fn write_or_report(&self, context: &Context, document: &impl Serialize) {
        if let Err(error) = self.write(document) {
            context.ui.side_error(&format!("{}; the run itself is not affected", error.message));
        }
    }

    /// Writes the run's document. Only the first call writes: an error after the report must not replace it.
    pub(in crate::cli::commands) fn write(&self, document: &impl Serialize) -> Result<(), CliError> {
        if self.is_written.replace(true) {
            return Ok(());
        }
        self.file.write(|out| json(document, out))
    }
}

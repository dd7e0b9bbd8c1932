//! The steps that `reclaim` and `sweep` have in common, in their order.

use super::options::Options;
use crate::cli::args::EvidenceArgs;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::evidence_files::EvidenceFiles;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::model::age;
use crate::ops::{self, ApplyOptions, Guard, LockOptions, OddList, OpsError, Plan, PlanSource, Snapshot};
use crate::output::format::{Format, count};
use crate::output::no_such_job;
use crate::policy::{Policy, Rule};
use crate::preset::ident::literal;
use crate::store::{Limits, Store};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// One run on one queue.
pub(in crate::cli::commands) struct Run<'a> {
    pub(in crate::cli::commands) context: &'a Context,
    pub(in crate::cli::commands) settings: &'a Settings,
    pub(in crate::cli::commands) options: Options<'a>,
    pub(in crate::cli::commands) evidence: EvidenceFiles,
    pub(in crate::cli::commands) store: Box<dyn Store>,
    pub(in crate::cli::commands) limits: Limits,
}

impl<'a> Run<'a> {
    /// Reads the evidence files and opens the store. Where something is written, the database first recovers from a killed
    /// writer.
    ///
    /// # Errors
    /// When a file or the store cannot be used.
    pub(in crate::cli::commands) fn open(
        context: &'a Context,
        settings: &'a Settings,
        options: Options<'a>,
        evidence: &EvidenceArgs,
    ) -> Result<Run<'a>, CliError> {
        let evidence = EvidenceFiles::read(evidence, settings, context, options.time)?;
        let database = settings.database()?;
        context.report_setup(&database);
        let store = database.store()?;
        let limits = settings.limits(options.name, options.time, &context.interrupt, options.act.mode().writes());
        if options.act.mode().writes() && !settings.target.read_only {
            store.recover(&limits)?;
        }
        Ok(Run { context, settings, options, evidence, store, limits })
    }

    /// Begins a snapshot; with a stall budget it counts losses.
    pub(in crate::cli::commands) fn snapshot(&self) -> Result<Snapshot, OpsError> {
        let mut snapshot = self.settings.session(self.store.as_ref(), &self.limits).snapshot()?;
        snapshot.progress = self.context.progress();
        snapshot.return_later(&self.options.delay)?;
        match self.options.max_stalls {
            Some(_) => snapshot.counting_losses(self.context.environment.journals().as_ref()),
            None => Ok(snapshot),
        }
    }

    /// The policy of the settings and of this command line, but for `--older`.
    pub(in crate::cli::commands) fn policy(&self) -> Policy {
        let Options { act, max_stalls, .. } = &self.options;
        let is_asked = act.if_refused.is_some() || self.settings.target.fails_refused;
        let fails_refused = if act.emit_sql { Some(false) } else { is_asked.then_some(true) };
        let mut policy = Policy { to: act.to, max_stalls: *max_stalls, fails_refused, ..self.settings.policy(None) };
        policy.act_on.extend(&act.rule);
        policy
    }

    /// Adds the evidence from files to a policy. The second value is what is odd about the live-owner list.
    ///
    /// # Errors
    /// When the store or the files cannot be used, or `--rule no_progress` could never fire.
    pub(in crate::cli::commands) fn with_evidence(
        &self,
        snapshot: &mut Snapshot,
        policy: Policy,
        is_noted: bool,
    ) -> Result<(Policy, OddList), CliError> {
        let judged = self.evidence.add_to(snapshot, policy, self.context, is_noted)?;
        if self.options.act.rule.contains(&Rule::NoProgress) {
            self.evidence.check_progress(snapshot)?;
        }
        Ok(judged)
    }

    /// Adds to the plan what its rows do not say. A filter without a match is searched for where someone would read of it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(in crate::cli::commands) fn add_caveats(
        &self,
        snapshot: &mut Snapshot,
        (source, policy, list): (&PlanSource, &Policy, &OddList),
        plan: &mut Plan,
        format: Format,
    ) -> Result<(), CliError> {
        if let Some(reason) = &self.options.act.reason.reason {
            let asked = snapshot.reader.sample(&format!("SELECT {}", literal(reason)), Duration::from_secs(5));
            if let Some(error) = asked.err().filter(|error| error.code.as_deref() == Some("22P05")) {
                return Err(CliError::new(
                    Exit::Usage,
                    format!("--reason cannot be written to this database: {error}"),
                )
                .hint("word it in characters that the encoding of the database has"));
            }
        }
        let is_read = format.is_machine() || self.context.ui.shows_details();
        let selection = match source {
            PlanSource::Selection(selection)
                if is_read && !selection.is_by_name() && plan.is_empty() && !plan.has_skipped() =>
            {
                Some(&**selection)
            }
            _ => None,
        };
        let has_unknown = policy.restart.is_none() && plan.has_skipped();
        let mut caveats = ops::caveats(snapshot, selection, has_unknown, plan.in_flight())?;
        caveats.extend(list.unmatched.clone());
        // A plan that is shown prints its own warnings; a sweep shows one only if it has steps.
        if self.options.act.apply || (self.options.name == "sweep" && plan.is_empty()) {
            self.context.warn_of_caveats(&caveats, plan.in_flight() == 0);
        }
        caveats.into_iter().for_each(|caveat| plan.warn(caveat));
        Ok(())
    }

    /// The steps of a plan that a second snapshot confirms; all of them without `--confirm-after`.
    pub(in crate::cli::commands) fn confirmed(
        &self,
        plan: Plan,
        source: &PlanSource,
        policy: &Policy,
    ) -> Result<Plan, CliError> {
        let Some(after) = self.options.confirm_after.filter(|_| !plan.is_empty()) else { return Ok(plan) };
        if self.context.ui.is_watched() {
            let jobs = count(plan.len() as u64, "job", "jobs");
            let after = age(after);
            self.context.ui.note(&format!("{jobs} planned; a second snapshot in {after} shows which are unchanged"));
        }
        Ok(ops::confirm(&|| self.snapshot(), &self.limits, plan, source, policy, after)?)
    }

    /// How the plan is applied, and the guards that may refuse it.
    pub(in crate::cli::commands) fn apply_options(
        &self,
        plan: &Plan,
        run_id: String,
        wrong_list: Option<String>,
        sweep_lock: Option<LockOptions>,
    ) -> ApplyOptions<'_> {
        let (Options { act, .. }, settings) = (&self.options, self.settings);
        ApplyOptions {
            schema: self.options.schema,
            mode: act.mode(),
            guard: Guard {
                max_jobs: act.max_jobs.or(settings.target.max_jobs),
                expect: act.expect.as_deref(),
                read_only: settings.target_name.as_deref().filter(|_| settings.target.read_only),
                is_standby: plan.is_of_standby(),
                overridden: self.options.overridden(settings),
                wrong_list: wrong_list.filter(|_| act.max_jobs.is_none()),
            },
            run_id,
            later: self.options.delay,
            fast: act.fast.fast,
            sweep_lock,
            record: settings.record(self.options.name, act.reason.reason.as_ref(), &self.context.environment),
        }
    }

    /// Prints the plan as a script.
    ///
    /// # Errors
    /// When the plan has no script, or stdout cannot be written.
    pub(in crate::cli::commands) fn emit(&self, plan: &Plan, apply: &ApplyOptions<'_>) -> Result<Exit, CliError> {
        let ui = &self.context.ui;
        let emitted = ops::emit(&self.limits, plan, apply, self.settings.foreign_keys())?;
        ui.report(|out| emitted.parts.iter().try_for_each(|part| out.write_all(part?.as_bytes())))?;
        emitted.warnings.iter().for_each(|warning| ui.warn(warning));
        let not_found = plan.not_found();
        if !not_found.is_empty() {
            ui.warn(&no_such_job(plan.table(), not_found));
        }
        ui.note(&format!(
            "a script of {} for {}; nothing was written",
            count(emitted.batches, "batch", "batches"),
            count(plan.len() as u64, "job", "jobs")
        ));
        Ok(if not_found.is_empty() { Exit::Done } else { Exit::Partial })
    }
}

/// A run id: the database's time and a random suffix.
pub(in crate::cli::commands) fn run_id(snapshot: &Snapshot) -> String {
    let time: String = snapshot.now().to_string().chars().filter(|c| c.is_ascii_digit()).take(14).collect();
    let random = RandomState::new().build_hasher().finish();
    format!("{time}-{:06x}", random & 0xff_ffff)
}

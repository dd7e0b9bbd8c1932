//! The steps that `reclaim` and `sweep` have in common, in their order.

use super::follow_up::FollowUp;
use super::options::Options;
use crate::cli::args::EvidenceArgs;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::evidence_files::EvidenceFiles;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::cli::state_directory::{journals, record};
use crate::model::age;
use crate::ops::{self, ApplyOptions, Guard, LockOptions, OpsError, Plan, PlanSource, Snapshot};
use crate::output::format::count;
use crate::output::no_such_job;
use crate::policy::{Policy, Rule};
use crate::store::{Limits, Store};
use std::hash::{BuildHasher, Hasher, RandomState};

/// One run on one queue.
pub(in crate::cli::commands) struct Run<'a> {
    pub(in crate::cli::commands) context: &'a Context,
    pub(in crate::cli::commands) settings: &'a Settings,
    pub(in crate::cli::commands) options: Options<'a>,
    /// The evidence that is given in files.
    pub(in crate::cli::commands) beside: EvidenceFiles,
    pub(in crate::cli::commands) store: Box<dyn Store>,
    pub(in crate::cli::commands) limits: Limits,
}

impl<'a> Run<'a> {
    /// Reads the evidence files, and opens the store. With `--apply` the database first recovers from a writer that died.
    ///
    /// # Errors
    /// When a file or the store cannot be used.
    pub(in crate::cli::commands) fn open(
        context: &'a Context,
        settings: &'a Settings,
        options: Options<'a>,
        beside: &EvidenceArgs,
    ) -> Result<Run<'a>, CliError> {
        let beside = EvidenceFiles::read(beside, settings, context, options.time)?;
        let database = settings.database()?;
        context.say_setup(&database);
        let store = database.store()?;
        let limits = settings.limits(options.name, options.time, &context.interrupt, options.act.apply);
        if options.act.apply && !settings.target.read_only {
            store.recover(&limits)?;
        }
        Ok(Run { context, settings, options, beside, store, limits })
    }

    /// Begins a snapshot, with losses counted where a budget asks for it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(in crate::cli::commands) fn snapshot(&self) -> Result<Snapshot, OpsError> {
        let mut snapshot = self.settings.session(self.store.as_ref(), &self.limits).snapshot()?;
        snapshot.progress = self.context.progress();
        snapshot.return_later(&self.options.later)?;
        match self.options.max_stalls {
            Some(_) => snapshot.counting_losses(journals(&self.context.environment).as_ref()),
            None => Ok(snapshot),
        }
    }

    /// The policy of the settings and of this command line, without a threshold.
    pub(in crate::cli::commands) fn policy(&self) -> Policy {
        let Options { act, max_stalls, .. } = &self.options;
        let mut policy = Policy { to: act.to, max_stalls: *max_stalls, ..self.settings.policy(None) };
        policy.act_on.extend(&act.rule);
        policy
    }

    /// Adds the evidence of the files to a policy; and says why the list of owners may be the wrong one.
    ///
    /// # Errors
    /// When the store or the files cannot be used, or `--rule no_progress` could never fire.
    pub(in crate::cli::commands) fn with_evidence(
        &self,
        snapshot: &mut Snapshot,
        policy: Policy,
        speaks: bool,
    ) -> Result<(Policy, Option<String>), CliError> {
        let judged = self.beside.judge(snapshot, policy, self.context, speaks)?;
        if self.options.act.rule.contains(&Rule::NoProgress) {
            self.beside.can_show_progress(snapshot)?;
        }
        Ok(judged)
    }

    /// The part of a plan that a second snapshot confirms, if one was asked for.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(in crate::cli::commands) fn confirmed(
        &self,
        plan: Plan,
        asked: &PlanSource,
        policy: &Policy,
    ) -> Result<Plan, CliError> {
        let Some(after) = self.options.confirm_after.filter(|_| !plan.is_empty()) else { return Ok(plan) };
        if self.context.ui.is_watched() {
            let jobs = count(plan.len() as u64, "job", "jobs");
            let after = age(after);
            self.context.ui.note(&format!("{jobs} to move; a second snapshot in {after} shows which are unchanged"));
        }
        Ok(ops::confirm(&|| self.snapshot(), &self.limits, plan, asked, policy, after)?)
    }

    /// What is asked about a plan: to print it or to apply it, and within which bounds.
    pub(in crate::cli::commands) fn order(
        &self,
        plan: &Plan,
        run_id: String,
        wrong_list: Option<String>,
        sweep_lock: Option<LockOptions>,
    ) -> ApplyOptions<'_> {
        let (Options { act, .. }, settings) = (&self.options, self.settings);
        ApplyOptions {
            schema: self.options.schema,
            apply: act.apply,
            guard: Guard {
                max_jobs: act.max_jobs.or(settings.target.max_jobs),
                expect: act.expect.as_deref(),
                read_only: settings.target_name.as_deref().filter(|_| settings.target.read_only),
                is_standby: plan.is_of_standby(),
                lifted: self.options.lifted(settings),
                wrong_list: wrong_list.filter(|_| act.max_jobs.is_none()),
            },
            run_id,
            later: self.options.later,
            sweep_lock,
            record: record(self.options.name, &settings.target, act.reason.reason.as_ref(), &self.context.environment),
        }
    }

    /// Prints the plan as a script.
    ///
    /// # Errors
    /// When there is none, or stdout cannot be written.
    pub(in crate::cli::commands) fn emit(&self, plan: &Plan, order: &ApplyOptions<'_>) -> Result<Exit, CliError> {
        let ui = &self.context.ui;
        let emitted = ops::emit(&self.limits, plan, order, self.settings.foreign_keys())?;
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

    /// Prepares `--verify`, before the plan is used up.
    ///
    /// # Errors
    /// When a long plan cannot be read back.
    pub(in crate::cli::commands) fn follow_up(&self, plan: &Plan, policy: &Policy) -> Result<FollowUp<'_>, CliError> {
        FollowUp::of(self, plan, policy)
    }
}

/// A name for the run: the database's time and a few letters that no other run has.
pub(in crate::cli::commands) fn run_id(snapshot: &Snapshot) -> String {
    let time: String = snapshot.now().to_string().chars().filter(|c| c.is_ascii_digit()).take(14).collect();
    let random = RandomState::new().build_hasher().finish();
    format!("{time}-{:06x}", random & 0xff_ffff)
}

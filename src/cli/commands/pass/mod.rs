//! One pass over a queue: plan, confirm, carry out, report. `reclaim`, `sweep` and `undo` differ by its values.

mod ending;
mod on_run;
mod options;
mod report;

use crate::cli::args::PlanArgs;
use crate::cli::environment::host;
use crate::cli::evidence_files::EvidenceFiles;
use crate::cli::{CliError, Context, Exit, Settings};
use crate::model::age;
use crate::ops::{
    self, ApplyOptions, Guard, LockOptions, Mode, OddList, OpsError, PlanSource, ReadyPlan, Reclaimed, Snapshot,
};
use crate::output::format::{Format, count, grouped};
use crate::output::{Closing, WarnAbove};
use crate::policy::{Policy, RestartScope, Rule};
use crate::store::{Limits, Store, random};
use ending::{FollowUp, end, exit};
pub(super) use options::Options;
pub(super) use report::ReportFile;
use std::time::Duration;

/// Hosts named in a warning.
const SHOWN: usize = 5;

pub(super) struct PassCommand<'a> {
    pub(super) context: &'a Context,
    pub(super) settings: &'a Settings,
    pub(super) options: Options<'a>,
    /// What its plan is made from.
    pub(super) source: PlanSource,
    pub(super) evidence: EvidenceFiles,
    pub(super) store: Box<dyn Store>,
    pub(super) limits: Limits,
}

pub(super) struct Carried<'a> {
    pub(super) done: Reclaimed,
    follow_up: FollowUp<'a>,
}

impl<'a> PassCommand<'a> {
    /// Reads the evidence files and opens the store. For writing, the database first recovers from a killed writer.
    pub(super) fn open(
        context: &'a Context,
        settings: &'a Settings,
        options: Options<'a>,
        source: PlanSource,
    ) -> Result<PassCommand<'a>, CliError> {
        let writes = options.act.mode().writes();
        if context.format == Format::Markdown && options.act.mode() != Mode::Apply {
            let hint = "add --apply, or leave -o markdown out";
            return Err(CliError::usage("-o markdown tells what a run did, and a plan did nothing").hint(hint));
        }
        let evidence = EvidenceFiles::read(options.evidence, settings, context, options.time)?;
        let store = context.store(settings)?;
        let limits = settings.limits(options.name, options.time, &context.interrupt, writes);
        if writes && !settings.target.read_only {
            store.recover(&limits)?;
        }
        Ok(PassCommand { context, settings, options, source, evidence, store, limits })
    }

    fn of_queue<'s>(&'s self, on_pause: &'s dyn Fn(&ReadyPlan, Duration)) -> ops::Pass<'s> {
        let Options { act, interrupted, max_stalls, delay, confirm_after, is_restart, .. } = &self.options;
        ops::Pass {
            session: self.settings.session(self.store.as_ref(), &self.limits),
            source: &self.source,
            mode: act.mode(),
            of_interrupted: interrupted.is_some(),
            counts_losses: max_stalls.is_some(),
            delay: *delay,
            confirm_after: *confirm_after,
            is_whole: self.is_whole(),
            progress: self.context.progress(*is_restart),
            on_pause,
        }
    }

    /// Says before the pause of a confirmation what is planned.
    fn note_pause(&self, plan: &ReadyPlan, after: Duration) {
        if self.context.ui.is_watched() {
            let (jobs, after) = (count(plan.len() as u64, "job", "jobs"), age(after));
            self.context.ui.note(&format!("{jobs} planned; a second snapshot in {after} shows which are unchanged"));
        }
    }

    /// Begins a snapshot; with a stall budget it counts losses.
    pub(super) fn snapshot(&self) -> Result<Snapshot, OpsError> {
        self.of_queue(&|_, _| {}).snapshot()
    }

    /// True if a program reads the list of what becomes of the steps.
    fn is_whole(&self) -> bool {
        let is_list = matches!(self.context.format, Format::Json | Format::Jsonl | Format::Csv | Format::Name);
        (is_list || self.options.has_report_file) && self.options.act.mode() != Mode::ServerDryRun
    }

    /// Names the run after the database's time, with a random suffix.
    pub(super) fn run_id(&self, snapshot: &Snapshot) -> String {
        let time: String = snapshot.now().to_string().chars().filter(|c| c.is_ascii_digit()).take(14).collect();
        let run_id = format!("{time}-{:06x}", random() & 0xff_ffff);
        self.context.ui.set_run(&run_id);
        run_id
    }

    /// The policy of the settings and of this command line, but for `--older`.
    pub(super) fn policy(&self) -> Policy {
        let Options { act, max_stalls, .. } = &self.options;
        let fails_refused = act.if_refused.is_some() || self.settings.target.fails_refused;
        let mut policy = Policy { to: act.to, max_stalls: *max_stalls, fails_refused, ..self.settings.policy(None) };
        policy.act_on.extend(&act.rule);
        self.options.interrupted.map_or(policy.clone(), |since| policy.on_interrupted(since))
    }

    /// Adds the evidence from files to a policy. The second value is what is odd about the live-owner list.
    pub(super) fn with_evidence(
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

    /// Plans in a snapshot, which ends.
    pub(super) fn plan(&self, mut snapshot: Snapshot, policy: &Policy, list: &OddList) -> Result<ReadyPlan, CliError> {
        let on_pause = |plan: &ReadyPlan, after| self.note_pause(plan, after);
        let pass = self.of_queue(&on_pause);
        let mut plan = pass.plan(&mut snapshot, policy, self.options.act.reason.reason.as_deref())?;
        if !matches!(self.source, PlanSource::Run(..)) {
            self.add_caveats(&mut snapshot, policy, list, &mut plan)?;
        }
        let mut plan = pass.confirmed(plan, snapshot, policy)?;
        if let Some(why) = plan.refused_interrupted.take() {
            // A plan that is shown prints its own warnings.
            self.options.act.apply.then(|| self.context.ui.warn(&why));
            plan.warn(why);
        }
        Ok(plan)
    }

    /// Adds to the plan what its rows do not say. A filter without a match is searched for only if the caveat is read.
    fn add_caveats(
        &self,
        snapshot: &mut Snapshot,
        policy: &Policy,
        list: &OddList,
        plan: &mut ops::Plan,
    ) -> Result<(), CliError> {
        self.warn_of_unknown(snapshot, policy, plan)?;
        let is_silent = self.options.name == "sweep" && policy.restart.is_none();
        let is_read = !is_silent || self.context.format.is_machine() || self.context.ui.shows_details();
        let selection = match &self.source {
            PlanSource::Selection(selection) if is_read && plan.is_empty() && !plan.has_skipped() => Some(&**selection),
            _ => None,
        };
        let selection = selection.filter(|it| it.with_interrupted.is_none() && !it.is_by_name());
        let has_unknown = policy.restart.is_none() && plan.has_skipped();
        let mut caveats = ops::caveats(snapshot, selection, has_unknown, plan.in_flight)?;
        caveats.extend(list.unmatched.clone());
        // A plan that is shown prints its own warnings; a sweep shows one only if it has steps.
        if self.options.act.apply || (self.options.name == "sweep" && plan.is_empty()) {
            self.context.warn_of_caveats(&caveats, plan.in_flight == 0 || !is_silent && selection.is_some());
        }
        caveats.into_iter().for_each(|caveat| plan.warn(caveat));
        Ok(())
    }

    /// Adds a warning to the plan if the named owners hold no job: a short host name where owners use the long one, for
    /// example. Most restarts find nothing: stderr gets a plain line, and a warning at a terminal, with `--verbose`, and
    /// where a host in flight has nearly the same name.
    fn warn_of_unknown(&self, snapshot: &mut Snapshot, policy: &Policy, plan: &mut ops::Plan) -> Result<(), CliError> {
        let (Some(restart), ui) = (&policy.restart, &self.context.ui) else { return Ok(()) };
        let Some(unmatched) = ops::unmatched_names(snapshot, &restart.scope)? else { return Ok(()) };
        let are_hosts = matches!(restart.scope, RestartScope::Hosts(_));
        let warning = unknown_owners(are_hosts, &unmatched.names, &unmatched.hosts);
        match unmatched.is_near {
            // A plan that is shown prints its own warnings.
            _ if ui.is_watched() && self.options.act.mode() != Mode::Apply => {}
            true => ui.warn(&warning),
            false => ui.note(&warning),
        }
        plan.warn(warning);
        Ok(())
    }

    /// How the plan is applied, and the guards that may refuse it.
    pub(super) fn apply_options(
        &self,
        plan: &ReadyPlan,
        run_id: String,
        wrong_list: Option<String>,
        sweep_lock: Option<LockOptions>,
    ) -> ApplyOptions<'_> {
        let (Options { act, .. }, settings) = (&self.options, self.settings);
        ApplyOptions {
            schema: self.options.schema(),
            mode: act.mode(),
            guard: Guard {
                max_jobs: act.max_jobs.or(settings.target.max_jobs),
                expect: act.expect.as_deref(),
                read_only: settings.target_name.as_deref().filter(|_| settings.target.read_only),
                is_standby: plan.is_of_standby(),
                overridden: self.options.overridden(settings),
                wrong_list: wrong_list.filter(|_| act.max_jobs.is_none()),
                living: self.living_hosts(plan),
            },
            run_id,
            later: self.options.delay,
            fast: act.fast.fast,
            sweep_lock,
            record: settings.record(self.options.name, &act.reason, &self.context.environment),
            next: None,
        }
    }

    /// Asks whether another host that shows life is stopped. Hooks and cron are not asked: leases outlive every stop.
    fn living_hosts(&self, plan: &ReadyPlan) -> Option<String> {
        let is_by_hand = self.context.ui.is_watched() || !self.options.act.apply;
        let here = host();
        let mut hosts = plan.living_hosts.iter().filter(|host| is_by_hand && Some(*host) != here.as_ref());
        let host = hosts.next()?;
        let more = hosts.count() as u64;
        let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
        Some(format!("owners on host {host}{more} still show life: is it stopped?"))
    }

    /// Carries the plan out, or only reports it, as the options say. `--verify` watches before a report that has a
    /// field for the result. An error means that nothing was written.
    pub(super) fn carry_out(
        &self,
        plan: ReadyPlan,
        policy: &Policy,
        apply: ApplyOptions<'_>,
    ) -> Result<Carried<'_>, CliError> {
        for (action, statements) in plan.statements() {
            // Indented, so that no name with a line break begins a line.
            let lines = statements.iter().flat_map(|sql| sql.lines()).map(|line| format!("\n    {line}"));
            self.context.ui.detail(&format!("each batch of {action} runs:{}", lines.collect::<String>()));
        }
        let follow_up = FollowUp::of(self, &plan, policy);
        let on_pause = |plan: &ReadyPlan, after| self.note_pause(plan, after);
        let done = self.of_queue(&on_pause).carry_out(plan, policy, apply)?;
        Ok(Carried { done, follow_up })
    }

    /// Reports what was done, and ends the run. If the report cannot be printed, the error says what was done.
    pub(super) fn end(
        &self,
        mut carried: Carried<'_>,
        plan: &PlanArgs,
        warn_above: Option<&WarnAbove>,
        report_file: Option<&ReportFile>,
    ) -> Result<Exit, CliError> {
        let Carried { done, follow_up } = &mut carried;
        // A report that has a field for what is watched waits for it.
        if matches!(self.context.format, Format::Json | Format::Jsonl | Format::Markdown) {
            follow_up.run(done);
        }
        let closing = Closing {
            is_machine: self.context.format.is_machine(),
            is_watched: self.context.ui.is_watched(),
            after: &done.after,
            stop: done.stop.as_ref().map(ToString::to_string),
            warn_above,
            save_plan: plan.save_plan.as_deref(),
            next: self.next_commands(plan, &done.document),
        };
        let printed = self.print(done, &closing);
        follow_up.run(done);
        report_file.iter().for_each(|report| report.write_or_report(self.context, &done.document));
        let exit = exit(done, &self.source).worse(follow_up.exit);
        let ended = end(printed, exit, self.context, done);
        let outcomes = done.document.summary.outcomes.as_ref();
        let is_news = outcomes.map_or(done.document.head.refused.is_some(), |ended| ended.moved + ended.refused > 0);
        if is_news && self.options.act.mode() == Mode::Apply {
            (done.document.steps, done.document.skipped) = Default::default();
            on_run::report(&self.settings.target.on_run, &done.document, self.context);
        }
        ended
    }
}

fn unknown_owners(are_hosts: bool, named: &[String], others: &[String]) -> String {
    let who = if are_hosts { "no owner on host" } else { "no owner like" };
    let shown = others.get(..SHOWN).unwrap_or(others).join(", ");
    let others = match others.len() {
        0 => "no owner does".to_owned(),
        n if n > SHOWN => format!("hosts in flight: {shown} ({} more)", grouped((n - SHOWN) as u64)),
        _ => format!("hosts in flight: {shown}"),
    };
    format!("{who} {} holds a job in flight; {others}", named.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hosts_are_named() {
        let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let warning = unknown_owners(true, &hosts(&["a.b"]), &hosts(&["1", "2", "3", "4", "5", "6", "7"]));
        assert_eq!(warning, "no owner on host a.b holds a job in flight; hosts in flight: 1, 2, 3, 4, 5 (2 more)");
        let warning = unknown_owners(false, &hosts(&["a:*", "b:*"]), &[]);
        assert_eq!(warning, "no owner like a:* or b:* holds a job in flight; no owner does");
    }
}

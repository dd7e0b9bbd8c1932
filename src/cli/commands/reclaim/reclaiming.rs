use crate::cli::args::{ActArgs, BesideArgs, ConfirmArgs, UnattendedArgs};
use crate::cli::beside::Beside;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::metrics::Metrics;
use crate::cli::plan_file;
use crate::cli::present::present;
use crate::cli::record::record;
use crate::cli::report_file::ReportFile;
use crate::cli::settings::Settings;
use crate::ops::{self, Asked, Guard, Look, Order, Reclaimed};
use crate::policy::{Lifted, Policy};
use crate::render::Format;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

/// What `reclaim` and `sweep` have in common.
pub(in crate::cli::commands) struct Reclaiming<'a> {
    pub(in crate::cli::commands) name: &'static str,
    pub(in crate::cli::commands) schema: &'static str,
    pub(in crate::cli::commands) act: &'a ActArgs,
    pub(in crate::cli::commands) beside: &'a BesideArgs,
    pub(in crate::cli::commands) confirm: &'a ConfirmArgs,
    /// Which jobs.
    pub(in crate::cli::commands) asked: Asked,
    pub(in crate::cli::commands) format: Format,
    pub(in crate::cli::commands) settings: Settings,
    /// For a run that nobody may be watching: without a terminal it says nothing when nothing was done, because cron would
    /// mail it.
    pub(in crate::cli::commands) unattended: Option<Unattended<'a>>,
    /// Where to keep the plan.
    pub(in crate::cli::commands) save_plan: Option<&'a Path>,
    /// Who keeps count for monitoring.
    pub(in crate::cli::commands) metrics: Option<&'a Metrics>,
}

/// What `sweep` has beside that.
pub(in crate::cli::commands) struct Unattended<'a> {
    pub(in crate::cli::commands) args: &'a UnattendedArgs,
    /// True if it takes turns with other sweeps: all but restart sweeps of some owners, because workers must always start.
    pub(in crate::cli::commands) takes_turns: bool,
    pub(in crate::cli::commands) is_restart: bool,
    /// True if no format was asked for.
    pub(in crate::cli::commands) is_brief: bool,
    pub(in crate::cli::commands) report: Option<&'a ReportFile>,
}

impl Reclaiming<'_> {
    /// Looks, plans, and carries the plan out if that was asked for. `refine` completes the policy from the look.
    pub(in crate::cli::commands) fn run(
        &self,
        context: &Context,
        refine: impl Fn(&Look, &Beside, Policy) -> Policy,
    ) -> Result<Exit, CliError> {
        let settings = &self.settings;
        self.gentle_flags_mean_something()?;
        let time = self.usual_time()?;
        let beside = Beside::read(self.beside, settings, context, time)?;
        let database = settings.database()?;
        context.say_setup(&database);
        let store = database.store()?;
        let limits = settings.limits(self.name, time, &context.interrupt, self.act.apply);
        let switched_on = settings.target.rules.iter().map(|(rule, _)| rule);
        let rules = self.act.rule.iter().chain(switched_on).copied();
        let policy =
            Policy { act_on: rules.collect(), to: self.act.to, max_stalls: self.max_stalls(), ..settings.policy(None) };
        if self.act.apply && !settings.target.read_only {
            store.recover(&limits)?;
        }
        let later = self.later();
        let look_again = || {
            let mut look = settings.session(store.as_ref(), &limits).look()?;
            look.progress = context.progress();
            look.return_later(&later)?;
            self.counting(look, context)
        };
        let look = look_again()?;
        context.say_where(&look);
        if let (Some(_), Some(why)) = (&self.unattended, look.spec.advice_only()) {
            // Silence would look like success for ever.
            let message = format!("nothing can be swept here: {why}");
            return Err(CliError::new(Exit::Config, message));
        }
        let run_id = run_id(&look);
        context.ui.is_run(&run_id);
        let (mut look, mut standing) = self.stand_in_line(context, &limits, look, &look_again)?;
        let policy = self.asked.policy(refine(&look, &beside, policy))?;
        let speaks = !self.format.is_machine() && (self.unattended.is_none() || context.ui.is_watched());
        let (policy, wrong_list) = beside.judge(&mut look, policy, context, speaks)?;
        self.must_know_progress(&look)?;
        if let (Some(metrics), Asked::Selection(selection)) = (self.metrics, &self.asked) {
            metrics.measure(&mut look, selection, &policy)?;
        }
        let plan = self.asked.plan(&mut look, &policy)?;
        context.warn_if_blind(&mut look, plan.in_flight())?;
        // A reader's snapshot must not stay open while writing: on SQLite it could keep the writer out.
        drop(look);
        let mut plan = self.confirmed(context, &look_again, &limits, plan, &policy)?;
        self.with_waiting(store.as_ref(), &limits, &mut plan, &policy)?;
        if let Some(path) = self.save_plan {
            plan_file::write(path, &plan.to_save()?)?;
        }
        let read_only = settings.target_name.as_deref().filter(|_| settings.target.read_only);
        let order = Order {
            schema: self.schema,
            apply: self.act.apply,
            guard: Guard {
                max_jobs: self.act.max_jobs.or(settings.target.max_jobs),
                expect: self.act.expect.as_deref(),
                read_only,
                is_standby: plan.is_of_standby(),
                lifted: self.lifted(),
                wrong_list: wrong_list.filter(|_| self.act.max_jobs.is_none()),
            },
            run_id,
            later,
            turns: standing.turns,
            record: record(self.name, &settings.target, self.act.reason.reason.as_ref(), &context.environment),
        };
        if self.act.emit.emit_sql {
            return self.emit(context, &limits, &plan, &order);
        }
        let mut following = self.following(store.as_ref(), &plan, &policy)?;
        let mut done = ops::reclaim(store.as_ref(), &limits, plan, &order)?;
        standing.ended(context, &done);
        self.metrics.iter().for_each(|metrics| metrics.note(&done.document));
        if self.tells_what_followed() {
            following.run(context, &mut done);
        }
        // Cron mails whatever is said; a document that was asked for is no news.
        // Where another sweep was faster, it is the other one's news.
        let summary = &done.document.summary;
        let elsewhere = summary.outcomes.as_ref().is_some_and(|o| o.changed + o.gone == summary.planned);
        let nothing_done = (summary.planned == 0 || elsewhere) && done.document.refused.is_none();
        let idle = self.unattended.is_some() && nothing_done && !context.ui.is_watched();
        let told = self.tell(context, &done, idle);
        following.run(context, &mut done);
        self.keep(context, &done);
        let exit = self.exit(&done).worse(following.exit);
        // What was done counts, even if it cannot be told.
        told.map(|()| exit).map_err(|error| CliError { exit: error.exit.worse(exit), ..error })
    }

    fn tell(&self, context: &Context, done: &Reclaimed, idle: bool) -> Result<(), CliError> {
        if self.is_brief(context) {
            return if idle { Ok(()) } else { self.tell_briefly(context, done) };
        }
        if !idle || self.format.is_machine() {
            present(&context.ui, self.format, &done.document)?;
        }
        if !idle {
            self.say(context, done);
        }
        Ok(())
    }

    /// Writes the document into the file that was named for it. If that is no longer possible the run still ends as it would
    /// have ended.
    fn keep(&self, context: &Context, done: &Reclaimed) {
        let report = self.unattended.as_ref().and_then(|said| said.report);
        if let Some(Err(error)) = report.map(|report| report.write(&done.document)) {
            context.ui.complain(&format!("{}; what the run did is not changed by that", error.message));
        }
    }

    /// What lifts the brake: a number of jobs on this command line, not one that the config file allows each run.
    fn lifted(&self) -> Option<Lifted> {
        let of_target = (self.settings.target.brake == Some(false)).then_some(Lifted::Target);
        self.act.max_jobs.map(Lifted::MaxJobs).or(of_target)
    }
}

/// A name for the run: the store's time and a few letters that no other run has.
pub(in crate::cli::commands) fn run_id(look: &Look) -> String {
    let time: String = look.now().to_string().chars().filter(|c| c.is_ascii_digit()).take(14).collect();
    let random = RandomState::new().build_hasher().finish();
    format!("{time}-{:06x}", random & 0xff_ffff)
}

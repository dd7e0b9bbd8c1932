use crate::cli::args::{ActArgs, BesideArgs, ConfirmArgs, UnattendedArgs};
use crate::cli::beside::Beside;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::metrics::Metrics;
use crate::cli::plan_file;
use crate::cli::record::record;
use crate::cli::report_file::ReportFile;
use crate::cli::settings::Settings;
use crate::cli::splay;
use crate::model::Timestamp;
use crate::ops::{self, Asked, Guard, Order, Snapshot};
use crate::output::format::Format;
use crate::policy::{EarlierSnapshot, Lifted, Policy};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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
    /// How long a restart sweep may sleep between its first snapshot and the one it judges. Other sweeps sleep before they look.
    pub(in crate::cli::commands) splay: Option<Duration>,
    /// True if it acquires the sweep lock: all but restart sweeps of some owners, because workers must always start.
    pub(in crate::cli::commands) takes_turns: bool,
    pub(in crate::cli::commands) is_restart: bool,
    /// True if no format was asked for.
    pub(in crate::cli::commands) is_brief: bool,
    pub(in crate::cli::commands) report: Option<&'a ReportFile>,
}

impl Reclaiming<'_> {
    /// EarlierSnapshot, plans, and carries the plan out if that was asked for. `refine` completes the policy from the snapshot.
    pub(in crate::cli::commands) fn run(
        &self,
        context: &Context,
        refine: impl Fn(&Snapshot, &Beside, Policy) -> Policy,
    ) -> Result<Exit, CliError> {
        let settings = &self.settings;
        self.gentle_flags_mean_something()?;
        let time = self.usual_time()?;
        let beside = Beside::read(self.beside, settings, context, time)?;
        let database = settings.database()?;
        context.say_setup(&database);
        let store = database.store()?;
        let limits = settings.limits(self.name, time, &context.interrupt, self.act.apply);
        let mut policy = Policy { to: self.act.to, max_stalls: self.max_stalls(), ..settings.policy(None) };
        policy.act_on.extend(&self.act.rule);
        if self.act.apply && !settings.target.read_only {
            store.recover(&limits)?;
        }
        let later = self.later();
        let next_snapshot = || {
            let mut snapshot = settings.session(store.as_ref(), &limits).snapshot()?;
            snapshot.progress = context.progress();
            snapshot.return_later(&later)?;
            self.counting(snapshot, context)
        };
        let mut snapshot = next_snapshot()?;
        context.say_where(&snapshot);
        if let (Some(_), Some(why)) = (&self.unattended, snapshot.spec.advice_only()) {
            // Silence would look like success for ever.
            let message = format!("nothing can be swept here: {why}");
            return Err(CliError::new(Exit::Config, message));
        }
        let run_id = run_id(&snapshot);
        context.ui.is_run(&run_id);
        // Whatever it waits for from here on: claims made meanwhile are those of workers that came after it.
        let began = snapshot.now();
        let splay = self.unattended.as_ref().and_then(|said| said.splay);
        let first = self.first_snapshot(&mut snapshot, splay)?;
        if let Some(splay) = splay {
            drop(snapshot);
            splay::sleep(splay, &context.interrupt, &context.ui)?;
            self.metrics.iter().for_each(|metrics| metrics.begins_now());
            snapshot = next_snapshot()?;
        }
        let (mut snapshot, mut standing) = self.stand_in_line(context, &limits, snapshot, &next_snapshot)?;
        let mut policy = self.asked.policy(refine(&snapshot, &beside, policy))?;
        if let Some(restart) = &mut policy.restart {
            restart.began = Timestamp::oldest(Some(restart.began), Some(began)).unwrap_or(began);
            restart.first = first;
        }
        let speaks = !self.format.is_machine() && (self.unattended.is_none() || context.ui.is_watched());
        let (policy, wrong_list) = beside.judge(&mut snapshot, policy, context, speaks)?;
        self.must_know_progress(&snapshot)?;
        if let (Some(metrics), Asked::Selection(selection)) = (self.metrics, &self.asked) {
            metrics.measure(&mut snapshot, selection, &policy)?;
        }
        let mut plan = self.asked.plan(&mut snapshot, &policy)?;
        self.say_unheard(context, &mut snapshot, &policy, &mut plan)?;
        context.warn_if_blind(&mut snapshot, plan.in_flight())?;
        // A reader's snapshot must not stay open while writing: on SQLite it could keep the writer out.
        drop(snapshot);
        let mut plan = self.confirmed(context, &next_snapshot, &limits, plan, &policy)?;
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
            sweep_lock: standing.sweep_lock,
            record: record(self.name, &settings.target, self.act.reason.reason.as_ref(), &context.environment),
        };
        if self.act.emit.emit_sql {
            return self.emit(context, &limits, &plan, &order);
        }
        let mut following = self.following(store.as_ref(), &plan, &policy)?;
        let mut done = ops::reclaim(store.as_ref(), &limits, plan, &order)?;
        standing.ended(context, &done);
        // What follows may only watch, for minutes.
        drop(standing);
        self.metrics.iter().for_each(|metrics| metrics.note(&done.document));
        if self.tells_what_followed() {
            following.run(context, &mut done);
        }
        // Cron mails whatever is said; a document that was asked for is no news.
        let idle = self.unattended.is_some() && self.is_no_news(context, &done) && !context.ui.is_watched();
        let told = self.tell(context, &done, idle);
        following.run(context, &mut done);
        self.keep(context, &done);
        let exit = self.exit(&done).worse(following.exit);
        // What was done counts, even if it cannot be told.
        told.map(|()| exit).map_err(|error| CliError { exit: error.exit.worse(exit), ..error })
    }

    /// What was in flight before the run waits, where it will and nothing else tells which claims are older.
    fn first_snapshot(
        &self,
        snapshot: &mut Snapshot,
        splay: Option<Duration>,
    ) -> Result<Option<Arc<EarlierSnapshot>>, CliError> {
        let is_restart = self.unattended.as_ref().is_some_and(|said| said.is_restart);
        let waits = splay.is_some() || !self.lock_wait().is_zero();
        if !is_restart || !waits || snapshot.spec.claim.claimed_at.is_some() {
            return Ok(None);
        }
        Ok(Some(Arc::new(ops::in_flight(snapshot)?)))
    }

    /// What lifts the brake: a number of jobs on this command line, not one that the config file allows each run.
    fn lifted(&self) -> Option<Lifted> {
        let of_target = (self.settings.target.brake == Some(false)).then_some(Lifted::Target);
        self.act.max_jobs.map(Lifted::MaxJobs).or(of_target)
    }
}

/// A name for the run: the store's time and a few letters that no other run has.
pub(in crate::cli::commands) fn run_id(snapshot: &Snapshot) -> String {
    let time: String = snapshot.now().to_string().chars().filter(|c| c.is_ascii_digit()).take(14).collect();
    let random = RandomState::new().build_hasher().finish();
    format!("{time}-{:06x}", random & 0xff_ffff)
}

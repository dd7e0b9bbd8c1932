use super::selection::selection;
use crate::cli::args::{ActArgs, IdArgs, ListOutputArgs, OlderArgs, SelectArgs, StoreArgs};
use crate::cli::context::Context;
use crate::cli::error::{CliError, exit_of};
use crate::cli::exit::Exit;
use crate::cli::present::present;
use crate::cli::settings::{APPLYING, LOOKING, Settings};
use crate::ops::{self, Guard, Look, Order, Reclaimed, Selection};
use crate::policy::Policy;
use crate::render::{Format, count, grouped};
use crate::report::{Outcomes, Reclaim};
use crate::store::StoreErrorKind;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// `jobdoctor reclaim`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor reclaim --db queue.db --older 5m              what would be done: writes nothing
  jobdoctor reclaim --db queue.db --older 5m --apply      do it
  jobdoctor reclaim --db queue.db --id 42 --to fail --apply")]
pub struct Args {
    #[command(flatten)]
    act: ActArgs,
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    ids: IdArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: ListOutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    Reclaiming {
        name: "reclaim",
        schema: "jobdoctor.reclaim/v1",
        act: &args.act,
        selection: selection(&args.select, &args.ids)?,
        format: args.output.format(),
        settings,
        quiet_when_idle: false,
    }
    .run(context, |_, policy| Policy { older: args.older.older.or(policy.older), ..policy })
}

/// What `reclaim` and `sweep` have in common.
pub(super) struct Reclaiming<'a> {
    pub(super) name: &'static str,
    pub(super) schema: &'static str,
    pub(super) act: &'a ActArgs,
    pub(super) selection: Selection,
    pub(super) format: Format,
    pub(super) settings: Settings,
    /// Say nothing without a terminal when nothing was done: cron would mail it.
    pub(super) quiet_when_idle: bool,
}

impl Reclaiming<'_> {
    /// Looks, plans, and carries the plan out if that was asked for. `refine` completes the policy from the look.
    pub(super) fn run(&self, context: &Context, refine: impl Fn(&Look, Policy) -> Policy) -> Result<Exit, CliError> {
        let settings = &self.settings;
        let database = settings.database()?;
        context.say_setup(&database);
        let store = database.store()?;
        let time = if self.act.apply { APPLYING } else { LOOKING };
        let limits = settings.limits(self.name, time, &context.interrupt, self.act.apply);
        let rules = self.act.rule.iter().chain(&settings.target.rules).copied();
        let policy = Policy { older: settings.target.older, act_on: rules.collect(), to: self.act.to, restart: None };
        if self.act.apply && !settings.target.read_only {
            store.recover(&limits)?;
        }
        let mut look = settings.session(store.as_ref(), &limits).look()?;
        context.say_where(&look);
        if let (true, Some(why)) = (self.quiet_when_idle, look.spec.advice_only()) {
            // Silence would look like success for ever.
            let message = format!("nothing can be swept here: {why}");
            return Err(CliError::new(Exit::Config, message));
        }
        let policy = refine(&look, policy);
        let plan = ops::plan(&mut look, &self.selection, &policy)?;
        context.warn_if_blind(&mut look, plan.in_flight())?;
        let run_id = run_id(&look);
        let is_standby = look.target.standby.is_some();
        // A reader's snapshot must not stay open while writing: on SQLite it could keep the writer out.
        drop(look);
        let read_only = settings.target_name.as_deref().filter(|_| settings.target.read_only);
        let order = Order {
            schema: self.schema,
            apply: self.act.apply,
            guard: Guard { max_jobs: self.act.max_jobs.or(settings.target.max_jobs), read_only, is_standby },
            run_id,
        };
        let done = ops::reclaim(store.as_ref(), &limits, plan, &order)?;
        // Cron mails whatever is said; a document that was asked for is no news.
        // Where another sweep was faster, it is the other one's news.
        let summary = &done.document.summary;
        let elsewhere = summary.outcomes.as_ref().is_some_and(|o| o.changed + o.gone == summary.planned);
        let nothing_done = (summary.planned == 0 || elsewhere) && done.document.refused.is_none();
        let idle = self.quiet_when_idle && nothing_done && !context.ui.is_watched();
        if !idle || self.format.is_machine() {
            present(&context.ui, self.format, &done.document)?;
        }
        if !idle {
            self.say(context, &done);
        }
        Ok(self.exit(&done))
    }

    fn say(&self, context: &Context, done: &Reclaimed) {
        let ui = &context.ui;
        let document = &done.document;
        if !document.applied {
            document.warnings.iter().for_each(|warning| ui.warn(warning));
        }
        done.after.iter().for_each(|warning| ui.warn(warning));
        if !document.not_found.is_empty() {
            ui.warn(&format!("no such job in {}: {}", document.target.table, document.not_found.join(", ")));
        }
        if let Some(why) = &document.refused {
            ui.warn(&format!("refused: {why}; nothing was written"));
        }
        if let Some(stop) = &done.stop {
            ui.warn(&format!("stopped early: {stop}"));
        }
        match &document.summary.outcomes {
            Some(outcomes) => self.say_applied(context, document, outcomes),
            None => self.say_planned(context, document),
        }
    }

    fn say_planned(&self, context: &Context, document: &Reclaim) {
        let summary = &document.summary;
        if !self.format.is_machine() {
            context.ui.note(&format!(
                "{} to move, {} left alone, of {} in flight; nothing was written",
                count(summary.planned, "job", "jobs"),
                grouped(summary.held),
                grouped(summary.in_flight)
            ));
        }
        if summary.beyond_limit > 0 {
            context.ui.note(&format!("{} beyond --limit", count(summary.beyond_limit, "more job", "more jobs")));
        }
        if summary.planned > 0 && document.refused.is_none() && !self.format.is_machine() {
            context.ui.hint(&format!("to do it: {}", context.next_command(self.name, &["--apply"])));
        }
    }

    fn say_applied(&self, context: &Context, document: &Reclaim, outcomes: &Outcomes) {
        let ui = &context.ui;
        if document.summary.planned == 0 {
            return ui.note(&format!("nothing to do, of {} in flight", grouped(document.summary.in_flight)));
        }
        let others = [
            (outcomes.changed, "changed meanwhile"),
            (outcomes.gone, "gone meanwhile"),
            (outcomes.locked, "locked by another session"),
            (outcomes.refused, "refused by the database"),
            (outcomes.not_tried, "not tried"),
            (outcomes.unknown, "of unknown outcome"),
        ];
        let others: Vec<String> =
            others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {} {what}", grouped(*n))).collect();
        ui.note(&format!("recovered {}{}", count(outcomes.moved, "orphaned job", "orphaned jobs"), others.concat()));
        if outcomes.refused > 0 {
            refusals(document).iter().for_each(|refusal| ui.warn(refusal));
        }
        let above = self.settings.target.warn_above;
        if let Some(above) = above.filter(|above| outcomes.moved > *above) {
            ui.warn(&format!(
                "that is more than {above}: workers die often here (warn_above of target {})",
                document.target.name.as_deref().unwrap_or("(none)")
            ));
        }
        if outcomes.unknown > 0 {
            ui.warn("the answer to a commit was lost: look at the jobs of unknown outcome before doing anything else");
        }
    }

    fn exit(&self, done: &Reclaimed) -> Exit {
        let document = &done.document;
        let mut exit = if document.refused.is_some() { Exit::Refused } else { Exit::Done };
        let Some(outcomes) = &document.summary.outcomes else {
            return if document.not_found.is_empty() { exit } else { exit.worse(Exit::Partial) };
        };
        if outcomes.unknown > 0 {
            exit = exit.worse(Exit::Unknown);
        }
        let mut as_they_were = outcomes.locked + outcomes.refused + outcomes.not_tried;
        if !self.selection.ids.is_empty() {
            as_they_were += outcomes.changed + outcomes.gone + document.not_found.len() as u64;
        }
        if as_they_were > 0 {
            exit = exit.worse(Exit::Partial);
        }
        match &done.stop {
            // Something was written before it stopped, so "try again" would promise too much; 3 says what is the case.
            Some(stop) if matches!(exit_of(stop.kind), Exit::TryAgain) => exit.worse(Exit::Partial),
            Some(stop) if stop.kind == StoreErrorKind::RowData => exit.worse(Exit::Partial),
            Some(stop) => exit.worse(exit_of(stop.kind)),
            None => exit,
        }
    }
}

/// Which jobs the database refused, by what it said: the table may be too long to find them in.
fn refusals(document: &Reclaim) -> Vec<String> {
    const SHOWN: usize = 10;
    let mut by_cause: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in document.steps.iter().flatten() {
        let Some(error) = step.error else { continue };
        by_cause.entry(error.constraint.unwrap_or(error.message)).or_default().push(step.job.id);
    }
    let line = |(cause, ids): (String, Vec<String>)| {
        let more = ids.len().saturating_sub(SHOWN);
        let shown = ids.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        format!("refused by {cause}: {shown}{more}")
    };
    by_cause.into_iter().map(line).collect()
}

/// A name for the run: the store's time and a few letters that no other run has.
fn run_id(look: &Look) -> String {
    let time: String = look.now().to_string().chars().filter(|c| c.is_ascii_digit()).take(14).collect();
    let random = RandomState::new().build_hasher().finish();
    format!("{time}-{:06x}", random & 0xff_ffff)
}

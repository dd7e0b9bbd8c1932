//! What the shared scenarios must know about a library.

use super::application::Application;
use super::database::Session;
use super::environment::{Runtime, mark};
use super::interrupted::Interrupted;
use jobdoctor::model::Engine;

pub(super) struct Library {
    /// What it is called, with its version where several are tried.
    pub(super) name: &'static str,
    pub(super) preset: &'static str,
    /// The application, below `fixtures/live`.
    pub(super) script: &'static str,
    pub(super) runtime: Runtime,
    /// Where its tables are.
    pub(super) engine: Engine,
    /// More arguments for `enqueue`: of all jobs.
    pub(super) enqueue: &'static [&'static str],
    /// More arguments for `work`: of the workers that run jobs first.
    pub(super) first: &'static [&'static str],
    /// And of those that run a job again.
    pub(super) again: &'static [&'static str],
    /// How a job is enqueued that is then in its last attempt; where no table says how many there are, `--to fail` is.
    pub(super) last_attempt: Option<&'static [&'static str]>,
    /// More arguments for jobdoctor: the threshold, and what only an operator knows.
    pub(super) options: &'static [&'static str],
    /// Makes the claim of a job (`$1`, its id as text) old, where no heartbeat does.
    pub(super) age: Option<&'static str>,
    /// How long the jobs must then have been silent, in seconds; 0 where their claim has no time.
    pub(super) silence: f64,
    pub(super) rule: &'static str,
    /// Who holds job `$1`, as the library names itself; NULL where it does not say.
    pub(super) owner: &'static str,
    /// Whether that name gives away the process, and how.
    pub(super) names: fn(owner: &str, process: u32) -> bool,
    /// Attempts of a running first run, and of the job after the reclaim; or [`NO_COUNTER`].
    pub(super) attempts: (i64, i64),
    /// All of the row of job `$1` that no living worker changes while the job runs, as text.
    pub(super) row: &'static str,
    /// What the library makes of job `$1`, as text; no row is `gone`.
    pub(super) state: &'static str,
    /// That state once it is back in the queue.
    pub(super) requeued: &'static str,
    /// Once it has failed, out of attempts.
    pub(super) failed: &'static str,
    /// Once it was run again and has finished, and the same for one that needed no second run.
    pub(super) finished: (&'static str, &'static str),
    /// Where the library can be woken: what makes a worker poll so seldom that it must have been.
    pub(super) patient: Option<Patient>,
    /// What becomes of a job whose first worker was only stopped.
    pub(super) late: Late,
    /// The library's own rescue, where it does what jobdoctor should do.
    pub(super) rescue: Option<Rescue>,
    /// How it fails a job whose worker died, where it does.
    pub(super) interrupted: Option<Interrupted>,
}

/// The attempts of a library that counts none.
pub(super) const NO_COUNTER: (i64, i64) = (-1, -1);

/// What the library itself does about a job whose worker has died.
pub(super) struct Rescue {
    /// What makes the claim of a job old enough for it.
    pub(super) age: &'static str,
    /// Arguments of the application that rescues the jobs in queue a.
    pub(super) arguments: &'static [&'static str],
    /// Whether a job that is out of attempts fails.
    pub(super) fails: bool,
    /// Columns that say the same in other words, or name another worker.
    pub(super) differs: &'static [&'static str],
}

/// A worker that polls so seldom that it must have been woken.
pub(super) struct Patient {
    pub(super) arguments: &'static [&'static str],
    /// Whether it listens in a session that it does nothing else in, so that this can be seen.
    pub(super) is_seen: bool,
}

/// What becomes of a job whose first worker was only stopped, and goes on once another has it.
pub(super) struct Late {
    /// Whether the first worker gets to the end of the job.
    pub(super) finishes: bool,
    /// The state after that, while the other still works.
    pub(super) then: &'static str,
    /// The state once the other has finished.
    pub(super) in_the_end: &'static str,
}

impl Late {
    /// Both get to the end of the job, and its state is the same after each.
    pub(super) const fn both_end_in(state: &'static str) -> Late {
        Late { finishes: true, then: state, in_the_end: state }
    }
}

impl Library {
    /// What most have in common: they are on Postgres, and nothing more need be said to anybody.
    pub(super) const PLAIN: Library = Library {
        name: "",
        preset: "",
        script: "",
        runtime: Runtime::Cargo,
        engine: Engine::Postgres,
        enqueue: &[],
        first: &[],
        again: &[],
        last_attempt: None,
        options: &[],
        age: None,
        silence: 0.0,
        rule: "",
        owner: "",
        names: |_, _| true,
        attempts: NO_COUNTER,
        row: "",
        state: "",
        requeued: "",
        failed: "",
        finished: ("", ""),
        patient: None,
        late: Late { finishes: true, then: "", in_the_end: "" },
        rescue: None,
        interrupted: None,
    };

    pub(super) fn application(&self) -> Option<Application> {
        Application::on(self.engine, self.script, self.runtime)
    }

    pub(super) fn enqueue(&self, app: &Application, arguments: &[&str], more: &[&str]) -> Vec<String> {
        let ids = app.enqueue(&[arguments, self.enqueue, more].concat());
        assert_eq!(ids.len().to_string(), arguments[0], "jobs enqueued");
        ids
    }

    pub(super) fn state_of(&self, session: &mut Session, id: &str) -> String {
        session.text(self.state, id).map_or_else(|| "gone".to_owned(), |state| state.expect("a state"))
    }

    pub(super) fn row_of(&self, session: &mut Session, id: &str) -> String {
        session.text(self.row, id).flatten().expect("the job's row")
    }

    pub(super) fn owner_of(&self, session: &mut Session, id: &str) -> Option<String> {
        session.text(self.owner, id).expect("the job's row")
    }

    pub(super) fn make_old(&self, session: &mut Session, ids: &[String]) {
        let Some(age) = self.age else { return };
        for id in ids {
            assert_eq!(session.execute(age, id), 1, "{age}");
        }
    }

    pub(super) fn ran(&self) {
        mark(&format!("ran: {}", self.name));
    }
}

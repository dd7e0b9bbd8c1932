//! A job that is given back for later, with the real library's worker waiting for it.

use super::library::Library;
use super::looks::{A_WHILE, until_stuck};
use super::transcript::Transcript;
use std::time::{Duration, Instant};

/// How much later at least. On a machine where workers start slowly it is more: worker C has to look before the time comes.
const DELAY: Duration = Duration::from_secs(10);

/// Worker A is killed in the middle of its job, and the job given back for later. Worker C leaves it alone until then, and
/// then it runs: at once would be no delay, and never would be the worst of all.
pub(super) fn given_back_for_later(library: &Library) {
    let Some(app) = library.application() else { return };
    let mut told = Transcript::new(&format!("{}: a job is given back for later", library.name));
    let mut session = app.session();
    let job = library.enqueue(&app, &["1", "--queue", "a", "--seconds", "600", "--seconds-again", "0.5"], &[]);
    let begun = Instant::now();
    let mut a = app.work("A", &[&["--queue", "a"], library.first].concat());
    assert_eq!(a.wait_for("started", 1, A_WHILE), job);
    let wait = DELAY + Duration::from_secs(begun.elapsed().as_secs() * 2);
    a.kill();
    told.say(&format!("SIGKILL for worker A, which has started {job:?}"));
    library.make_old(&mut session, &job);
    until_stuck(&app, &[&["stale"], library.options].concat(), 1);
    let delay = format!("{}s", wait.as_secs());
    let done = app.document(&[&["reclaim", "--apply", "--delay", &delay], library.options].concat());
    let reclaimed = Instant::now();
    assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    assert_eq!(done["steps"][0]["action"], "requeue", "{done}");
    told.say(&format!("jobdoctor reclaim --apply --delay {delay}: {}", library.state_of(&mut session, &job[0])));
    let mut c = app.work("C", &[&["--queue", "a"], library.again].concat());
    c.wait_for("ready", 1, A_WHILE);
    assert!(reclaimed.elapsed() < wait, "worker C takes too long to start: it has to look before the time comes");
    assert_eq!(c.wait_for("started", 1, wait + A_WHILE * 2), job);
    let waited = reclaimed.elapsed();
    told.say(&format!("worker C has started it after {:.1} s", waited.as_secs_f64()));
    // The library may keep whole seconds, and the reclaim itself took a moment.
    assert!(waited + Duration::from_millis(1500) >= wait, "after {waited:?} already");
    assert_eq!(c.wait_for("finished", 1, A_WHILE), job);
    told.say("and has finished it");
    library.ran();
}

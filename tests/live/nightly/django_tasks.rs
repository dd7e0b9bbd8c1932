//! django-tasks-db, the database backend of Django's tasks, from PyPI.

use crate::live::environment::Runtime;
use crate::live::later::given_back_for_later;
use crate::live::library::{Late, Library};
use crate::live::looks::{A_WHILE, until_stuck};
use crate::live::scenario;
use jobdoctor::model::Engine;

// A claim shows its age and its worker, a thread here, and the library itself never rescues a task. So A's claims are moved back in
// time.
const ON_SQLITE: Library = Library {
    name: "django-tasks on SQLite",
    preset: "django-tasks",
    script: "django-tasks/app.py",
    runtime: Runtime::Python(3, 12),
    engine: Engine::Sqlite,
    age: Some(
        "UPDATE django_tasks_database_dbtaskresult SET started_at = datetime(started_at, '-3 hours') WHERE id = $1",
    ),
    silence: 3.0 * 3600.0,
    rule: "claim_age",
    owner: "SELECT json_extract(worker_ids, '$[#-1]') FROM django_tasks_database_dbtaskresult WHERE id = $1",
    names: |owner, process| owner.starts_with(&format!("{process}-")),
    attempts: (1, 1),
    row: "SELECT json_array(id, args_kwargs, priority, task_path, queue_name, backend_name, run_after, enqueued_at, finished_at, \
                            started_at, return_value, exception_class_path, traceback, worker_ids, status) \
          FROM django_tasks_database_dbtaskresult WHERE id = $1",
    state: "SELECT concat_ws(', ', status, 'workers ' || json_array_length(worker_ids), iif(started_at IS NULL, NULL, 'started'), \
                             iif(run_after = '9999-01-01 00:00:00', 'at once', NULL), nullif(exception_class_path, ''), \
                             iif(traceback LIKE 'jobdoctor: %', 'reason', NULL)) \
            FROM django_tasks_database_dbtaskresult WHERE id = $1",
    requeued: "READY, workers 1, at once",
    failed: "FAILED, workers 1, started, at once, builtins.RuntimeError, reason",
    finished: ("SUCCESSFUL, workers 2, started, at once", "SUCCESSFUL, workers 1, started, at once"),
    // The first to finish saves its result, and so does the other.
    late: Late::both_end_in("SUCCESSFUL, workers 2, started, at once"),
    ..Library::PLAIN
};

const ON_POSTGRES: Library = Library {
    name: "django-tasks on Postgres",
    engine: Engine::Postgres,
    age: Some(
        "UPDATE django_tasks_database_dbtaskresult SET started_at = started_at - interval '3 hours' WHERE id = $1::text::uuid",
    ),
    owner: "SELECT worker_ids ->> -1 FROM django_tasks_database_dbtaskresult WHERE id = $1::text::uuid",
    row: "SELECT j.xmin || ' ' || j::text FROM django_tasks_database_dbtaskresult AS j WHERE id = $1::text::uuid",
    state: "SELECT concat_ws(', ', status, 'workers ' || jsonb_array_length(worker_ids), \
                             CASE WHEN started_at IS NOT NULL THEN 'started' END, \
                             CASE WHEN run_after = '9999-01-01 00:00:00+00' THEN 'at once' END, nullif(exception_class_path, ''), \
                             CASE WHEN traceback LIKE 'jobdoctor: %' THEN 'reason' END) \
            FROM django_tasks_database_dbtaskresult WHERE id = $1::text::uuid",
    ..ON_SQLITE
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&ON_SQLITE) }
    fn jobs_of_a_killed_worker_run_again_on_postgres() { scenario::killed(&ON_POSTGRES) }
    fn a_worker_that_comes_back_saves_over_the_next() { scenario::stopped(&ON_SQLITE) }
    /// Workers compare `run_after` as text on SQLite: one in another spelling would never come.
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&ON_SQLITE) }
}

/// Whoever reads the errors of a task has the class of its exception imported.
#[test]
fn a_failed_task_can_be_read() {
    let Some(app) = ON_SQLITE.application() else { return };
    let job = ON_SQLITE.enqueue(&app, &["1", "--seconds", "600"], &[]);
    let mut worker = app.work("A", &[]);
    assert_eq!(worker.wait_for("started", 1, A_WHILE), job);
    worker.kill();
    ON_SQLITE.make_old(&mut app.session(), &job);
    until_stuck(&app, &["stale"], 1);
    let done = app.document(&["reclaim", "--apply", "--to", "fail"]);
    assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    let mut reader = app.start("reader", &["errors", &job[0]]);
    assert_eq!(reader.wait_for("error", 1, A_WHILE), ["RuntimeError"]);
}

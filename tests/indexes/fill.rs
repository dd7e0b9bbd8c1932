//! Rows for the tables of each queue, as many as make a planner think: thousands that no worker holds, and a few claims of workers
//! that died hours ago.

/// Claims in flight.
const CLAIMS: u32 = 200;

/// The statements that fill the tables of that version, without triggers and foreign keys: so many `others` are jobs that no worker
/// holds, done where the library keeps such rows, else waiting.
pub fn fill(queue: &str, version: &str, others: u32) -> String {
    let rows = |count: u32, from: u32| format!("generate_series({}, {}) AS n", from + 1, from + count);
    let sql = rows_of(queue).replace(":others", &rows(others, 0)).replace(":claims", &rows(CLAIMS, others));
    // Before 0.16 the tables of Graphile Worker had plain names.
    if version == "0.15" { sql.replace("_private_", "") } else { sql }
}

/// What a session runs that stays open: Que keeps its claims in the locks of sessions.
pub fn session(queue: &str) -> &'static str {
    match queue {
        "que" => {
            "INSERT INTO que_lockers (pid, worker_count, worker_priorities, ruby_pid, ruby_hostname, queues, listening)
            VALUES (pg_backend_pid(), 6, '{10}', 4211, 'web1', '{default}', true);
            SELECT pg_advisory_lock(id) FROM que_jobs WHERE finished_at IS NULL"
        }
        _ => "",
    }
}

/// `:others` and `:claims` stand for the rows to make.
fn rows_of(queue: &str) -> &'static str {
    match queue {
        "lease" => {
            "INSERT INTO jobs (id, status, finished_at) SELECT n, 'SUCCEEDED', now() - interval '1 day' FROM :others;
            INSERT INTO jobs (id, status, owner_id, claimed_at, heartbeat_at, lease_expires_at)
            SELECT n, CASE n % 2 WHEN 0 THEN 'CLAIMED' ELSE 'RUNNING' END, 'web1:1', now() - interval '5 hours',
                   now() - interval '5 hours', now() - interval '4 hours' FROM :claims"
        }
        "simple" => {
            "INSERT INTO jobs (id, status) SELECT n, 'done' FROM :others;
            INSERT INTO jobs (id, status) SELECT n, 'running' FROM :claims"
        }
        "river" => {
            "INSERT INTO river_job (id, state, attempt, max_attempts, args, kind, attempted_at, attempted_by, finalized_at)
            SELECT n, 'completed', 1, 25, '{}', 'mail', now() - interval '1 day', '{web1}', now() - interval '1 day' FROM :others;
            INSERT INTO river_job (id, state, attempt, max_attempts, args, kind, attempted_at, attempted_by)
            SELECT n, 'running', 1, 25, '{}', 'mail', now() - interval '5 hours', '{web1}' FROM :claims"
        }
        "oban" => {
            "INSERT INTO oban_jobs (state, worker, attempt, max_attempts, attempted_at, attempted_by, completed_at)
            SELECT 'completed', 'Mail', 1, 20, timezone('UTC', now() - interval '1 day'), '{web1,1}',
                   timezone('UTC', now() - interval '1 day') FROM :others;
            INSERT INTO oban_jobs (state, worker, attempt, max_attempts, attempted_at, attempted_by)
            SELECT 'executing', 'Mail', 1, 20, timezone('UTC', now() - interval '5 hours'),
                   '{web1,00000001-0000-4000-8000-000000000000}' FROM :claims"
        }
        "procrastinate" => {
            "INSERT INTO procrastinate_workers (last_heartbeat) SELECT now() - interval '5 hours' FROM generate_series(1, 10);
            INSERT INTO procrastinate_jobs (queue_name, task_name, status) SELECT 'mail', 'send', 'succeeded' FROM :others;
            INSERT INTO procrastinate_jobs (queue_name, task_name, status, worker_id)
            SELECT 'mail', 'send', 'doing', 1 + n % 10 FROM :claims;
            INSERT INTO procrastinate_events (job_id, type, at)
            SELECT id, 'started', now() - interval '5 hours' FROM procrastinate_jobs"
        }
        "pgqueuer" => {
            "INSERT INTO pgqueuer (priority, status, entrypoint) SELECT 0, 'queued', 'mail' FROM :others;
            INSERT INTO pgqueuer (priority, status, entrypoint, updated, heartbeat, queue_manager_id)
            SELECT 0, 'picked', 'mail', now() - interval '5 hours', now() - interval '5 hours', gen_random_uuid() FROM :claims"
        }
        // Its jobs are joined to its claims: next to small ones, reading all would be as cheap as looking each of them up.
        "solid-queue" => {
            "INSERT INTO solid_queue_processes (id, kind, name, pid, last_heartbeat_at, created_at)
            SELECT n, 'Worker', 'worker-' || n, n, timezone('UTC', now() - interval '5 hours'), timezone('UTC', now() - interval '1 day')
            FROM generate_series(1, 10) AS n;
            INSERT INTO solid_queue_processes (id, kind, name, pid, last_heartbeat_at, created_at)
            VALUES (99, 'Worker', 'alive', 1, timezone('UTC', now()), timezone('UTC', now()));
            INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, finished_at, created_at, updated_at)
            SELECT n, 'mail', 'MailJob', repeat('x', 1000), timezone('UTC', now()), timezone('UTC', now()), timezone('UTC', now()) FROM :others;
            INSERT INTO solid_queue_jobs (id, queue_name, class_name, created_at, updated_at)
            SELECT n, 'mail', 'MailJob', timezone('UTC', now()), timezone('UTC', now()) FROM :claims;
            INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at)
            SELECT n, 1 + n % 10, timezone('UTC', now() - interval '5 hours') FROM :claims"
        }
        // From migration 5 on, a job has a version without a default.
        "que" => {
            "DO $$ BEGIN ALTER TABLE que_jobs ALTER job_schema_version SET DEFAULT 2; EXCEPTION WHEN undefined_column THEN NULL; END $$;
            INSERT INTO que_jobs (job_class, finished_at) SELECT 'MailJob', now() FROM :others;
            INSERT INTO que_jobs (job_class, run_at) SELECT 'MailJob', now() - interval '5 hours' FROM :claims"
        }
        "good-job" => {
            "INSERT INTO good_job_processes (id, created_at, updated_at)
            SELECT ('00000000-0000-4000-8000-00000000000' || n)::uuid, timezone('UTC', now()), timezone('UTC', now() - interval '5 hours')
            FROM generate_series(1, 9) AS n;
            INSERT INTO good_job_processes (created_at, updated_at) VALUES (timezone('UTC', now()), timezone('UTC', now()));
            INSERT INTO good_jobs (active_job_id, queue_name, job_class, created_at, updated_at, performed_at, finished_at)
            SELECT gen_random_uuid(), 'mail', 'MailJob', timezone('UTC', now()), timezone('UTC', now()), timezone('UTC', now()),
                   timezone('UTC', now()) FROM :others;
            INSERT INTO good_jobs (active_job_id, queue_name, job_class, created_at, updated_at, performed_at, locked_at, locked_by_id)
            SELECT gen_random_uuid(), 'mail', 'MailJob', timezone('UTC', now()), timezone('UTC', now()),
                   timezone('UTC', now() - interval '5 hours'), timezone('UTC', now() - interval '5 hours'),
                   ('00000000-0000-4000-8000-00000000000' || 1 + n % 9)::uuid FROM :claims;
            INSERT INTO good_job_executions (active_job_id, created_at, updated_at, finished_at)
            SELECT active_job_id, created_at, updated_at, finished_at FROM good_jobs"
        }
        "apalis" => {
            "INSERT INTO apalis.workers (id, worker_type, storage_name, last_seen)
            SELECT 'w' || n, 'mail', 'storage', now() - interval '5 hours' FROM generate_series(0, 9) AS n;
            INSERT INTO apalis.jobs (job, id, job_type, status, done_at) SELECT '{}', 'J' || n, 'mail', 'Done', now() FROM :others;
            INSERT INTO apalis.jobs (job, id, job_type, status, lock_at, lock_by)
            SELECT '{}', 'J' || n, 'mail', 'Running', now() - interval '5 hours', 'w' || n % 10 FROM :claims"
        }
        "fang" => {
            "INSERT INTO fang_tasks (metadata, state) SELECT '{}', 'finished' FROM :others;
            INSERT INTO fang_tasks (metadata, state, updated_at) SELECT '{}', 'in_progress', now() - interval '5 hours' FROM :claims"
        }
        "delayed-job" => {
            "INSERT INTO delayed_jobs (handler, run_at) SELECT '--- x', timezone('UTC', now()) FROM :others;
            INSERT INTO delayed_jobs (handler, run_at, locked_at, locked_by)
            SELECT '--- x', timezone('UTC', now() - interval '6 hours'), timezone('UTC', now() - interval '5 hours'), 'host:web1 pid:1'
            FROM :claims"
        }
        "graphile-worker" => {
            "INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('mail');
            INSERT INTO graphile_worker._private_jobs (task_id) SELECT 1 FROM :others;
            INSERT INTO graphile_worker._private_jobs (task_id, run_at, attempts, locked_at, locked_by)
            SELECT 1, now() - interval '6 hours', 1, now() - interval '5 hours', 'worker-5a1e0d9c3b7f248610' FROM :claims"
        }
        "pg-boss" => {
            r#"SELECT pgboss.create_queue('mail', '{"policy": "standard"}');
            INSERT INTO pgboss.job (name, state, policy, started_on, completed_on)
            SELECT 'mail', 'completed', 'standard', now() - interval '1 day', now() - interval '1 day' FROM :others;
            INSERT INTO pgboss.job (name, state, policy, started_on)
            SELECT 'mail', 'active', 'standard', now() - interval '5 hours' FROM :claims"#
        }
        "laravel" => {
            "INSERT INTO jobs (queue, payload, attempts, available_at, created_at)
            SELECT 'mail', '{}', 0, extract(epoch FROM now())::integer, extract(epoch FROM now())::integer FROM :others;
            INSERT INTO jobs (queue, payload, attempts, reserved_at, available_at, created_at)
            SELECT 'mail', '{\"uuid\":\"' || n || '\",\"maxTries\":3,\"x\":0}', 1, extract(epoch FROM now() - interval '5 hours')::integer, 0, 0 FROM :claims"
        }
        "symfony-messenger" => {
            "INSERT INTO messenger_messages (body, headers, queue_name, created_at, available_at)
            SELECT '{}', '[]', 'async', timezone('UTC', now()), timezone('UTC', now()) FROM :others;
            INSERT INTO messenger_messages (body, headers, queue_name, created_at, available_at, delivered_at)
            SELECT '{}', '[]', 'async', timezone('UTC', now()), timezone('UTC', now()), timezone('UTC', now() - interval '5 hours')
            FROM :claims"
        }
        "db-scheduler" => {
            "INSERT INTO scheduled_tasks (task_name, task_instance, execution_time, picked, version)
            SELECT 'mail', n, now() + interval '1 hour', false, 1 FROM :others;
            INSERT INTO scheduled_tasks (task_name, task_instance, execution_time, picked, picked_by, last_heartbeat, version)
            SELECT 'mail', n, now() - interval '6 hours', true, 'web1', now() - interval '5 hours', 2 FROM :claims"
        }
        "quartz" => {
            "INSERT INTO qrtz_locks VALUES ('main', 'TRIGGER_ACCESS');
            INSERT INTO qrtz_scheduler_state VALUES ('main', 'web1', extract(epoch FROM now() - interval '5 hours')::bigint * 1000, 7500);
            INSERT INTO qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group, next_fire_time, trigger_state, trigger_type, start_time)
            SELECT 'main', n, 't', n, 'j', 1795000000000, 'WAITING', 'CRON', 1790000000000 FROM :others;
            INSERT INTO qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group, next_fire_time, trigger_state, trigger_type, start_time)
            SELECT 'main', n, 't', n, 'j', 1795000000000, 'ACQUIRED', 'CRON', 1790000000000 FROM :claims;
            INSERT INTO qrtz_fired_triggers SELECT 'main', n, n, 't', 'web1', 1795000000000, 1795000000000, 5, 'ACQUIRED', NULL, NULL, false, false
            FROM :claims"
        }
        "chancy" => {
            "INSERT INTO chancy_workers (worker_id, last_seen, expires_at)
            SELECT 'w' || n, now() - interval '5 hours', now() - interval '5 hours' FROM generate_series(0, 9) AS n;
            INSERT INTO chancy_jobs (id, queue, func, state, completed_at)
            SELECT gen_random_uuid(), 'mail', 'send', 'succeeded', now() - interval '1 day' FROM :others;
            INSERT INTO chancy_jobs (id, queue, func, state, taken_by, started_at)
            SELECT gen_random_uuid(), 'mail', 'send', 'running', 'w' || n % 10, now() - interval '5 hours' FROM :claims"
        }
        // Claims of 23 hours ago, by a `retry` of a day, signed long before.
        "django-q" => {
            "INSERT INTO django_q_ormq (key, payload, lock) SELECT 'mail', 'x:0', now() - interval '1 day' FROM :others;
            INSERT INTO django_q_ormq (key, payload, lock) SELECT 'mail', 'x:1rRk4m:s', now() + interval '1 hour' FROM :claims"
        }
        "django-tasks" => {
            "INSERT INTO django_tasks_database_dbtaskresult (id, status, args_kwargs, priority, task_path, queue_name, backend_name,
                run_after, enqueued_at, started_at, finished_at, exception_class_path, traceback, worker_ids)
            SELECT gen_random_uuid(), 'SUCCESSFUL', '{}', 0, 'send', 'mail', 'default', now(), now(), now() - interval '1 day',
                   now() - interval '1 day', '', '', '[\"w1\"]' FROM :others;
            INSERT INTO django_tasks_database_dbtaskresult (id, status, args_kwargs, priority, task_path, queue_name, backend_name,
                run_after, enqueued_at, started_at, exception_class_path, traceback, worker_ids)
            SELECT gen_random_uuid(), 'RUNNING', '{}', 0, 'send', 'mail', 'default', now(), now(), now() - interval '5 hours',
                   '', '', '[\"w1\"]' FROM :claims"
        }
        // A restart sweep asks when a message was read, where a version says that.
        "pgmq" => {
            "INSERT INTO pgmq.q_mail (vt, message) SELECT now(), '{}' FROM :others;
            INSERT INTO pgmq.q_mail (read_ct, vt, message)
            SELECT 1, now() + interval '1 hour', '{}' FROM :claims;
            INSERT INTO pgmq.q_mail (read_ct, vt, message)
            SELECT 5, now() - interval '5 hours', '{}' FROM :claims;
            DO $$ BEGIN UPDATE pgmq.q_mail SET last_read_at = vt - interval '6 hours' WHERE read_ct > 0;
                EXCEPTION WHEN undefined_column THEN NULL; END $$"
        }
        "goqite" => {
            "INSERT INTO goqite (queue, body) SELECT 'mail', '' FROM :others;
            INSERT INTO goqite (queue, body, timeout, received) SELECT 'mail', '', now() - interval '5 hours', 3 FROM :claims"
        }
        "n8n" => {
            r#"INSERT INTO execution_entity (id, finished, mode, status, "workflowId", "startedAt", "stoppedAt")
            SELECT n, true, 'trigger', 'success', 'w' || n % 1000, now() - interval '1 day', now() - interval '1 day' FROM :others;
            INSERT INTO execution_entity (id, finished, mode, status, "workflowId", "startedAt")
            SELECT n, false, 'trigger', 'running', 'w1', now() - interval '5 hours' FROM :claims"#
        }
        _ => panic!("no rows for the tables of {queue}: add them here"),
    }
}

//! Ids as people paste them.

use super::tables::tables;
use crate::support::cli::Doctor;

const ID: &str = "abcdef00-0000-4000-8000-000000000001";

#[test]
fn a_queue_whose_name_holds_a_slash() {
    let database = tables("pg-boss", "12.38").made();
    let mut client = database.client();
    client
        .batch_execute(&format!(
            "SELECT pgboss.create_queue('mail/out', '{{\"policy\": \"standard\"}}');
             INSERT INTO pgboss.job (id, name, state, policy, created_on, started_on, heartbeat_on)
             VALUES ('{ID}', 'mail/out', 'active', 'standard', now() - interval '1 hour', now() - interval '1 hour',
                     now() - interval '1 hour')"
        ))
        .unwrap();
    let (doctor, url) = (Doctor::new(), database.url());
    let named = doctor.run(&["stale", "-o", "name", "--db", &url]).exits(0).stdout;
    let id = named.trim_end();
    assert_eq!(id, format!("\"mail/out\"/{ID}"));
    let shown = doctor.run(&["show", id, "--json", "--db", &url]).exits(0).json();
    assert_eq!(shown["jobs"][0]["id"], id);
    let applied = doctor.run(&["reclaim", "--id", id, "--apply", "--json", "--db", &url]).exits(0).json();
    assert_eq!(applied["summary"]["outcomes"]["moved"], 1);
}

#[test]
fn a_uuid_in_capitals_is_the_same_job() {
    let database = tables("good-job", "4.19").made();
    database
        .client()
        .batch_execute(&format!(
            "INSERT INTO good_jobs (id, active_job_id, queue_name, priority, job_class, serialized_params, created_at,
                                    updated_at, scheduled_at, performed_at, executions_count, locked_by_id, locked_at)
             VALUES ('{ID}', '{ID}', 'mail', 0, 'WelcomeJob', '{{}}', now(), now(), now(), now() - interval '5 hours',
                     1, gen_random_uuid(), now() - interval '5 hours')"
        ))
        .unwrap();
    let (doctor, url, capitals) = (Doctor::new(), database.url(), ID.to_uppercase());
    let shown = doctor.run(&["show", &capitals, "--json", "--db", &url]).exits(0).json();
    assert_eq!(shown["jobs"][0]["id"], ID);
    let bare = ID.replace('-', "");
    let planned = doctor.run(&["reclaim", "--id", &capitals, "--id", &bare, "--json", "--db", &url]).exits(0).json();
    assert_eq!(planned["not_found"], serde_json::json!([]), "{planned}");
    assert_eq!(
        planned["steps"].as_array().unwrap().len() + planned["skipped"].as_array().unwrap().len(),
        1,
        "{planned}"
    );
    // A slip of the pen is no uuid, and no error of the database.
    let odd = format!("a-{}", bare.split_at(1).1);
    assert_eq!(doctor.run(&["show", &odd, "--db", &url]).code, 66);
}

//! Ids as people paste them.

use super::tables::shop;

const ID: &str = "abcdef00-0000-4000-8000-000000000001";

#[test]
fn a_uuid_in_capitals_is_the_same_job() {
    let shop = shop(
        "good-job",
        "4.19",
        &format!(
            "INSERT INTO good_jobs (id, active_job_id, queue_name, priority, job_class, serialized_params, created_at,
                                    updated_at, scheduled_at, performed_at, executions_count, locked_by_id, locked_at)
             VALUES ('{ID}', '{ID}', 'mail', 0, 'WelcomeJob', '{{}}', now(), now(), now(), now() - interval '5 hours',
                     1, gen_random_uuid(), now() - interval '5 hours')"
        ),
    );
    let (capitals, bare) = (ID.to_uppercase(), ID.replace('-', ""));
    assert_eq!(shop.run(&["show", &capitals, "--json"]).exits(0).json()["jobs"][0]["id"], ID);
    let planned = shop.run(&["reclaim", "--id", &capitals, "--id", &bare, "--json"]).exits(0).json();
    let jobs = ["not_found", "steps", "skipped"].map(|list| planned[list].as_array().unwrap().len());
    assert_eq!((jobs[0], jobs[1] + jobs[2]), (0, 1), "{planned}");
    // A slip of the pen is no uuid, and no error of the database.
    shop.run(&["show", &format!("a-{}", &bare[1..])]).exits(66);
}

//! What a statement of a preset does to each table that it names.

use jobdoctor::preset::{Template, Touch};

#[test]
fn each_table_is_touched_as_the_words_before_it_say() {
    use Touch::{Delete, Insert, Select, Update};
    for (sql, touches) in [
        ("DELETE FROM {claimed} WHERE job_id IN :ids", &[(Select, "claimed"), (Delete, "claimed")][..]),
        (
            "INSERT INTO {ready} (id) SELECT id FROM {jobs} ON CONFLICT (id) DO NOTHING",
            &[(Select, "jobs"), (Select, "ready"), (Insert, "ready")],
        ),
        (
            "INSERT INTO {failed} (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET error = ''",
            &[(Select, "failed"), (Insert, "failed"), (Update, "failed")],
        ),
        (
            "update {queues} AS q SET locked_by = NULL FROM {jobs} AS j",
            &[(Select, "jobs"), (Select, "queues"), (Update, "queues")],
        ),
        (
            "WITH gone AS (DELETE FROM {queue} RETURNING id) INSERT INTO {log} (id) SELECT id FROM gone",
            &[(Select, "queue"), (Insert, "log"), (Delete, "queue")],
        ),
        (
            "EXISTS (SELECT 1 FROM {locks} AS l WHERE l.name = j.name FOR UPDATE SKIP LOCKED)",
            &[(Select, "locks"), (Update, "locks")],
        ),
        ("EXISTS (SELECT 1 FROM {locks} AS l WHERE l.name = 'x FOR UPDATE')", &[(Select, "locks")]),
    ] {
        let found = Template::parse(sql).unwrap();
        assert_eq!(found.touches().into_iter().collect::<Vec<_>>(), touches, "{sql}");
    }
}

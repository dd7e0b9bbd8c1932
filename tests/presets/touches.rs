//! What a statement of a preset does to each table that it names.

use jobdoctor::preset::{Template, Touch};

fn touches(sql: &str) -> Vec<(Touch, String)> {
    let template = Template::parse(sql).unwrap();
    template.touches().into_iter().map(|(touch, table)| (touch, table.to_owned())).collect()
}

#[test]
fn each_table_is_touched_as_the_words_before_it_say() {
    use Touch::{Delete, Insert, Select, Update};
    let named = |touches: &[(Touch, &str)]| {
        touches.iter().map(|(touch, table)| (*touch, (*table).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(
        touches("DELETE FROM {claimed} WHERE job_id IN :ids"),
        named(&[(Select, "claimed"), (Delete, "claimed")])
    );
    assert_eq!(
        touches("INSERT INTO {ready} (id) SELECT id FROM {jobs} ON CONFLICT (id) DO NOTHING"),
        named(&[(Select, "jobs"), (Select, "ready"), (Insert, "ready")])
    );
    assert_eq!(
        touches("INSERT INTO {failed} (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET error = ''"),
        named(&[(Select, "failed"), (Insert, "failed"), (Update, "failed")])
    );
    assert_eq!(
        touches("update {queues} AS q SET locked_by = NULL FROM {jobs} AS j"),
        named(&[(Select, "jobs"), (Select, "queues"), (Update, "queues")])
    );
    assert_eq!(
        touches("WITH gone AS (DELETE FROM {queue} RETURNING id) INSERT INTO {log} (id) SELECT id FROM gone"),
        named(&[(Select, "queue"), (Insert, "log"), (Delete, "queue")])
    );
    assert_eq!(
        touches("EXISTS (SELECT 1 FROM {locks} AS l WHERE l.name = j.name FOR UPDATE SKIP LOCKED)"),
        named(&[(Select, "locks"), (Update, "locks")])
    );
}

//! Tables that no preset knows by name, told by their columns.

use jobdoctor::model::{Engine, Remedy};
use jobdoctor::preset::{Catalog, SpecError, near_miss};

fn said(tables: &[(&str, &str)], engine: Engine) -> String {
    let rows = tables.iter().flat_map(|(table, columns)| {
        columns.split(' ').map(|column| vec![String::new(), (*table).to_owned(), column.to_owned()])
    });
    let mut error = SpecError::whole("detection", "no known queue was recognised");
    error.remedy = Some(Remedy::NameOrMap { has_nearest: false });
    let error = near_miss(error, &Catalog::built_in(), engine, &rows.collect::<Vec<_>>());
    error.message.trim_start_matches("no known queue was recognised").to_owned()
}

fn found(tables: &[(&str, &str)]) -> String {
    said(tables, Engine::Sqlite).trim_start_matches(". Tables that look like a queue: ").to_owned()
}

#[test]
fn a_queue_is_named_with_the_columns_that_show_it() {
    let queue = ("BackgroundTasks", "taskId Status startedAt worker retries lastError");
    let others = [("documents", "id status owner_id"), ("subscriptions", "id status started_at")];
    let all = [others[0], queue, others[1], ("jobdoctor_ledger", "status owner attempts")];
    assert_eq!(found(&all), "BackgroundTasks (Status, startedAt, retries, worker)");
    assert_eq!(found(&others), "subscriptions (status, started_at)");
    assert_eq!(found(&[("estates", "statement restarted blocked countries")]), "");
}

#[test]
fn only_a_handful_is_named() {
    let names: Vec<String> = (0..9).map(|n| format!("t{n}")).collect();
    let tables: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "state tries")).collect();
    assert_eq!(found(&tables).matches(" (state, tries)").count(), 5);
}

#[test]
fn a_table_of_another_name_is_told_by_all_its_columns() {
    let all = "id handler attempts last_error run_at locked_at locked_by failed_at";
    let found = said(&[("notes", "id text"), ("background_jobs", all)], Engine::Postgres);
    let wanted = "; the tables of delayed-job are here under other names (background_jobs for delayed_jobs); name it with --preset \
                  delayed-job --table background_jobs";
    assert_eq!(found, wanted);
    for table in [("background_jobs", all.trim_end_matches("failed_at")), ("delayed_jobs", all)] {
        let found = said(&[table], Engine::Postgres);
        assert!(found.starts_with(". Tables that look like a queue: "), "{found}");
    }
}

/// The one that most columns tell is named.
#[test]
fn a_product_is_told_by_its_table_and_its_columns() {
    let airflow = ("task_instance", "dag_id task_id try_number max_tries hostname");
    let found = said(&[airflow], Engine::Postgres);
    assert!(
        found.starts_with("; found the tables of Apache Airflow (task_instance); jobdoctor does not support it: "),
        "{found}"
    );
    assert_eq!(said(&[("task_instances", airflow.1)], Engine::Postgres), "");
    let delayed = ("background_jobs", "id handler attempts last_error run_at locked_at locked_by failed_at");
    assert!(
        said(&[airflow, delayed], Engine::Postgres).contains("the tables of delayed-job are here under other names")
    );
}

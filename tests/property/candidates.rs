//! Tables that no preset knows by name, told by their columns.

use jobdoctor::model::Engine;
use jobdoctor::preset::{Catalog, candidates, renamed, tables_of};

fn found(tables: &[(&str, &str)]) -> Vec<String> {
    let rows = tables.iter().flat_map(|(table, columns)| {
        columns.split(' ').map(|column| vec![String::new(), (*table).to_owned(), column.to_owned()])
    });
    candidates(&rows.collect::<Vec<_>>())
}

#[test]
fn a_queue_is_named_with_the_columns_that_show_it() {
    let queue = ("BackgroundTasks", "taskId Status startedAt worker retries lastError");
    let others = [("documents", "id status owner_id"), ("subscriptions", "id status started_at")];
    let all = [others[0], queue, others[1], ("jobdoctor_ledger", "status owner attempts")];
    assert_eq!(found(&all), ["BackgroundTasks (Status, startedAt, retries, worker)"]);
    assert_eq!(found(&others), ["subscriptions (status, started_at)"]);
    assert_eq!(found(&[("estates", "statement restarted blocked countries")]), [""; 0]);
}

#[test]
fn only_a_handful_is_named() {
    let names: Vec<String> = (0..9).map(|n| format!("t{n}")).collect();
    let tables: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "state tries")).collect();
    assert_eq!(found(&tables).len(), 5);
}

fn said(tables: &[(&str, &str)], engine: Engine) -> String {
    let rows = tables.iter().flat_map(|(table, columns)| {
        columns.split(' ').map(|column| vec![String::new(), (*table).to_owned(), column.to_owned()])
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let error = renamed(&Catalog::built_in().unwrap(), engine, &tables_of(&rows));
    error.map_or_else(String::new, |error| error.message)
}

#[test]
fn a_table_of_another_name_is_told_by_all_its_columns() {
    let all = "id handler attempts last_error run_at locked_at locked_by failed_at";
    let found = said(&[("notes", "id text"), ("background_jobs", all)], Engine::Postgres);
    let wanted = "the tables of delayed-job are here under other names (background_jobs for delayed_jobs); say so with --preset \
                  delayed-job --table background_jobs";
    assert_eq!(found, wanted);
    assert_eq!(said(&[("background_jobs", all.trim_end_matches("failed_at"))], Engine::Postgres), "");
    assert_eq!(said(&[("delayed_jobs", all)], Engine::Postgres), "");
}

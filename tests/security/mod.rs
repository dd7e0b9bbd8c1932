//! What an attacker can make the program do, and what they cannot: docs/security.md, row by row. S6, S10 and S11 of the promise
//! are shown here and in the tests that the table names.
//!
//! | an attacker who | shown by |
//! | --- | --- |
//! | writes rows of the queue, any column | `security::rows::a_text_is_a_text`, `security::rows::who_writes_the_signs_of_life_decides_who_lives`, `cli::inert::for_people`, `cli::inert::in_errors`, `cli::inert::in_the_words_of_the_database`, `plans::listed::a_list_forces_nothing` |
//! | writes the config file, a mapping or a preset | `conformance::readonly::whatever_is_asked_of_a_reader_writes_nothing`, `security::sources::no_program_is_run`, `presets::malformed::malformed_presets_are_refused_with_place_and_advice`, `cli::config::a_mistake_is_named_with_line_and_suggestion`, `cli::env::a_targets_password_stays_with_its_database` |
//! | sets the environment | `security::surroundings::no_variable_writes`, `security::surroundings::the_command_line_names_the_database`, `security::hostile_schema::settings_from_outside_change_no_verdict` |
//! | owns the working directory | `security::surroundings::nothing_of_the_working_directory_is_run_or_read`, `cli::config::never_from_the_working_directory` |
//! | provides a plan or a list of ids | `plans::saved::an_altered_plan_gets_no_living_job`, `plans::saved::files_that_are_no_plan_for_this_queue`, `plans::listed::an_empty_list_means_no_job`, `plans::listed::a_list_forces_nothing` |
//! | provides a live-owner list or a saved snapshot | `liveness_evidence::list::claims_and_beats_that_came_later`, `liveness_evidence::list::an_empty_list`, `liveness_evidence::list::a_list_of_others`, `liveness_evidence::snapshot_files_from_outside::the_file_of_another_queue`, `liveness_evidence::snapshot_files_from_outside::what_is_no_file_to_write_to` |
//! | writes the state directory, or the ledger | `journal::files::what_nobody_wrote`, `journal::files::links_are_not_followed`, `journal::files::what_is_open_to_others`, `journal::files::what_belongs_to_somebody_else`, `journal::ledger::a_row_that_nobody_of_ours_wrote`, `security::planted::a_strangers_ledger_is_not_used_and_stops_no_apply`, `security::planted::a_ledger_of_those_who_own_the_queue_counts` |
//! | owns the SQLite file or its directory | `security::hostile_file::a_hostile_schema_stays_in_its_file`, `security::hostile_file::a_view_without_an_end_meets_the_time_limit`, `security::hostile_file::a_whole_day_reaches_nothing_but_the_queue`, `security::purity::a_file_stays_as_it_is_whatever_it_is_like`, `security::purity::a_pipe_beside_the_file_is_not_opened` |
//! | binds or links a SQLite file under a second name | `files::second_name::a_hard_link_is_neither_judged_nor_written_to`, `files::second_name::in_a_container_the_bound_file_is_refused`, `files::second_name::from_the_host_a_file_that_is_in_use_in_a_container_is_refused` |
//! | sits between you and Postgres | `tls::modes::with_the_root_of_another_authority`, `tls::certificates::the_name_counts_in_verify_full_alone`, `tls::certificates::an_expired_certificate`, `conformance::outcomes::a_commit_whose_answer_was_lost_is_asked_for` |
//! | creates objects in the database, in the queue's schema too, or left them in a pooler's session | `security::operators::of_the_queues_schema_are_not_used_by_our_statements`, `security::hostile_operators::no_action_of_any_preset_runs_a_strangers_operator`, `security::hostile_operators::neither_does_anything_around_an_action`, `security::relations::a_whole_day_reaches_nothing_but_the_queue`, `security::hostile_schema::temporary_tables_of_a_shared_session_are_not_taken_for_the_queue`, `security::hostile_schema::functions_of_policies_are_not_run`, `security::planted::a_strangers_ledger_is_not_used_and_stops_no_apply`, `security::planted::an_optional_table_of_a_stranger_switches_nothing_on` |
//! | owns a table of the queue | `security::hostile_schema::a_view_cannot_make_a_look_write`, `security::hostile_schema::a_trigger_that_changes_the_path_changes_nothing_else` |
//! | logs in as the reading role | `security::roles::the_rights_of_the_pages_are_enough_and_the_looking_role_can_do_nothing_else`, `security::purity::no_look_writes_anything_on_a_server`, `security::purity::no_worker_waits_for_a_look` |
//! | reads the list of processes, logs, mails, reports | `cli::secrets::of_the_list_of_processes`, `cli::secrets::of_any_place_where_all_is_well`, `cli::secrets::of_any_place_where_the_server_wants_another`, `journal::files::no_secret_is_kept`, `units::secrets::none_is_printed` |

mod hostile_file;
pub mod hostile_operators;
mod hostile_schema;
mod operators;
mod planted;
mod purity;
mod relations;
mod roles;
mod rows;
mod server;
mod sources;
mod statement;
mod surroundings;

use crate::support::proofs::{is_there, named, rows};

/// The first column of the page, and what it calls itself.
fn attackers(page: &str) -> Vec<&str> {
    page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect()
}

#[test]
fn every_row_has_its_tests() {
    let page = include_str!("../../docs/security.md");
    let table: Vec<Vec<&str>> = rows(include_str!("mod.rs")).collect();
    let backed: Vec<&str> = table.iter().map(|row| row[0]).collect();
    assert_eq!(backed, attackers(page), "this table and that of the page have the same rows");
    assert!(backed.len() > 10, "{backed:#?}");
    for row in table.iter().filter(|row| !["an attacker who", "---"].contains(&row[0])) {
        assert!(row[1..].iter().any(|cell| !named(cell).is_empty()), "a row without a test: {row:?}");
    }
    let missing: Vec<&str> =
        table.iter().flatten().flat_map(|cell| named(cell)).filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "the table names tests that are not there: {missing:#?}");
}

/// Each file of this area stands for a row.
#[test]
fn every_test_here_backs_a_row() {
    for module in [
        "hostile_file",
        "hostile_operators",
        "hostile_schema",
        "operators",
        "planted",
        "purity",
        "relations",
        "roles",
        "rows",
        "surroundings",
    ] {
        let is_named = rows(include_str!("mod.rs"))
            .any(|row| row.iter().any(|cell| cell.contains(&format!("`security::{module}::"))));
        assert!(is_named, "no row rests on {module}");
    }
}

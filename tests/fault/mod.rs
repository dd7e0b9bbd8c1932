//! What may go wrong around a run, each fault with the tests that prove what comes of it. They stand here, or where their like do.
//! Whatever befalls a run: no living job is touched, a batch is there whole or not at all, what is said is what was done, and the
//! next run comes to the state that one run comes to which nothing befell.
//!
//! | | fault | on both | on Postgres | on SQLite |
//! | --- | --- | --- | --- | --- |
//! | F1 | a heartbeat commits between look and write | `plans::races::a_job_sends_a_heartbeat_between_the_look_and_the_write`, `conformance::guard::what_was_committed_before_the_write_stands`, `conformance::mutants::without_a_column_of_its_precondition_the_write_overwrites` |  |  |
//! | F2 | a heartbeat is not committed yet, and then is, or is taken back | `conformance::guard::what_is_committed_after_the_write_stands`, `conformance::guard::what_is_taken_back_did_not_happen` | `conformance::guard::an_open_transaction_holds_nobody_else_back`, `conformance::mutants::without_its_evidence_row_the_write_runs_ahead_of_an_open_heartbeat` | `conformance::guard::where_one_writes_at_a_time_the_write_waits_its_turn` |
//! | F3 | a job finishes between look and write | `plans::races::a_job_finishes_between_the_look_and_the_write`, `conformance::guard::what_was_committed_before_the_write_stands` |  |  |
//! | F4 | a job is given back and claimed again, with a new heartbeat or the old one | `plans::races::a_job_is_claimed_again_between_the_look_and_the_write`, `conformance::guard::what_was_committed_before_the_write_stands` |  |  |
//! | F5 | several run at once | `conformance::crowd::doctors_over_the_same_steps_count_each_death_once`, `cron::crowd::ten_sweeps_of_ten_hosts_come_to_one` | `simulation::runs::on_postgres` | `simulation::runs::on_sqlite_with_a_wal`, `simulation::runs::on_sqlite_with_a_rollback_journal` |
//! | F6 | a worker locks rows in the opposite order |  | `conformance::guard::an_open_transaction_holds_nobody_else_back`, `queues::held::one_held_row_of_another_table_does_not_hold_back_the_others` |  |
//! | F7 | killed at any boundary | `journal::killed::the_batch_was_committed`, `journal::killed::the_batch_was_not_committed`, `fault::mutants::whatever_must_not_be_is_seen` | `fault::killed_on_postgres::at_every_flight`, `fault::killed_on_postgres::without_its_transaction_a_batch_is_torn` | `fault::killed_on_sqlite::with_a_wal`, `fault::killed_on_sqlite::with_a_rollback_journal` |
//! | F8 | killed at random instants under load |  | `fault::random_kills::on_postgres`, `fault::nightly::kills::on_postgres` | `journal::killed::by_sigkill_in_the_middle`, `fault::random_kills::with_a_wal`, `fault::random_kills::with_a_rollback_journal`, `fault::nightly::kills::with_a_wal`, `fault::nightly::kills::with_a_rollback_journal` |
//! | F9 | the connection is cut before a commit reaches the server |  | `fault::commits::ahead_of_the_server`, `conformance::outcomes::a_commit_that_did_not_arrive_was_not_tried` |  |
//! | F10 | the connection is cut when the server has committed |  | `fault::commits::behind_the_server`, `fault::commits::and_the_server_is_gone_for_good`, `conformance::outcomes::a_commit_whose_answer_was_lost_is_asked_for`, `conformance::outcomes::a_commit_that_nobody_can_be_asked_about_is_unknown`, `cli::postgres::a_poolers_last_words_are_no_answer_to_a_commit`, `journal::killed::the_answer_to_a_commit_was_lost` |  |
//! | F11 | whom it waits for says nothing any more |  | `cli::connecting::a_server_that_freezes`, `cli::connecting::a_server_that_says_nothing`, `fault::nightly::frozen::the_network_swallows_everything`, `fault::nightly::frozen::the_backends_stand_still` | `files::locked::for_as_long_as_a_lock_is_waited_for`, `fault::nightly::frozen::a_writer_stands_still_with_the_lock` |
//! | F12 | the backend is ended, the server restarts |  | `verify::endings::a_database_that_goes_away_is_no_answer`, `fault::commits::and_the_server_is_gone_for_good`, `fault::nightly::server::sessions_are_terminated`, `fault::nightly::server::restarted_fast`, `fault::nightly::server::restarted_immediately`, `fault::settings::a_commit_outlives_a_crash_and_is_confirmed_as_the_operator_chose` |  |
//! | F13 | a standby that lags, and one that becomes the primary |  | `standby::looking::while_it_does_not_replay_nobody_alive_is_called_stuck`, `standby::looking::it_is_told_wherever_one_looks`, `standby::writing::nothing_is_applied`, `standby::hosts::a_write_finds_the_primary`, `fault::nightly::failover::what_a_standby_never_heard_of_is_done_again`, `fault::nightly::failover::in_the_middle_of_a_run` |  |
//! | F14 | the server ends a batch: a lock, its time, an idle transaction, a deadlock, a serialisation |  | `fault::conflicts::a_conflict_that_passes_is_tried_again`, `fault::conflicts::a_conflict_that_stays_is_not_tried_for_ever`, `fault::conflicts::a_statement_that_takes_too_long`, `fault::conflicts::a_transaction_that_stands_about`, `queues::held::a_held_table_ends_the_run_soon`, `cli::postgres::a_table_that_is_locked` |  |
//! | F15 | rows that the database refuses | `fault::poisoned::one_five_and_all_but_one_of_500`, `fault::poisoned::a_foreign_key`, `conformance::refused::a_unique_key`, `conformance::refused::a_check`, `conformance::refused::a_trigger_that_objects` | `conformance::refused::a_counter_that_would_overflow_its_column` | `conformance::refused::a_trigger_that_rolls_back` |
//! | F16 | rows that cannot be moved come first | `plans::passes::ten_thousand_unreclaimable_rows_are_sorted_before_one_reclaimable_row`, `conformance::scan::pages_lose_nothing_and_repeat_nothing` |  |  |
//! | F17 | row-level security, missing rights |  | `cli::connecting::rows_that_a_policy_hides`, `queues::row_security::rows_that_are_hidden_are_not_taken_for_none`, `conformance::schema::a_role_without_rights_is_denied_and_never_sees_an_empty_queue`, `cli::postgres::no_rights` |  |
//! | F18 | another table or function by a name of ours |  | `fault::shadowed::by_a_temporary_table`, `conformance::schema::what_shadows_our_names_is_passed_by`, `security::operators::of_the_queues_schema_are_not_used_by_our_statements` |  |
//! | F19 | a table that is partitioned by state, and workers that finish |  | `fault::nightly::partitions::the_doctor_is_never_told_to_try_again` |  |
//! | F20 | a pooler in transaction mode |  | `pooler::behind::no_command_leaves_anything_behind`, `pooler::sharing::a_lock_of_the_session_outlives_its_client`, `cron::sweep_lock::behind_a_pooler_nothing_of_it_stays`, `fault::nightly::crowded_pooler::eight_sweeps_through_fewer_sessions` |  |
//! | F21 | times without a zone, sessions in four zones |  | `conformance::time::zoneless_times_on_postgres`, `conformance::time::a_zoneless_column_without_its_zone_is_refused` |  |
//! | F22 | the clock of the host, of a worker | `clocks::skew::the_local_clock_is_an_hour_off_the_database_and_the_verdict_is_the_same`, `brake::times_that_make_no_sense` | `incident::on_postgres_the_page_moves_exactly_the_orphans` | `incident::on_sqlite_the_page_moves_exactly_the_orphans` |
//! | F23 | units and types of times that are mixed up |  | `conformance::time::native_times_on_postgres`, `conformance::time::numbers_on_postgres`, `conformance::time::text_on_postgres` | `conformance::time::epoch_integers_on_sqlite`, `conformance::time::epoch_floats_on_sqlite`, `conformance::time::text_on_sqlite` |
//! | F24 | all jobs look dead | `brake::twelve_of_twelve_is_refused_and_max_jobs_lifts_it`, `brake::every_owner_dead_of_three` | `brake::a_server_that_has_just_come_up` |  |
//! | F25 | a file that is not there, empty, no database, cut off, damaged |  |  | `files::damaged::what_is_not_there`, `files::damaged::what_is_something_else`, `files::damaged::a_file_that_was_cut_off_or_has_wrong_bytes`, `files::created::by_no_other_command` |
//! | F26 | a WAL, clean or live, a journal that was left behind, a directory that may not be written, somebody else's file |  |  | `conformance::readonly::whatever_a_writer_left_is_read_or_refused_and_stays`, `conformance::readonly::a_journal_left_behind_by_a_killed_writer_is_taken_back_when_asked_for`, `conformance::readonly::a_journal_with_a_torn_beginning_is_taken_back_when_asked_for`, `conformance::readonly::a_file_in_a_directory_that_may_not_be_written`, `files::owners::somebodys_that_its_owner_root_or_a_stranger_looks_at` |
//! | F27 | a writer keeps the lock |  |  | `files::locked::by_a_writer`, `files::locked::by_one_who_wants_the_file_alone`, `files::locked::for_as_long_as_a_lock_is_waited_for` |
//! | F28 | the disk is full | `journal::required::required_and_nothing_is_written`, `fault::full_disk::of_the_temporary_files` | `fault::full_disk::of_the_server`, `fault::nightly::full_disk::of_a_table` | `fault::full_disk::with_a_wal`, `fault::full_disk::with_a_rollback_journal`, `fault::full_disk::of_the_journals`, `fault::nightly::full_disk::of_a_file` |
//! | F29 | a column is renamed, a table replaced between look and write | `conformance::outcomes::where_nothing_can_be_tried_nothing_is_written` | `fault::altered::nothing_is_written_to_another_table` | `files::altered::so_that_the_plan_means_something_else`, `files::altered::in_a_table_that_the_verdict_rested_on` |
//! | F30 | a signal at any batch; stdout closed, stdout full | `fault::second_signal::it_rolls_the_batch_in_hand_back`, `fault::second_signal::a_second_signal_that_is_ignored_is_seen`, `fault::streams::a_report_that_goes_nowhere_changes_nothing` | `fault::signals::at_any_commit_of_a_server`, `cron::report_file::a_report_that_cannot_be_printed_hides_no_worse_end` | `fault::signals::at_any_call_of_the_system`, `cli::signals::interrupt_while_applying`, `cli::pipes::what_was_to_be_done_is_done` |
//! | F31 | hostile text in whatever is printed | `property::inert::nothing_that_acts_is_left` |  | `cli::inert::for_people`, `cli::inert::for_machines`, `cli::inert::in_errors` |
//! | F32 | hostile settings and command lines | `bad_input::generated::texts_of_every_kind`, `bad_input::corpus::is_replayed`, `property::duration::any_text`, `bad_input::program::ends_in_a_code_of_its_table` | `conformance::schema::states_may_be_an_enum_and_names_may_need_quotes` | `cli::mistakes::limits_and_actions_and_rules` |
//! | F33 | attempts at the maximum, and above it | `conformance::actions::the_last_run_that_counts`, `property::plan::attempts_are_respected` |  |  |
//! | F34 | a restart sweep in the middle of a rolling deploy | `fault::deploys::only_the_owners_in_its_scope_are_touched`, `conformance::owners::a_restart_sweep_takes_the_owners_in_its_scope_whatever_their_age`, `brake::a_scoped_restart_sweep_is_never_judged` |  | `cli::restart::a_scope_takes_its_own_alone`, `property::evidence::a_claim_that_came_while_the_sweep_waited_is_later` |

mod altered;
mod beats;
mod commits;
mod conflicts;
mod deploys;
mod full_disk;
mod ground;
mod killed_on_postgres;
mod killed_on_sqlite;
mod many;
mod mutants;
mod nightly;
mod poisoned;
mod random_kills;
mod second_signal;
mod settings;
mod shadowed;
mod signals;
mod streams;
mod through;

use crate::support::proofs::{is_there, named, rows};

/// How many faults there are, numbered from 1.
const FAULTS: u8 = 34;
/// Those that there are on Postgres alone: they are about servers, sessions and transactions side by side.
const OF_A_SERVER: [u8; 11] = [6, 9, 10, 12, 13, 14, 17, 18, 19, 20, 21];
/// Those that there are on SQLite alone: they are about files.
const OF_A_FILE: [u8; 3] = [25, 26, 27];

/// What a table of faults lacks: rows, tests for an engine, and tests that are not there.
fn lacks(table: &str) -> Vec<String> {
    let rows: Vec<Vec<&str>> = rows(table).collect();
    let mut lacks = Vec::new();
    for fault in 1..=FAULTS {
        let name = format!("F{fault}");
        let Some(row) = rows.iter().find(|row| row[0] == name) else {
            lacks.push(format!("{name}: no row"));
            continue;
        };
        let [both, postgres, sqlite] = [2, 3, 4].map(|cell| row.get(cell).copied().map(named).unwrap_or_default());
        for (engine, own, elsewhere) in [("Postgres", &postgres, &OF_A_FILE[..]), ("SQLite", &sqlite, &OF_A_SERVER)] {
            if both.is_empty() && own.is_empty() && !elsewhere.contains(&fault) {
                lacks.push(format!("{name}: no test on {engine}"));
            }
        }
        let all = both.into_iter().chain(postgres).chain(sqlite);
        lacks.extend(all.filter(|test| !is_there(test)).map(|test| format!("{name}: there is no {test}")));
    }
    lacks
}

const TABLE: &str = include_str!("mod.rs");

#[test]
fn every_fault_has_its_tests_on_every_engine() {
    assert_eq!(lacks(TABLE), [""; 0]);
}

#[test]
fn what_a_table_lacks_is_seen() {
    let table = |find: &str, put: &str| {
        assert!(TABLE.contains(find), "{find}");
        lacks(&TABLE.replacen(find, put, 1))
    };
    assert_eq!(table("//! | F7 |", "//! | G7 |"), ["F7: no row"]);
    assert_eq!(
        table("`fault::commits::ahead_of_the_server`", "`fault::commits::none`"),
        ["F9: there is no fault::commits::none"]
    );
    let cell = |fault, n: usize| rows(TABLE).find(|row| row[0] == fault).expect("the row")[n];
    assert_eq!(table(cell("F9", 3), ""), ["F9: no test on Postgres"]);
    assert_eq!(table(cell("F27", 4), ""), ["F27: no test on SQLite"]);
    assert_eq!(table(cell("F16", 2), ""), ["F16: no test on Postgres", "F16: no test on SQLite"]);
    for made_up in ["cli::pipes::no_such_test", "no::such::place", "fault::lacks"] {
        assert!(!is_there(made_up), "{made_up}");
    }
}
